"""Arithmetic on hashes: equal to the plain formula PostgreSQL will compute, no number of it outside a bigint."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.text import arithmetic
from dbsim.text.arithmetic import combine, combine_rows, combine_runs, high_lane, low_lane, mix, scale

PRIME = 2**31 - 1
BIGINT = 2**63  # PostgreSQL raises an error for numbers from here on

EXTREMES = [0, 1, PRIME - 1, PRIME, PRIME << 31, (PRIME << 31) + 1, 2**61, 2**62 - 2, 2**62 - 1]
hashes62 = st.sampled_from(EXTREMES) | st.integers(0, 2**62 - 1)


def bigint(number: int) -> int:
    """The number, if PostgreSQL could hold it."""
    assert 0 <= number < BIGINT
    return number


def polynomial_by_modulo(lanes: Sequence[int], multiplier: int) -> int:
    """The formula as SQL has it: one product, one sum, one remainder a step."""
    value = 0
    for lane in lanes:
        value = bigint(bigint(value * multiplier) + lane) % PRIME
    return value


def mix_by_integers(lane: int) -> int:
    lane ^= lane >> 15
    lane = bigint(lane * 0x2C1B3C6D) & PRIME
    lane ^= lane >> 12
    lane = bigint(lane * 0x297A2D39) & PRIME
    return lane ^ (lane >> 15)


def combine_by_integers(hashes: Sequence[int]) -> int:
    """One run of hashes to one hash, with Python's integers: the reference of every test in this folder."""
    high = mix_by_integers(polynomial_by_modulo([value >> 31 for value in hashes], 998_244_353))
    low = mix_by_integers(polynomial_by_modulo([value & PRIME for value in hashes], 1_000_000_007))
    return bigint(high * 2**31 + low)


def polynomial_by_partial_reduction(lanes: Sequence[int], multiplier: int) -> int:
    """The formula as numpy computes it: 2³¹ ≡ 1, so high and low part are added, and only the end is reduced fully."""
    value = lanes[0]
    for lane in lanes[1:]:
        value = bigint(bigint(value * multiplier) + lane)
        value = (value & PRIME) + (value >> 31)
        assert value < 2**32
    value = (value & PRIME) + (value >> 31)
    return value - PRIME if value >= PRIME else value


def columns_of(rows: Sequence[Sequence[int]]) -> list[arithmetic.Hashes]:
    return [np.array(column, np.uint64) for column in zip(*rows, strict=True)]


runs = st.integers(1, 8).flatmap(
    lambda size: st.lists(st.lists(hashes62, min_size=size, max_size=size), min_size=1, max_size=20)
)


@given(runs)
def test_combine_is_the_plain_formula(rows: list[list[int]]) -> None:
    expected = [combine_by_integers(row) for row in rows]
    assert combine(columns_of(rows)).tolist() == expected
    assert combine_rows(np.array(rows, np.uint64)).tolist() == expected
    assert max(expected) < 2**62


@given(st.lists(hashes62, max_size=30), st.integers(1, 8))
def test_combine_of_neighbours_is_the_plain_formula(values: list[int], size: int) -> None:
    expected = [combine_by_integers(values[start : start + size]) for start in range(len(values) - size + 1)]
    assert combine_runs(np.array(values, np.uint64), size).tolist() == expected


@given(runs, st.lists(hashes62, max_size=30), st.integers(1, 8))
def test_the_block_size_does_not_matter(rows: list[list[int]], values: list[int], size: int) -> None:
    matrix, array = np.array(rows, np.uint64), np.array(values, np.uint64)
    expected = combine(columns_of(rows)), combine_rows(matrix), combine_runs(array, size)
    with patch.object(arithmetic, "BLOCK", 3):
        found = combine(columns_of(rows)), combine_rows(matrix), combine_runs(array, size)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]


@given(st.lists(st.sampled_from([0, 1, PRIME]) | st.integers(0, PRIME), min_size=1, max_size=32))
def test_partial_reduction_stays_in_a_bigint_and_gives_the_same(lanes: list[int]) -> None:
    for multiplier in arithmetic.MULTIPLIERS:
        expected = polynomial_by_modulo(lanes, multiplier)
        assert polynomial_by_partial_reduction(lanes, multiplier) == expected


def test_the_largest_lanes_stay_in_a_bigint() -> None:
    for multiplier in arithmetic.MULTIPLIERS:
        assert 2**32 * multiplier + PRIME < BIGINT  # whatever the hashes
        for size in range(1, 33):
            assert polynomial_by_partial_reduction([PRIME] * size, multiplier) == 0
    assert PRIME * max(int(arithmetic.MIX_1), int(arithmetic.MIX_2)) < BIGINT


def test_a_number_too_large_would_be_noticed() -> None:
    with pytest.raises(AssertionError):
        polynomial_by_modulo([1, 1], 2**63)


@given(st.lists(st.sampled_from([0, 1, PRIME]) | st.integers(0, PRIME)))
def test_mix_is_the_plain_formula(lanes: list[int]) -> None:
    array = np.array(lanes, np.uint32)
    assert mix(array).tolist() == [mix_by_integers(lane) for lane in lanes]
    assert array.tolist() == lanes  # the argument is left alone


def test_mix_is_a_bijection_with_an_inverse() -> None:
    rng = np.random.default_rng(1)
    lanes = rng.integers(0, 2**31, 200_000, dtype=np.uint64)
    undone = mix(lanes)
    undone ^= (undone >> np.uint64(15)) ^ (undone >> np.uint64(30))
    undone = undone * np.uint64(pow(0x297A2D39, -1, 2**31)) & arithmetic.MASK
    undone ^= (undone >> np.uint64(12)) ^ (undone >> np.uint64(24))
    undone = undone * np.uint64(pow(0x2C1B3C6D, -1, 2**31)) & arithmetic.MASK
    undone ^= (undone >> np.uint64(15)) ^ (undone >> np.uint64(30))
    assert np.array_equal(undone, lanes)


def test_combine_of_counting_numbers_spreads_evenly() -> None:
    numbers = np.arange(1, 100_001, dtype=np.uint64)
    combined = combine([numbers << np.uint64(31) | numbers])
    assert len(np.unique(combined)) == len(numbers)
    for lane in (high_lane(combined), low_lane(combined)):
        observed = np.bincount(scale(lane, 256), minlength=256)
        expected = len(numbers) / 256
        chi = float(((observed - expected) ** 2 / expected).sum())
        assert 255 - 5 * (2 * 255) ** 0.5 < chi < 255 + 5 * (2 * 255) ** 0.5


def test_the_order_of_the_hashes_matters() -> None:
    a, b = np.array([5], np.uint64), np.array([7 << 31], np.uint64)
    assert combine([a, b])[0] != combine([b, a])[0]


@given(hashes62)
def test_lanes_put_together_are_the_hash(value: int) -> None:
    array = np.array([value], np.uint64)
    assert int(high_lane(array)[0]) * 2**31 + int(low_lane(array)[0]) == value


@given(st.lists(st.integers(0, PRIME), min_size=1), st.sampled_from([1, 2, 63, 128, 144, 4096, 65536]))
def test_scale_keeps_order_and_range(lanes: list[int], size: int) -> None:
    scaled = scale(np.array(sorted(lanes), np.uint64), size).tolist()
    assert scaled == sorted(scaled)
    assert scaled == [bigint(lane * size) // 2**31 for lane in sorted(lanes)]
    assert 0 <= scaled[0] <= scaled[-1] < size

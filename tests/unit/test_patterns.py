"""Pairs counted by how they agree are the pairs themselves; the shortcuts of kinds and candidates change nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from dbsim.hashing.records.candidates import candidate_pairs
from dbsim.hashing.records.evidence import Roles
from dbsim.hashing.records.fitting import _never_falling, fit
from dbsim.hashing.records.levels import COUNT, EQUAL
from dbsim.hashing.records.patterns import Patterns
from dbsim.text.kinds.registry import kind_of


@pytest.mark.parametrize("fields", [1, 9, 40])  # codes of more than 17 fields do not fit into 64 bits
def test_patterns_are_the_pairs(fields: int) -> None:
    random = np.random.default_rng(fields)
    few = random.integers(0, COUNT, (50, fields)).astype(np.int8)
    levels = few[random.integers(0, 50, 2000)]
    found = Patterns.of(levels)
    expected, counts = np.unique(levels, axis=0, return_counts=True)
    assert np.array_equal(found.levels, expected)
    assert np.array_equal(found.counts, counts)
    ones = np.ones(len(found))
    assert found.total(ones) == found.pairs == len(levels)
    for number, column in enumerate(levels.T):
        counted = np.bincount(column, minlength=COUNT)
        assert np.array_equal(found.counted(ones)[number, 1:], counted[1:])


def test_no_pairs_have_no_patterns() -> None:
    assert Patterns.of(np.empty((0, 3), np.int8)).pairs == 0


@given(st.lists(st.tuples(st.floats(1e-6, 1e6), st.floats(1e-6, 1.0)), min_size=1, max_size=12))
def test_values_that_never_fall(pairs: list[tuple[float, float]]) -> None:
    values, weights = (list(side) for side in zip(*pairs, strict=True))
    expected = scipy.optimize.isotonic_regression(values, weights=weights).x
    assert np.allclose(_never_falling(values, weights), expected, rtol=1e-9)


def test_a_tenth_of_a_table_has_a_hundredth_of_its_matches() -> None:
    """Where more pairs agree than persons have records, so many are matches as the whole table may have."""
    rows, levels = 1000, np.array([[EQUAL, EQUAL, EQUAL], [1, 1, 1]], np.int8)
    alike, any_two = Patterns(levels, np.array([50_000.0, 100.0])), Patterns(levels, np.array([1.0, 300_000.0]))
    whole, part = (fit(alike, any_two, Roles(None, {}, {}), rows, table).matches for table in (rows, 10 * rows))
    assert whole == pytest.approx(2 * rows, rel=0.01)
    assert part == pytest.approx(2 * rows / 10, rel=0.01)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 1)), max_size=30))
def test_candidates_are_all_that_share_a_key(rows: list[tuple[int, int, int]]) -> None:
    keys = np.array(rows, np.int64).reshape(-1, 3)
    expected = [(a, b) for a, b in itertools.combinations(range(len(rows)), 2) if (keys[a] == keys[b]).any()]
    assert list(zip(*(side.tolist() for side in candidate_pairs(keys)), strict=True)) == expected


@given(st.integers(1500, 2300), st.integers(0, 99), st.integers(0, 99))
def test_dates_as_databases_write_them_are_read_like_all_others(year: int, month: int, day: int) -> None:
    text = f"{year}-{month:02d}-{day:02d}"
    assert kind_of("date").fold(text) == kind_of("date").fold(text + " ")


@given(st.text("0123456789", max_size=60), st.sampled_from(["phone", "phone+49", "digits"]))
def test_digits_alone_are_read_like_all_others(text: str, kind: str) -> None:
    assert kind_of(kind).fold(text) == kind_of(kind).fold(text + " ")

"""Bloom filters: bits against a loop, the three estimators, their measured error, and the popcount range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dbsim.hashing.bloom import (
    ESTIMATORS,
    Filters,
    cardinality,
    count_range,
    filters,
    jaccard,
    jaccard_raw,
    jaccard_seed,
)
from tests.statistics.test_minhash import features_from, random_pairs

SIZES = (64, 256, 1024, 4096, 65536)
hash_sets = st.lists(st.lists(st.integers(0, 2**62 - 1), max_size=12), max_size=6)


# Bits


def bits_by_loop(document: Sequence[int], size: int, sample: int = 1) -> bytes:
    """One bit per feature, the most significant bit first; of a sample at least the smallest hash stays."""
    number = 0
    for value in document:
        lane = value % 2**31
        if lane % sample == 0 or value == min(document):
            number |= 1 << (size - 1 - lane * size // 2**31)
    return number.to_bytes(size // 8)


def as_lists(found: Filters) -> list[tuple[bytes, int]]:
    return [(bits.tobytes(), count) for bits, count in zip(found.bits, found.counts.tolist(), strict=True)]


@given(hash_sets, st.sampled_from(SIZES), st.sampled_from([1, 2, 4, 64]))
def test_bits_and_counts_against_a_loop(documents: list[list[int]], size: int, sample: int) -> None:
    expected = [bits_by_loop(document, size, sample) for document in documents]
    counts = [int.from_bytes(bits).bit_count() for bits in expected]
    found = filters(features_from(documents), size, sample)
    assert as_lists(found) == list(zip(expected, counts, strict=True))
    assert found.bits.shape == (len(documents), size // 8)


@given(hash_sets, st.sampled_from([1, 2, 16, 2**20]))
def test_a_sample_keeps_at_least_one_bit(documents: list[list[int]], sample: int) -> None:
    counts = filters(features_from(documents), 256, sample).counts.tolist()
    assert [count > 0 for count in counts] == [bool(document) for document in documents]


def test_a_sample_keeps_about_its_share_and_the_same_features_of_equal_texts() -> None:
    left, right = random_pairs(np.random.default_rng(1), 4000, 4000, 20)
    whole, quarter = filters(left, 65536), filters(left, 65536, 4)
    assert quarter.counts.mean() / whole.counts.mean() == pytest.approx(0.25, abs=0.01)
    assert np.array_equal(quarter.bits, filters(right, 65536, 4).bits)


def test_a_sample_estimates_the_same_similarity() -> None:
    left, right = random_pairs(np.random.default_rng(2), 8000, 5600, 60)
    estimates = estimated("cardinality", filters(left, 4096, 4), filters(right, 4096, 4), 4096)
    assert estimates.mean() == pytest.approx(0.7, abs=0.02)


# Estimators


def popcounts(found: NDArray[np.uint8]) -> list[int]:
    return [int(count) for count in np.bitwise_count(found).sum(axis=1)]


def estimated(name: str, left: Filters, right: Filters, size: int) -> NDArray[np.float64]:
    """Ĵ of every pair."""
    both = popcounts(left.bits & right.bits)
    counts = zip(left.counts.tolist(), right.counts.tolist(), both, strict=True)
    return np.array([ESTIMATORS[name](a, b, common, size) for a, b, common in counts])


def measured(name: str, size: int, features: int, similarity: float) -> tuple[float, float]:
    """(mean, standard deviation) of Ĵ over random pairs of sets with so many features each."""
    common = round(2 * features * similarity / (1 + similarity))
    pairs = random_pairs(np.random.default_rng(features), 2 * features - common, common, 150)
    values = estimated(name, filters(pairs[0], size), filters(pairs[1], size), size)
    return float(values.mean()), float(values.std())


# The table of design.md, section 4: bits, features, then the stated standard deviation at J = 0.5 and at J = 0.8
DESIGN = [(1024, 150, 0.017, 0.013), (1024, 500, 0.018, 0.015), (1024, 1500, 0.029, 0.021), (4096, 5000, 0.012, 0.008)]


@pytest.mark.parametrize(("size", "features", "at_50", "at_80"), DESIGN)
def test_the_default_estimator_has_no_bias_and_the_stated_error(
    size: int, features: int, at_50: float, at_80: float
) -> None:
    for similarity, stated in ((0.5, at_50), (0.8, at_80)):
        mean, deviation = measured("cardinality", size, features, similarity)
        assert abs(mean - similarity) < 0.02
        assert abs(mean - similarity) < 4 * deviation / math.sqrt(150) + 0.002
        assert deviation == pytest.approx(stated, rel=0.25)  # 4 standard errors of 150 pairs


@pytest.mark.parametrize("similarity", [0.0, 0.1, 0.3, 0.95, 1.0])
@pytest.mark.parametrize(("size", "features"), [(256, 30), (256, 128), (1024, 500), (4096, 2000)])
def test_the_default_estimator_has_no_bias_elsewhere(size: int, features: int, similarity: float) -> None:
    mean, _ = measured("cardinality", size, features, similarity)
    assert abs(mean - similarity) < 0.02


def test_the_raw_value_is_too_high_and_the_seeds_correction_in_between() -> None:
    raw, _ = measured("raw", 1024, 500, 0.5)
    seed, _ = measured("seed", 1024, 500, 0.5)
    assert raw == pytest.approx(0.61, abs=0.01)
    assert seed < raw
    assert measured("raw", 1024, 150, 0.5)[0] > 0.52
    assert measured("raw", 4096, 5000, 0.5)[0] > 0.65


any_counts = st.sampled_from(SIZES[:4]).flatmap(
    lambda size: st.tuples(st.integers(0, size), st.integers(0, size)).flatmap(
        lambda ab: st.tuples(
            st.just(ab[0]), st.just(ab[1]), st.integers(max(sum(ab) - size, 0), min(ab)), st.just(size)
        )
    )
)


@given(any_counts)
def test_estimators_are_symmetric_and_in_range(counts: tuple[int, int, int, int]) -> None:
    a, b, both, size = counts
    for estimator in ESTIMATORS.values():
        value = estimator(a, b, both, size)
        assert 0.0 <= value <= 1.0
        assert value == estimator(b, a, both, size)
        if not a or not b:
            assert value == 0.0


@given(any_counts)
def test_equal_filters_have_similarity_one_and_disjoint_ones_none(counts: tuple[int, int, int, int]) -> None:
    a, b, _, size = counts
    assert jaccard(a, a, a, size) == jaccard_raw(a, a, a, size) == (1.0 if a else 0.0)
    assert jaccard_raw(a, b, 0, size) == 0.0


@given(any_counts)
def test_estimators_are_their_formulas(counts: tuple[int, int, int, int]) -> None:
    a, b, both, size = counts
    if a and b:
        n_a, n_b, n_union = (features_behind(count, size) for count in (a, b, a + b - both))
        assert jaccard(a, b, both, size) == pytest.approx(max((n_a + n_b - n_union) / n_union, 0), abs=1e-5)
        assert jaccard_raw(a, b, both, size) == both / (a + b - both)
        delta = 1 - math.exp(-0.75 * (n_a + n_b) / 2 / size)
        expected = both / (a + b - both) * (1 + delta**2) / (1 + 2 * delta - delta**2)
        assert jaccard_seed(a, b, both, size) == pytest.approx(expected, abs=1e-5)


# Cardinality


def features_behind(count: int, size: int) -> float:
    return -size * math.log(1 - min(count, size - 0.5) / size)


@pytest.mark.parametrize("size", SIZES)
def test_cardinality_table(size: int) -> None:
    table = cardinality(size)
    assert len(table) == size + 1
    assert table[0] == 0
    assert all(low < high for low, high in pairwise(table))
    assert all(value * 2**20 == round(value * 2**20) for value in table)
    assert table == pytest.approx([features_behind(count, size) for count in range(size + 1)], abs=2**-20)


def test_cardinality_is_the_mean_number_of_features() -> None:
    rng = np.random.default_rng(3)
    for features in (50, 300, 1000):
        left, _ = random_pairs(rng, features, features, 200)
        found = [cardinality(1024)[count] for count in filters(left, 1024).counts.tolist()]
        assert np.mean(found) == pytest.approx(features, rel=0.01)


# Popcount range


def test_count_range_never_excludes_a_pair_exhaustively() -> None:
    """Every popcount of both filters and of their intersection, for 64 bits, against every threshold between two."""
    size = 64
    best = np.zeros((size + 1, size + 1))  # the largest score any intersection gives
    for a in range(1, size + 1):
        for b in range(1, size + 1):
            best[a, b] = max(jaccard(a, b, both, size) for both in range(max(a + b - size, 0), min(a, b) + 1))
    for threshold in [*np.unique(best[best > 0])[::3].tolist(), 0.5, 0.7, 1.0]:
        for a in range(1, size + 1):
            low, high = count_range(a, size, threshold)
            reaching = np.flatnonzero(best[a] >= threshold)
            assert low <= reaching.min() <= a <= reaching.max() <= high


@given(any_counts, st.floats(0.001, 1.0))
def test_count_range_never_excludes_a_pair(counts: tuple[int, int, int, int], threshold: float) -> None:
    a, b, both, size = counts
    for least in (threshold, jaccard(a, b, both, size)):
        if a and b and jaccard(a, b, both, size) >= least:
            low, high = count_range(a, size, least)
            assert low <= b <= high


@given(st.sampled_from(SIZES[:4]), st.data())
def test_count_range_excludes_what_cannot_reach_the_threshold(size: int, data: st.DataObject) -> None:
    count, threshold = data.draw(st.integers(1, size)), data.draw(st.floats(0.05, 1.0))
    low, high = count_range(count, size, threshold)
    assert 1 <= low <= count <= high <= size
    for other in {low - 1, high + 1} - {0, size + 1}:
        assert jaccard(count, other, min(count, other), size) < threshold


def test_count_range_without_threshold_is_everything_but_empty() -> None:
    assert count_range(10, 1024, 0.0) == (1, 1024)
    assert count_range(1024, 1024, 1.0) == (1024, 1024)

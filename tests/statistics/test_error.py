"""The predicted error of an estimate against simulated filters: standard error, bands, weighted fields, saturation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dbsim.hashing.bloom import jaccards
from dbsim.hashing.error import EMPTY, band, combined, standard_errors, widths

TRIALS = 3000
LOST = 0.012  # of the pairs at the threshold, on either side; the promise leaves 0.02

Counts = NDArray[np.int64]


def simulated(size: int, union: int, common: int, left: float = 0.5, seed: int = 0) -> tuple[Counts, Counts, Counts]:
    """Popcounts of A, B and A∧B of random sets with these numbers of features."""
    random = np.random.default_rng([seed, size, union, common])
    trials = min(TRIALS, 6_000_000 // union)
    only_a = round((union - common) * left)
    places = random.integers(0, size, (trials, union)) + np.arange(trials)[:, None] * size
    bits = np.zeros((2, trials * size), bool)
    bits[0, places[:, : common + only_a]] = True
    bits[1, places[:, :common]] = True
    bits[1, places[:, common + only_a :]] = True
    a, b = (some.reshape(trials, size) for some in bits)
    return a.sum(axis=1), b.sum(axis=1), (a & b).sum(axis=1)


SHAPES = [
    (size, union, similarity)
    for size in (256, 1024, 4096)
    for union in (9, 14, 30, 100, 500)
    for similarity in (0.3, 0.5, 0.7, 0.95)
    if size * math.exp(-union / size) > 2 * EMPTY
]


@pytest.mark.parametrize("left", [0.5, 0.9])
@pytest.mark.parametrize(("size", "union", "similarity"), SHAPES)
def test_the_standard_error_is_the_simulated_one(size: int, union: int, similarity: float, left: float) -> None:
    common = round(union * similarity)
    exact = common / union
    a, b, both = simulated(size, union, common, left)
    estimate = jaccards(a, b, both, size)
    predicted = float(np.sqrt(np.mean(standard_errors(size, a, b, exact) ** 2)))
    measured = float(np.sqrt(np.mean((estimate - exact) ** 2)))
    collisions = len(a) * union**2 / size  # few: the measured error is itself a matter of chance
    assert measured == pytest.approx(predicted, rel=0.12 + 3 / math.sqrt(collisions), abs=5e-4)


@pytest.mark.parametrize(("size", "union", "similarity"), SHAPES)
def test_pairs_at_the_threshold_lie_within_the_band(size: int, union: int, similarity: float) -> None:
    common = round(union * similarity)
    threshold = common / union
    a, b, both = simulated(size, union, common, seed=1)
    estimate = jaccards(a, b, both, size)
    found = band([size], [1], [1.0], [a], [b], threshold)
    assert np.mean(estimate < found.lowest) <= LOST
    assert np.mean(estimate >= found.highest) <= LOST
    assert np.mean(estimate < threshold) > 0.15 or threshold > 0.9  # what the band is for


@pytest.mark.parametrize("similarities", [(0.9, 0.3), (0.5, 0.5), (0.2, 0.95)])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (3.0, 0.5)])
def test_weighted_fields_err_less_than_the_worse_of_them(
    similarities: tuple[float, float], weights: tuple[float, float]
) -> None:
    sizes, unions = (256, 1024), (20, 200)
    common = [round(union * similarity) for union, similarity in zip(unions, similarities, strict=True)]
    exact = [some / union for some, union in zip(common, unions, strict=True)]
    counts = [simulated(*shape) for shape in zip(sizes, unions, common, strict=True)]
    threshold = float(np.average(exact, weights=weights))
    parts = [jaccards(*some, size) for some, size in zip(counts, sizes, strict=True)]
    estimate = np.average(parts, axis=0, weights=weights)
    errors = [standard_errors(size, a, b, j) for size, (a, b, _), j in zip(sizes, counts, exact, strict=True)]
    predicted = float(combined(weights, errors).mean())
    assert float(np.std(estimate)) == pytest.approx(predicted, rel=0.15)
    found = band(sizes, [1, 1], weights, [c[0] for c in counts], [c[1] for c in counts], threshold)
    assert np.mean(estimate < found.lowest) <= LOST
    assert np.mean(estimate >= found.highest) <= LOST


def test_a_field_that_one_row_lacks_does_not_count() -> None:
    one, none = np.array([30]), np.array([0])
    alone = band([1024], [1], [1.0], [one], [one], 0.7)
    second = band([1024, 256], [1, 1], [1.0, 5.0], [one, one], [one, none], 0.7)
    assert second.lowest <= alone.lowest  # of a field among others only the widest error is known
    assert 0.6 < second.lowest < 0.7 < second.highest < 0.8
    error = standard_errors(1024, one, one, 0.7)
    assert combined([1.0, 5.0], [error, np.array([np.nan])]) == pytest.approx(error)


def test_saturated_filters_are_always_decided_by_the_texts() -> None:
    full = np.array([1023])
    found = band([1024], [1], [1.0], [full], [full], 0.7)
    assert found.lowest == -np.inf
    assert found.highest == np.inf
    assert standard_errors(1024, full, full, 0.7) == np.inf


def test_a_sample_of_the_features_adds_its_own_error() -> None:
    count = np.array([200])
    whole, sampled = (standard_errors(4096, count, count, 0.7, sample) for sample in (1, 8))
    union = 2 * 205 / 1.7  # about 205 features behind 200 bits
    assert sampled**2 - whole**2 == pytest.approx(0.7 * 0.3 / union * 7 / 8, rel=0.01)
    below, above = widths(4096, count, count, 0.7, 8)
    assert 2.5 * sampled < below < above


def test_equal_filters_of_equal_texts_are_certain() -> None:
    counts = np.arange(1, 600)
    assert standard_errors(1024, counts, counts, 1.0).max() == pytest.approx(0.0, abs=1e-6)


def test_no_bits_no_error_message() -> None:
    none = np.array([0, 5])
    found = band([256], [1], [1.0], [none], [np.array([0, 0])], 0.5)
    assert np.array_equal(found.lowest, [0.5, 0.5])

"""How far an estimated Jaccard similarity may lie from the true one: (bits, counts, similarity) → standard error, band.

Every feature sets one bit, so the number of features n̂ that is read off a filter of m bits varies only by collisions.
For two sets that share r features Cov(n̂, n̂') = m·g(r/m) with g(r) = eʳ - 1 - r (the classical occupancy problem, by
the delta method), and Ĵ = (n̂(A) + n̂(B)) / n̂(A∪B) - 1 gives

    Var Ĵ = m/u² · (2·g(J·u/m) + (1+J)²·g(u/m) - (1+2J)·(g(a/m) + g(b/m)))

with a, b and u features in A, B and their union. Filters that keep every s-th feature add the error of that sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import cardinality

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

DEVIATIONS = 2.5  # of a normal distribution: 0.6 % lie beyond on either side
EMPTY = 16.0  # a filter whose union has fewer bits left says "many": its logarithm is a guess
LOADS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)  # features a bit
WORST = (0.2, 0.3, 0.5)  # similarities around which the error is largest, for any counts


@dataclass(frozen=True)
class Band:
    """Estimates from `lowest` on may be a pair at the threshold, from `highest` on they are: between, texts decide."""

    lowest: Numbers
    highest: Numbers


def standard_errors(size: int, a: Counts, b: Counts, similarity: Numbers | float, sample: int = 1) -> Numbers:
    """The standard error of Ĵ for filters with `a` and `b` set bits, if that is their similarity; ∞ when saturated."""
    features = _features(size)
    return _errors(size, features[a], features[b], np.asarray(similarity, np.float64), sample)


def predicted_errors(size: int, features: Numbers, similarity: float, sample: int = 1) -> Numbers:
    """The same before there are filters: of two texts of which so many features each are kept."""
    return _errors(size, features, features, np.float64(similarity), sample)


def widths(
    size: int, a: Counts, b: Counts, threshold: float | None, sample: int = 1, deviations: float = DEVIATIONS
) -> tuple[Numbers, Numbers]:
    """How far below and above the threshold the estimate of a pair exactly at it may lie; ∞ when saturated.

    Short texts have few collisions, and each moves the estimate by much: by (1-J)/u when two common features meet, by
    up to 1/u upwards when others do. So one such step is added to the deviations. Without a threshold (one field of
    several, whose own similarity is not known) it is the widest of any.
    """
    features = _features(size)
    return _widths(size, features[a], features[b], threshold, sample, deviations)


@lru_cache(maxsize=64)
def question_widths(size: int, threshold: float | None, sample: int = 1) -> tuple[list[float], list[float]]:
    """`widths` of a question with 0 … size set bits, whatever row is compared with it: the widest of any."""
    features = _features(size)[:, None]
    ratio = max(threshold or 0.5, 0.3)  # a row at the threshold has between t and 1/t times as many features
    others = np.minimum(features * ratio ** np.linspace(-1, 1, 7), features[-1])
    below, above = _widths(size, features, others, threshold, sample, DEVIATIONS)
    below[0] = above[0] = 0.0
    return below.max(axis=1).tolist(), above.max(axis=1).tolist()


def error_steps(size: int, threshold: float | None, sample: int = 1) -> list[tuple[int, float]]:
    """(set bits, standard error of two rows with at most so many) for SQL, which has no square root everywhere."""
    found = []
    for load in LOADS:
        count = np.array([int(size * (1 - np.exp(-load)))])
        errors = [
            standard_errors(size, count, count, j, sample) for j in (WORST if threshold is None else (threshold,))
        ]
        found.append((int(count[0]), round(float(np.max(errors)), 5)))
    return [step for step in found if step[1] < 1]


def _widths(
    size: int, one: Numbers, two: Numbers, threshold: float | None, sample: int, deviations: float
) -> tuple[Numbers, Numbers]:
    below, above = np.zeros(np.broadcast(one, two).shape), np.zeros(np.broadcast(one, two).shape)
    for similarity in WORST if threshold is None else (threshold,):
        error = deviations * _errors(size, one, two, similarity, sample)
        step = 1 / _union(one, two, similarity)
        below = np.maximum(below, error + (1 - similarity) * step)
        above = np.maximum(above, error + step)
    return below, above


def band(
    sizes: Sequence[int],
    samples: Sequence[int],
    weights: Sequence[float],
    a: Sequence[Counts],
    b: Sequence[Counts],
    threshold: float,
) -> Band:
    """Around the threshold of the weighted score, for rows with these counts, field by field; 0 = no such field."""
    one_field = len(sizes) == 1
    total = np.zeros(np.broadcast(a[0], b[0]).shape)
    below, above = total.copy(), total.copy()
    for size, sample, weight, mine, other in zip(sizes, samples, weights, a, b, strict=True):
        both = (np.asarray(mine) > 0) & (np.asarray(other) > 0)
        down, up = widths(size, mine, other, threshold if one_field else None, sample)
        total += weight * both
        below += np.where(both, (weight * down) ** 2, 0.0)  # the filters of different fields err independently
        above += np.where(both, (weight * up) ** 2, 0.0)
    total = np.where(total > 0, total, 1.0)
    return Band(threshold - np.sqrt(below) / total, threshold + np.sqrt(above) / total)


def combined(weights: Sequence[float], errors: Sequence[Numbers]) -> Numbers:
    """The standard error of a weighted score; a field that is missing in one of the rows has the error NaN."""
    total = np.zeros(np.shape(errors[0]))
    squares = total.copy()
    for weight, error in zip(weights, errors, strict=True):
        there = ~np.isnan(error)
        total += weight * there
        squares += np.where(there, (weight * error) ** 2, 0.0)
    return np.asarray(np.sqrt(squares) / np.where(total > 0, total, 1.0))


@lru_cache(maxsize=16)
def _features(size: int) -> Numbers:
    found = np.array(cardinality(size))
    found.setflags(write=False)
    return found


def _union(one: Numbers, two: Numbers, similarity: Numbers | float) -> Numbers:
    """The features of both together; never fewer than either has."""
    found = np.maximum((one + two) / (1 + similarity), np.maximum(one, two))
    return np.maximum(found, 1.0)


def _errors(size: int, one: Numbers, two: Numbers, similarity: Numbers | float, sample: int) -> Numbers:
    union = _union(one, two, similarity)
    variance = (
        2 * _excess(similarity * union / size)
        + (1 + similarity) ** 2 * _excess(union / size)
        - (1 + 2 * similarity) * (_excess(one / size) + _excess(two / size))
    ) * (size / union**2)
    sampled = similarity * (1 - similarity) / union * (1 - 1 / sample)
    error = np.sqrt(np.maximum(variance, 0.0) + sampled)
    return np.where(size * np.exp(-union / size) < EMPTY, np.inf, error)


def _excess(ratio: Numbers) -> Numbers:
    """eʳ - 1 - r, exact for small r; capped where a filter is saturated anyway."""
    r = np.minimum(ratio, 40.0)
    return np.where(r < 1e-3, r * r / 2, np.expm1(r) - r)

"""Bloom filters with one hash per feature, and the Jaccard similarity read off two of them: Features → bits, counts."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes, places
from dbsim.text.features import Features

ROUNDING = 1 << 20


@dataclass(frozen=True)
class Filters:
    """One filter per document: `bits` as bytes (most significant bit first), `counts` of set bits; 0 = no features."""

    bits: NDArray[np.uint8]
    counts: NDArray[np.int64]
    marks: int = 0  # bits that can be set, where they are not all

    @property
    def size(self) -> int:
        return self.marks or 8 * self.bits.shape[1]


def filters(features: Features, size: int, sample: int = 1) -> Filters:
    """Set one bit per feature; with sample=2^s only the features whose lowest s bits are zero (very long texts)."""
    bits = np.zeros((len(features), size), np.uint8)
    flat = bits.reshape(-1)
    for documents, hashes in features.blocks():
        marks = places(hashes, size)
        marks += documents * size
        flat[marks if sample == 1 else marks[(hashes & np.uint64(sample - 1)) == 0]] = 1
    if sample > 1:  # a short text must not lose its only features
        there = features.counts.nonzero()[0]
        flat[there * size + places(_smallest(features), size)] = 1
    packed = np.packbits(bits, axis=1)
    return Filters(packed, np.bitwise_count(packed).sum(axis=1, dtype=np.int64))


def folded(made: Filters, times: int) -> Filters:
    """The halves of each filter put together by XOR: who has it cannot tell which of two bits was set, or neither."""
    bits = made.bits
    for _ in range(times):
        half = bits.shape[1] // 2
        bits = bits[:, :half] ^ bits[:, half:]
    return Filters(bits, np.bitwise_count(bits).sum(axis=1, dtype=np.int64)) if times else made


def _smallest(features: Features) -> Hashes:
    """The smallest hash of each document that has one."""
    starts = features.offsets[:-1][features.counts > 0]
    return np.minimum.reduceat(features.hashes, starts) if len(starts) else features.hashes[:0]


@lru_cache(maxsize=16)
def cardinality(size: int) -> tuple[float, ...]:
    """Estimated number of features behind 0 … size set bits: -m·ln(1 - c/m), rounded to 2⁻²⁰.

    m is a power of two, so ln is the only inexact step, and the rounding hides in which last bit two libraries'
    logarithms differ: Python, PostgreSQL and a table of these numbers give the same score to the last bit.
    """
    full = size - 0.5  # a full filter says "many": read it as half a bit short of full
    return tuple(
        round(-size * math.log(1 - min(count, full) / size) * ROUNDING) / ROUNDING for count in range(size + 1)
    )


def jaccard(a: int, b: int, both: int, size: int) -> float:
    """Cardinality-corrected Jaccard from the popcounts of A, B and A∧B: the default score."""
    if not a or not b:
        return 0.0
    estimate = cardinality(size)
    union = estimate[a + b - both]
    return max((estimate[a] + estimate[b] - union) / union, 0.0)


def jaccards(a: NDArray[np.int64], b: NDArray[np.int64], both: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """`jaccard` of many pairs, equal to the last bit; 0 where a filter is empty."""
    estimate = np.array(cardinality(size))
    union = estimate[a + b - both]
    scores = np.maximum((estimate[a] + estimate[b] - union) / np.where(union > 0, union, 1.0), 0.0)
    return np.where((a > 0) & (b > 0), scores, 0.0)


@dataclass(frozen=True)
class Reading:
    """How the similarity is read off two filters of `bits` bits, of which only the first `marks` can be set.

    With a `factor` the similarity is the share of common bits times it; without, what the cardinalities say. Several
    hash functions a feature do not matter to these: they cancel out.
    """

    bits: int
    marks: int
    factor: float = 0.0

    @staticmethod
    def of(bits: int) -> Reading:
        """All of them, by cardinality: the usual filter."""
        return Reading(bits, bits)

    @property
    def usual(self) -> bool:
        return self == Reading.of(self.bits)

    def similarity(self, a: int, b: int, both: int) -> float:
        if not self.factor:
            return jaccard(a, b, both, self.marks)
        return self.factor * (both / (a + b - both)) if a and b else 0.0

    def similarities(self, a: NDArray[np.int64], b: NDArray[np.int64], both: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same of many pairs, equal to the last bit."""
        if not self.factor:
            return jaccards(a, b, both, self.marks)
        there = (a > 0) & (b > 0)
        return np.where(there, self.factor * (both / np.where(there, a + b - both, 1)), 0.0)


def jaccard_raw(a: int, b: int, both: int, size: int) -> float:
    """popcount(A∧B) / popcount(A∨B), inflated by bit collisions."""
    return both / (a + b - both) if a and b else 0.0


def jaccard_seed(a: int, b: int, both: int, size: int) -> float:
    """The raw value times (1+δ²)/(1+2δ-δ²), δ = 1 - e^(-3n/4m) for n features (Kampf, §4.7 and §4.8, with k = 1)."""
    estimate = cardinality(size)
    delta = 1 - math.exp(-0.75 * (estimate[a] + estimate[b]) / 2 / size)
    return jaccard_raw(a, b, both, size) * (1 + delta**2) / (1 + 2 * delta - delta**2)


ESTIMATORS: dict[str, Callable[[int, int, int, int], float]] = {
    "cardinality": jaccard,
    "raw": jaccard_raw,
    "seed": jaccard_seed,
}


def count_range(count: int, size: int, threshold: float) -> tuple[int, int]:
    """Popcounts that can still reach the threshold: t·n̂(a) ≤ n̂(b) ≤ n̂(a)/t, because Ĵ ≤ min/max."""
    if threshold <= 0:
        return 1, size
    estimates = cardinality(size)
    slack = 1e-9
    low = bisect_left(estimates, threshold * estimates[count] - slack)
    high = bisect_right(estimates, estimates[count] / threshold + slack) - 1
    return max(low, 1), high

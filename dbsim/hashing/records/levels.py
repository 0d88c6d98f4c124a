"""How alike two rows are, field by field, in steps: filters, pairs of rows → int8 (pairs × fields).

Level 0: a row lacks the field; 1: below the first cut; …; EQUAL: the filters are the same. Given name and surname of
one row that are alike the surname and the given name of the other are CROSSED in the first of the two fields, and the
second one is neutral.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import Filters, cardinality

CUTS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
EQUAL = len(CUTS) + 2
CROSSED = EQUAL + 1
COUNT = CROSSED + 1
ALIKE = 0.6  # two names, to be taken for crossed …
AHEAD = 0.3  # … and by how much more than as they stand
BLOCK = 1 << 15  # pairs looked at together: their filters stay in the cache

Levels = NDArray[np.int8]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """The filters of some rows, a field each."""

    bits: tuple[NDArray[np.uint64], ...]
    counts: tuple[NDArray[np.int64], ...]
    sizes: tuple[int, ...]

    @staticmethod
    def of(filters: Sequence[Filters]) -> Rows:
        return Rows(
            tuple(np.ascontiguousarray(part.bits).view(np.uint64) for part in filters),
            tuple(part.counts for part in filters),
            tuple(part.size for part in filters),
        )


def levels(left: Rows, right: Rows, a: Places, b: Places, crossed: tuple[int, int] | None) -> Levels:
    """Of the pairs left[a[i]], right[b[i]]."""
    found = np.empty((len(a), len(left.bits)), np.int8)
    for start in range(0, len(a), BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = _levels(left, right, a[part], b[part], crossed)
    return found


def _levels(left: Rows, right: Rows, a: Places, b: Places, crossed: tuple[int, int] | None) -> Levels:
    similar = [_similarity(left, right, a, b, field, field) for field in range(len(left.bits))]
    found = np.stack([_level(jaccard, equal) for jaccard, equal in similar], axis=1)
    if crossed is not None:
        given, surname = crossed
        over = _similarity(left, right, a, b, given, surname)[0]
        back = _similarity(left, right, a, b, surname, given)[0]
        own = np.fmax(similar[given][0], 0.0) + np.fmax(similar[surname][0], 0.0)
        swapped = (over > ALIKE) & (back > ALIKE) & (over + back > own + AHEAD)
        found[swapped, given] = CROSSED
        found[swapped, surname] = 0
    return found


def _similarity(
    left: Rows, right: Rows, a: Places, b: Places, one: int, two: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Jaccard (-1 where a row lacks the field), and whether the filters are equal."""
    n_a, n_b = left.counts[one][a], right.counts[two][b]
    both = _sums(np.bitwise_count(left.bits[one][a] & right.bits[two][b]))
    estimate = np.array(cardinality(left.sizes[one]))
    union = estimate[np.minimum(n_a + n_b - both, left.sizes[one])]
    jaccard = np.maximum((estimate[n_a] + estimate[n_b] - union) / np.where(union > 0, union, 1.0), 0.0)
    there = (n_a > 0) & (n_b > 0)
    return np.where(there, jaccard, -1.0), there & (both == n_a) & (both == n_b)


def _sums(parts: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Of each row, column by column: numpy adds few numbers in a row three times as slowly."""
    found = np.zeros(len(parts), np.int64)
    for part in parts.T:
        found += part
    return found


def _level(jaccard: NDArray[np.float64], equal: NDArray[np.bool_]) -> Levels:
    found = (1 + np.searchsorted(CUTS, jaccard, side="right")).astype(np.int8)
    found[equal] = EQUAL
    found[jaccard < 0] = 0
    return found


def level_below(jaccard: float) -> int:
    """The highest level of values that are less alike."""
    return 1 + int(np.searchsorted(CUTS, jaccard - 1e-9, side="left"))

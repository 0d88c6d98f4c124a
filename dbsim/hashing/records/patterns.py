"""Pairs that agree alike, counted: levels of pairs → Patterns, each with how many pairs have it.

Twenty thousand rows have 25,000 candidates and 1,600 patterns, a hundred thousand have a million and 50,000: what is
learned in many steps goes over patterns. They are in ascending order, so that the same pairs give the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.records.levels import COUNT, Levels

ROOM = (1 << 62) // COUNT  # codes below can take one more field

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Patterns:
    """`levels` (patterns × fields) are all different; `counts[i]` pairs have levels[i]."""

    levels: Levels
    counts: Numbers

    @staticmethod
    def of(levels: Levels) -> Patterns:
        codes, largest = np.zeros(len(levels), np.int64), 1
        for column in levels.T:
            if largest >= ROOM:
                codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
                largest = len(levels)
            codes = codes * COUNT + column
            largest *= COUNT
        _, first, counts = np.unique(codes, return_index=True, return_counts=True)
        return Patterns(levels[first], counts.astype(np.float64))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def pairs(self) -> float:
        return float(self.counts.sum())

    def where(self, chosen: NDArray[np.bool_]) -> Patterns:
        return Patterns(self.levels[chosen], self.counts[chosen])

    def total(self, weights: Numbers) -> float:
        """The sum over all pairs of what each pattern weighs."""
        return float((self.counts * weights).sum())  # not by BLAS, whose sums depend on the machine

    def counted(self, weights: Numbers) -> Numbers:
        """fields × levels: the weights of all pairs that have a level in a field, but for those that lack it."""
        weights = self.counts * weights
        found = np.stack([np.bincount(column, weights=weights, minlength=COUNT) for column in self.levels.T])
        found[:, 0] = 0.0
        return found.astype(np.float64)

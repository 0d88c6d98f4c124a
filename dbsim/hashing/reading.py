"""How a similarity is read off two filters: popcounts of A, B and A∧B → a number from 0 to 1 (pure numpy).

Whatever the filter, the numbers of features behind its set bits tell it best (`cardinality`); the share of common bits
as it stands (`raw`) and times a factor for collisions (`corrected`) are those of seed 004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import jaccard, jaccards

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Reading:
    """Of filters of `bits` bits, of which only the first `marks` can be set.

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

    def similarities(self, a: Numbers, b: Numbers, both: Numbers) -> NDArray[np.float64]:
        """The same of many pairs, equal to the last bit."""
        if not self.factor:
            return jaccards(a, b, both, self.marks)
        there = (a > 0) & (b > 0)
        return np.where(there, self.factor * (both / np.where(there, a + b - both, 1)), 0.0)

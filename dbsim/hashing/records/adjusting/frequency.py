"""How much more an equal rare value says than an equal frequent one: exact atoms → a table of values, in 1/UNIT bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.records.evidence import UNIT
from dbsim.text.arithmetic import Hashes

RAREST = 50.0  # a value counts as at most so many times rarer than equal values are on average


@dataclass(frozen=True)
class Frequencies:
    """Of one field: values that occur more than once, in order, what each adds; what any other one adds."""

    values: NDArray[np.int64]
    added: NDArray[np.int16]
    other: int

    def of(self, exact: Hashes) -> NDArray[np.int16]:
        """0 for a missing value."""
        found = np.full(len(exact), self.other, np.int16)
        if len(self.values):
            wanted = exact.astype(np.int64)
            place = np.minimum(np.searchsorted(self.values, wanted), len(self.values) - 1)
            known = self.values[place] == wanted
            found[known] = self.added[place[known]]
        found[exact == 0] = 0
        return found


def fit(exact: Hashes, equal: float, most: int) -> Frequencies:
    """`equal`: how often two different persons have equal values; a frequent one costs at most so much."""
    there = exact[exact != 0]
    values, counts = np.unique(there, return_counts=True)
    total = max(len(there), 1)
    often = counts > 1
    return Frequencies(
        values[often].astype(np.int64),
        np.maximum(_added(counts[often] / total, equal), -max(most, 0)).astype(np.int16),
        max(int(_added(np.array([1 / total]), equal)[0]), -max(most, 0)),
    )


def _added(share: NDArray[np.float64], equal: float) -> NDArray[np.int64]:
    equal = max(equal, 1e-9)
    return np.round(np.log2(equal / np.maximum(share, equal / RAREST)) * UNIT).astype(np.int64)

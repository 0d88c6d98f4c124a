"""LSH Forest (Bawa, Condie and Ganesan 2005; Potthast 2006, §3.2.4): one long binary key a tree, longest prefix first.

A tree is a column of 62-bit numbers with a B-tree on it. The rows that share the longest prefix with a query are its
neighbours in key order, on both sides, so the best of each tree are two short range scans, however long the prefix
turns out to be; there is no number of rows to choose, no threshold, and a deleted row is just gone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.families.hyperplane import Hyperplane
from dbsim.hashing.families.minhash import MinHash, minima
from dbsim.hashing.family import Family, Join, Keys, Model
from dbsim.hashing.keys import LIMIT_KEYS, WORD, Plan, bit_keys


@dataclass(frozen=True)
class Forest(Family):
    """`trees` columns over binary digits of minhash (the lowest bit of a minimum) or hyperplane (a sign)."""

    over: str = "minhash"
    trees: int = 10

    fixed: ClassVar[bool] = True
    nearest: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.over not in ("minhash", "hyperplane"):
            raise ValueError(f"a forest grows over=minhash or over=hyperplane, not over={self.over}")
        if not 1 <= self.trees <= LIMIT_KEYS:
            raise ValueError(f"a forest of {self.trees} trees is not possible: use 1 to {LIMIT_KEYS}")

    @property
    def measure(self) -> str:  # type: ignore[override]
        return self._digits.measure

    @property
    def learns(self) -> bool:  # type: ignore[override]
        return self._digits.learns

    @property
    def _digits(self) -> Family:
        return Hyperplane() if self.over == "hyperplane" else MinHash()

    def collision(self, similarity: float) -> float:
        """Of one digit; a prefix of length j agrees with the j-th power."""
        if self.over == "hyperplane":
            return Hyperplane().collision(similarity)
        return (1.0 + similarity) / 2.0  # different minima still have the same last bit half of the time

    def plan(self, threshold: float, recall: float) -> Plan:
        return Plan(WORD, self.trees)

    def grid(self, threshold: float, recall: float) -> list[tuple[Family, Plan]]:
        made = [replace(self, trees=trees) for trees in sorted({3, 5, 10, 20, self.trees})]
        return [(family, family.plan(threshold, recall)) for family in made]

    def joins(self, plan: Plan, threshold: float, recall: float) -> list[Join]:
        """The longest prefix that a pair at the threshold shares in some tree with this recall."""
        digit = self.collision(threshold)
        length = int(math.log(1.0 - (1.0 - recall) ** (1.0 / self.trees)) / math.log(digit)) if digit < 1.0 else WORD
        rest = WORD - min(max(length, 1), WORD)
        return [(tree, -1 << rest) for tree in range(plan.keys)]

    def fit(self, documents: Documents, plan: Plan) -> Model:
        return self._digits.fit(documents, plan)

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        if self.over == "hyperplane":
            return Hyperplane().keys(documents, plan, model)
        bits = (minima(documents.features, documents.weights, plan) & np.uint64(1)).astype(np.int64)
        return bit_keys(bits.reshape(-1, plan.rows)).reshape(-1, plan.keys)

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        return self._digits.similarity(left, right, model)

"""r-bit codes in pieces, and the keys of a Hamming ball: bits → keys; keys → keys × ball.

A code is cut into pieces, one key column each. Two codes at distance ≤ R differ by at most ⌊R/pieces⌋ bits in some
piece (the pigeonhole of multi-index hashing, Norouzi et al. 2012), so the ball of that radius around each piece finds
them.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.family import Family, Join, Keys, Model
from dbsim.hashing.keys import LIMIT_KEYS, WORD, Plan, bit_keys
from dbsim.hashing.measures import cosine
from dbsim.hashing.vectors import align, vectors

PIECE = 16  # bits of a piece of a longer code
WITHIN = (2, 3, 4, 5, 6, 7, 9, 11, 13, 15)
LARGEST_BALL = 600  # keys looked up in one column: each is a descent in its B-tree


@dataclass(frozen=True)
class Code(Family):
    """`bits` in `pieces` columns; candidates have a Hamming distance of at most `within`. Learned, hence no formula."""

    bits: int = 32
    pieces: int = 2
    within: int = 3

    measure: ClassVar[str] = "cosine"
    learns: ClassVar[bool] = True
    fixed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.pieces < 1 or self.pieces > LIMIT_KEYS or self.bits < 1 or self.bits % self.pieces:
            raise ValueError(f"{self.bits} bits cannot be cut into {self.pieces} equal pieces: use a multiple")
        if self.bits // self.pieces > WORD:
            raise ValueError(f"a piece holds at most {WORD} bits: cut {self.bits} bits into more pieces")
        if not 0 <= self.within <= self.bits:
            raise ValueError(f"within={self.within} is no Hamming distance between codes of {self.bits} bits")
        if not self._possible(self.within):
            raise ValueError(f"within={self.within} needs more than {LARGEST_BALL} keys a column: use more pieces")

    @property
    def radius(self) -> int | None:
        return self.within if self.pieces > 1 else None  # the ball of the only piece is exact

    def plan(self, threshold: float, recall: float) -> Plan:
        return Plan(self.bits // self.pieces, self.pieces)

    def grid(self, threshold: float, recall: float) -> list[tuple[Family, Plan]]:
        made = [replace(self, within=within) for within in range(2 * self.within + 2) if self._possible(within)]
        return [(family, family.plan(threshold, recall)) for family in made]

    def settings(self) -> list[Family]:
        """Longer codes with wider balls: 64 bits within 5 find what 32 within 3 do, a seventh of the rows in vain."""
        lengths = [bits for bits in (2 * self.bits, 4 * self.bits) if bits % PIECE == 0]
        longer = [replace(self, bits=bits, pieces=bits // PIECE, within=0) for bits in lengths]
        made = [replace(one, within=within) for one in (self, *longer) for within in WITHIN if one._possible(within)]
        return [self, *(one for one in made if one != self)]

    def _possible(self, within: int) -> bool:
        return len(ball(self.bits // self.pieces, within // self.pieces, LARGEST_BALL)) <= LARGEST_BALL

    @abstractmethod
    def code(self, documents: Documents, model: Model) -> NDArray[np.int64]:
        """documents × bits of 0 and 1."""

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        return bit_keys(self.code(documents, model).reshape(-1, plan.rows)).reshape(-1, plan.keys)

    def spread(self, keys: Keys, plan: Plan) -> Keys:
        return keys[:, :, None] ^ ball(plan.rows, self.within // plan.keys)

    def joins(self, plan: Plan, threshold: float, recall: float) -> list[Join]:
        """Two pieces that differ in at most r bits are equal without the right r of them."""
        masks = ball(plan.rows, self.within // plan.keys).tolist()
        widest = max(mask.bit_count() for mask in masks)
        return [(piece, ~mask) for piece in range(plan.keys) for mask in masks if mask.bit_count() == widest]

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        return cosine(*align(vectors(left, model), vectors(right, model)))


@lru_cache(maxsize=64)
def ball(bits: int, radius: int, limit: int = 1 << 20) -> Keys:
    """All numbers with at most `radius` of `bits` bits set, 0 first; stops soon after `limit`."""
    found = [0]
    for distance in range(1, radius + 1):
        for places in combinations(range(bits), distance):
            found.append(sum(1 << place for place in places))
            if len(found) > limit:
                return np.array(found, np.int64)
    return np.array(found, np.int64)

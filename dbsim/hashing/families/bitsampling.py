"""Bit sampling in Hamming space (Gionis, Indyk and Motwani 1999; Potthast 2006, §3.2.1): bit vectors → sampled bits.

quantify: the Bloom filter of the shingles, or term counts written in unary (count 3 of at most 4 → 1110); reduce:
choose bits at random; combine: the bits of one number. Two documents agree in a row with 1 - r/m, r their Hamming
distance and m the length of the vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents, FieldDocuments
from dbsim.hashing.families.minhash import EMPTY, mixture
from dbsim.hashing.family import Family, Keys, Model
from dbsim.hashing.keys import Plan, bit_keys
from dbsim.hashing.measures import hamming, weighted_mean
from dbsim.text.arithmetic import high_lane, numbered, places, scale

Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class BitSampling(Family):
    """`of` is filter or unary; unary codes count terms in so many `buckets`, each up to `levels`."""

    of: str = "filter"
    buckets: int = 1024
    levels: int = 4

    measure: ClassVar[str] = "hamming"
    max_rows: ClassVar[int] = 1024  # filters of unrelated texts agree in half of their bits and more

    def __post_init__(self) -> None:
        if self.of not in ("filter", "unary"):
            raise ValueError(f"bitsampling samples bits of=filter or of=unary, not of={self.of}")
        if not (1 <= self.levels <= 64 and 8 <= self.buckets <= 1 << 16 and self.buckets % 8 == 0):
            raise ValueError("unary codes have 8 to 65536 buckets, a multiple of 8, and 1 to 64 levels")

    @property
    def portable(self) -> bool:
        return self.of == "filter"

    def collision(self, similarity: float) -> float:
        return similarity

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        sampled = [self._sample(field, plan.positions) for field in documents.fields]
        bits = mixture(sampled, documents.weights, plan)
        return bit_keys((bits & np.uint64(1)).astype(np.int64).reshape(-1, plan.rows)).reshape(-1, plan.keys)

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        """Σ weight·share of equal bits over the fields that both have."""
        total = np.zeros((len(left), len(right)))
        weight = np.zeros((len(left), len(right)))
        for mine, other in zip(left.fields, right.fields, strict=True):
            both = (mine.features.counts > 0)[:, None] & (other.features.counts > 0)[None, :]
            total += mine.weight * both * hamming(self.code(mine), self.code(other))
            weight += mine.weight * both
        return weighted_mean(total, weight)

    def code(self, field: FieldDocuments) -> Bits:
        """The bit vector of every document, packed."""
        return field.filters.bits if self.of == "filter" else self._unary(field)

    def _unary(self, field: FieldDocuments) -> Bits:
        terms = field.terms
        place = terms.documents * self.buckets + places(terms.hashes, self.buckets)
        counts = np.bincount(place, minlength=len(terms) * self.buckets).reshape(len(terms), self.buckets, 1)
        return np.packbits((counts > np.arange(self.levels)).reshape(len(terms), -1), axis=1)

    def _sample(self, field: FieldDocuments, positions: int) -> NDArray[np.uint64]:
        code = self.code(field)
        chosen = sample_positions(positions, 8 * code.shape[1])
        bits = (code[:, chosen >> 3] >> (7 - (chosen & 7)).astype(np.uint8)) & 1
        return np.where((field.features.counts > 0)[:, None], bits.astype(np.uint64), EMPTY)


@lru_cache(maxsize=32)
def sample_positions(count: int, size: int) -> NDArray[np.int64]:
    """Random bit numbers below `size`, drawn with replacement as the formula assumes."""
    return scale(high_lane(numbered(0, count)), size)

"""Rabin-min-hashing (Broder 1998; Sauerhoff 2008, §1.2): shingle sets → minima of x mod p for random primes p; Jaccard.

quantify: the set of shingles; reduce: the smallest fingerprint under each of r primes, the sketch; combine: bands.
It costs features × positions divisions, where `minhash` needs one pass; it is here as the source's own method.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.families.minhash import EMPTY, mixture
from dbsim.hashing.family import Family, Keys, Model
from dbsim.hashing.fingerprint import is_prime
from dbsim.hashing.keys import Plan, band
from dbsim.hashing.measures import jaccard
from dbsim.text.arithmetic import Hashes, numbered
from dbsim.text.features import Features

PRIME_BITS = 40  # far below the 62 bits of a shingle, so that two primes order shingles independently of each other


def sketch(features: Features, positions: int) -> Hashes:
    """documents × positions; a document without features has EMPTY everywhere."""
    minima = np.full((len(features), positions), EMPTY, np.uint64)
    filled = features.counts > 0
    if filled.any():
        starts = features.offsets[:-1][filled]
        for position, prime in enumerate(primes(positions)):
            minima[filled, position] = np.minimum.reduceat(features.hashes % np.uint64(prime), starts)
    return minima


@lru_cache(maxsize=16)
def primes(count: int) -> tuple[int, ...]:
    """Random primes of 40 bits, the same in every index: shingles are hashed with the index's secret before."""
    drawn = numbered(0, count) >> np.uint64(62 - PRIME_BITS)
    return tuple(_next_prime(int(number) | 1 << (PRIME_BITS - 1)) for number in drawn)


def _next_prime(number: int) -> int:
    number |= 1
    while not is_prime(number):
        number += 2
    return number


@dataclass(frozen=True)
class RabinMinHash(Family):
    measure: ClassVar[str] = "jaccard"

    def collision(self, similarity: float) -> float:
        return similarity

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        sketches = [sketch(field.features, plan.positions) for field in documents.fields]
        return band(mixture(sketches, documents.weights, plan), plan)

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        return jaccard(left, right)

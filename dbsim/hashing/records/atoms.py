"""What compound keys are made of: Documents → FieldAtoms, an exact hash and two minima, 0 where a field is missing.

Two rows agree in a minimum with the probability of the field's Jaccard similarity. All fields hash with one secret, so
that the names of a person can be compared across: the unordered pair of names is a field of its own here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbsim.hashing.documents import Documents
from dbsim.text.arithmetic import LANE, MASK, Hashes, combine
from dbsim.text.features import Features

LOOSE, CLOSE, EXACT = "abe"  # one minimum, two minima, the whole value
ORDER = (LOOSE, CLOSE, EXACT)
NAMES = "n"  # the field that is the unordered pair of names
MASK_62 = np.uint64(2**62 - 1)


@dataclass(frozen=True)
class FieldAtoms:
    """documents; 0 where the field is missing."""

    loose: Hashes
    close: Hashes
    exact: Hashes

    def of(self, kind: str) -> Hashes:
        return {LOOSE: self.loose, CLOSE: self.close, EXACT: self.exact}[kind]


@dataclass(frozen=True)
class _Minima:
    """Of one field: the smallest feature by its upper and by its lower lane, and the sum of all."""

    first: Hashes
    second: Hashes
    total: Hashes


def atoms(documents: Documents, crossed: tuple[int, int] | None) -> dict[str, FieldAtoms]:
    """By the field's number as text, and the pair of names."""
    found = [_minima(field.features) for field in documents.fields]
    made = {str(number): _field(minima) for number, minima in enumerate(found)}
    if crossed is not None:
        made[NAMES] = _field(_pair(*(found[number] for number in crossed)))
    return made


def _field(minima: _Minima) -> FieldAtoms:
    there = minima.total != 0
    exact = combine([minima.total, np.full_like(minima.total, 3)])
    loose = combine([minima.first, np.full_like(minima.total, 1)])
    close = combine([minima.first, minima.second])
    return FieldAtoms(
        *(np.where(there, np.maximum(atom, np.uint64(1)), np.uint64(0)) for atom in (loose, close, exact))
    )


def _minima(features: Features) -> _Minima:
    """A document without features has zeros."""
    there = features.counts > 0
    starts = features.offsets[:-1][there]
    first, second, total = (np.zeros(len(features), np.uint64) for _ in range(3))
    if len(starts):
        hashes = features.hashes
        turned = ((hashes & MASK) << np.uint64(LANE)) | (hashes >> np.uint64(LANE))
        first[there] = np.minimum.reduceat(hashes, starts)
        second[there] = np.minimum.reduceat(turned, starts)
        total[there] = np.maximum(np.add.reduceat(hashes, starts) & MASK_62, np.uint64(1))
    return _Minima(first, second, total)


def _pair(one: _Minima, two: _Minima) -> _Minima:
    """Of both names together, whichever is which; missing unless both are there."""
    both = (one.total != 0) & (two.total != 0)
    low, high = np.minimum(one.total, two.total), np.maximum(one.total, two.total)
    total = np.where(both, np.maximum(combine([low, high]), np.uint64(1)), np.uint64(0))
    return _Minima(np.minimum(one.first, two.first), np.minimum(one.second, two.second), total)

"""What compound keys are made of: Documents → FieldAtoms, an exact hash and four minima, 0 where a field is missing.

Two rows agree in a minimum with the probability of the field's Jaccard similarity. All fields hash with one secret, so
that the names of a person can be compared across: the unordered pair of names is a field of its own here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbsim.hashing.documents import Documents
from dbsim.text.arithmetic import LANE, Hashes, combine
from dbsim.text.features import Features

LOOSE, CLOSE, EXACT = "abe"  # one minimum, two minima, the whole value
AGAIN = "cdf"  # one minimum each, by other orders: for tables of few fields
NAMES = "n"  # the field that is the unordered pair of names
MASK_62 = np.uint64(2**62 - 1)
TURNED = (LANE, 15, 46)  # bits of a feature that come first in each order


@dataclass(frozen=True)
class FieldAtoms:
    """documents; 0 where the field is missing."""

    loose: Hashes
    close: Hashes
    exact: Hashes
    again: tuple[Hashes, ...]

    def of(self, kind: str) -> Hashes:
        known = {LOOSE: self.loose, CLOSE: self.close, EXACT: self.exact}
        return known[kind] if kind in known else self.again[AGAIN.index(kind)]


@dataclass(frozen=True)
class _Minima:
    """Of one field: the smallest feature as it is and turned (by a lane, by TURNED bits), and the sum of all."""

    first: Hashes
    turned: tuple[Hashes, ...]
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

    def atom(one: Hashes, two: Hashes | int) -> Hashes:
        made = combine([one, np.full_like(minima.total, two) if isinstance(two, int) else two])
        return np.where(there, np.maximum(made, np.uint64(1)), np.uint64(0))

    again = tuple(atom(turned, 4 + number) for number, turned in enumerate(minima.turned))
    return FieldAtoms(atom(minima.first, 1), atom(minima.first, minima.turned[0]), atom(minima.total, 3), again)


def _minima(features: Features) -> _Minima:
    """A document without features has zeros."""
    there = features.counts > 0
    starts = features.offsets[:-1][there]
    found = [np.zeros(len(features), np.uint64) for _ in range(2 + len(TURNED))]
    if len(starts):
        hashes = features.hashes
        found[0][there] = np.minimum.reduceat(hashes, starts)
        for place, bits in enumerate(TURNED, 1):
            found[place][there] = np.minimum.reduceat(_turned(hashes, bits), starts)
        found[-1][there] = np.maximum(np.add.reduceat(hashes, starts) & MASK_62, np.uint64(1))
    return _Minima(found[0], tuple(found[1:-1]), found[-1])


def _turned(hashes: Hashes, bits: int) -> Hashes:
    """The lowest bits first."""
    low = np.uint64((1 << bits) - 1)
    found: Hashes = ((hashes & low) << np.uint64(2 * LANE - bits)) | (hashes >> np.uint64(bits))
    return found


def _pair(one: _Minima, two: _Minima) -> _Minima:
    """Of both names together, whichever is which; missing unless both are there."""
    both = (one.total != 0) & (two.total != 0)
    low, high = np.minimum(one.total, two.total), np.maximum(one.total, two.total)
    total = np.where(both, np.maximum(combine([low, high]), np.uint64(1)), np.uint64(0))
    turned = tuple(np.minimum(*sides) for sides in zip(one.turned, two.turned, strict=True))
    return _Minima(np.minimum(one.first, two.first), turned, total)

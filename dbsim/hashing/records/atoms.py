"""What compound keys are made of: Documents → FieldAtoms, an exact hash and four minima, 0 where a field is missing.

Two rows agree in a minimum with the probability of the field's Jaccard similarity. All fields hash with one secret, so
that the names of a person can be compared across: the unordered pair of names is a field of its own here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def atoms(documents: Documents, crossed: tuple[int, int] | None, again: bool = True) -> dict[str, FieldAtoms]:
    """By the field's number as text, and the pair of names; without minima by other orders where no key has them."""
    orders = TURNED if again else TURNED[:1]
    found = [_minima(field.features, orders) for field in documents.fields]
    names = [str(number) for number in range(len(found))]
    if crossed is not None:
        names.append(NAMES)
        found.append(_pair(*(found[number] for number in crossed)))
    return dict(zip(names, _fields(found, again), strict=True))


def _fields(found: list[_Minima], again: bool) -> Iterator[FieldAtoms]:
    """All atoms of all fields are hashed at once: of one row, that is a tenth of the time."""
    first, total = (np.concatenate(side) for side in zip(*((one.first, one.total) for one in found), strict=True))
    turned = [np.concatenate(side) for side in zip(*(one.turned for one in found), strict=True)]
    others = [(side, np.full_like(total, 4 + number)) for number, side in enumerate(turned)] if again else []
    sides = [(first, np.full_like(total, 1)), (first, turned[0]), (total, np.full_like(total, 3)), *others]
    hashed = combine([np.concatenate(side) for side in zip(*sides, strict=True)]).reshape(len(sides), -1)
    made = np.where(total != 0, np.maximum(hashed, np.uint64(1)), np.uint64(0)).reshape(len(sides), len(found), -1)
    for number in range(len(found)):
        loose, close, exact, *rest = made[:, number]
        yield FieldAtoms(loose, close, exact, tuple(rest))


def _minima(features: Features, orders: Sequence[int]) -> _Minima:
    """A document without features has zeros."""
    there = features.counts > 0
    starts = features.offsets[:-1][there]
    found = [np.zeros(len(features), np.uint64) for _ in range(2 + len(orders))]
    if len(starts):
        hashes = features.hashes
        found[0][there] = np.minimum.reduceat(hashes, starts)
        for place, bits in enumerate(orders, 1):
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

"""Fields that agree together by chance: pairs equal in one field → a parent for each field, and u given the parent.

Two strangers in one postcode are in one city, two in one house have one street: counted as independent, such evidence
makes neighbours of strangers' records duplicates. A tree of the strongest dependences (Chow and Liu 1968) is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.records.levels import COUNT, EQUAL, Levels
from dbsim.text.arithmetic import Hashes

PAIRS = 20_000  # looked at for each field
LEAST = 200  # pairs, to say anything
PURE = 4.0  # times as many pairs as rows: so that records of one person are few among them
LIFT = 2.0  # how much more often than by chance two fields agree, to be worth an edge
MATCHES = 0.5  # a row: so many records of one person are thought to be among the pairs, and taken out

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Alike:
    """Levels of pairs that are equal in one field, and how many there are of them in the sample; none is possible."""

    levels: Levels
    pairs: float
    rows: int


def equal_pairs(exact: Hashes, random: np.random.Generator) -> tuple[Places, Places, float]:
    """(a, b, number of all such pairs): pairs of rows with the same value, drawn evenly from all of them."""
    rows = np.flatnonzero(exact)
    order = rows[np.argsort(exact[rows], kind="stable")]
    _, starts, sizes = np.unique(exact[order], return_index=True, return_counts=True)
    reached = np.cumsum(sizes.astype(np.float64) * (sizes - 1) / 2)
    total = float(reached[-1]) if len(reached) else 0.0
    if total < 1:
        return np.empty(0, np.int64), np.empty(0, np.int64), 0.0
    bucket = np.searchsorted(reached, random.random(PAIRS) * total, side="right").clip(max=len(sizes) - 1)
    size = sizes[bucket]
    first = (random.random(PAIRS) * size).astype(np.int64)
    second = (first + 1 + (random.random(PAIRS) * (size - 1)).astype(np.int64)) % size
    return order[starts[bucket] + first], order[starts[bucket] + second], total


def depend(
    chance: NDArray[np.float64], usual: NDArray[np.float64], alike: Sequence[Alike], names: Sequence[int] = ()
) -> tuple[list[int], NDArray[np.float64]]:
    """(parents, fields × levels of u where the parent is equal); `usual` is how records of one person agree.

    Names that may be crossed are nobody's parents: crossed, they have no level of their own.
    """
    fields = len(chance)
    given = [_given(some, usual) for some in alike]
    edges = [
        (float(found[field, EQUAL] / chance[field, EQUAL]), parent, field)
        for parent, found in enumerate(given)
        if found is not None and parent not in names
        for field in range(fields)
        if field != parent and found[field].sum() > 0
    ]
    parents, after = [-1] * fields, chance.copy()
    for lift, parent, field in sorted(edges, reverse=True):
        found = given[parent]
        if lift > LIFT and parents[field] < 0 and field not in _ancestors(parents, parent) and found is not None:
            parents[field], after[field] = parent, found[field]
    return parents, after


def _given(some: Alike, usual: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """fields × levels among pairs equal in a field; None when too many of those may be records of one person."""
    if len(some.levels) < LEAST or some.pairs < PURE * some.rows:
        return None
    matches = MATCHES * some.rows / some.pairs
    found = np.zeros((some.levels.shape[1], COUNT))
    for field, column in enumerate(some.levels.T):
        counts = np.bincount(column, minlength=COUNT).astype(np.float64)
        counts[0] = 0.0
        if counts.sum() >= LEAST:
            strangers = np.maximum(counts / counts.sum() - matches * usual[field], 1e-9)
            strangers[0] = 0.0
            found[field] = strangers / strangers.sum()
    return found


def _ancestors(parents: Sequence[int], field: int) -> set[int]:
    """The field and everything above it."""
    found = {field}
    while parents[field] >= 0:
        field = parents[field]
        found.add(field)
    return found

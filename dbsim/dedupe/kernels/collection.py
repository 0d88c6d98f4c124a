"""The distinct contents of an index outside the database: Signatures in key order → Collection (arrays on disk).

Keys and filters lie in unnamed temporary files, which vanish with the process; in memory is only what is being
worked on, so that a million contents need some ten megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.buckets import Nodes, node_type
from dbsim.dedupe.kernels.decide import FieldScore, estimates
from dbsim.dedupe.kernels.spill import Spill
from dbsim.hashing.bloom import Filters
from dbsim.hashing.family import Join
from dbsim.hashing.records.learning import Learned
from dbsim.hashing.records.levels import Rows
from dbsim.hashing.records.probability import probability
from dbsim.hashing.signer import Signatures

CHUNK = 1 << 13  # pairs scored at once
READ = 1 << 24  # bytes of filters in memory for them
Words = NDArray[Any]  # uint64
Sides = tuple[NDArray[Any], NDArray[Any]]


class Collection:
    """Contents numbered in the order of their fingerprints."""

    def __init__(self, fields: Sequence[FieldScore], joins: Sequence[Join]) -> None:
        self.fields = tuple(fields)
        self._joins = tuple(joins)
        self.columns = len(self._joins)
        self.fingerprints = np.empty(0, np.int64)
        self.copies: Nodes = np.empty(0, np.int64)  # rows with this content
        self.order: Nodes = np.empty(0, np.int64)  # place in the order of the contents' first rows
        self.counts: list[NDArray[np.int32]] = []
        self.rarities: list[NDArray[np.int16]] = []  # of records of persons, a field each
        self.learned: Learned | None = None  # which then scores
        self._keys, self._key_places = Spill(), list[tuple[int, int]]()  # start and rows of each block
        self._columns: dict[int, int] = {}  # start of each column that was asked for
        self._bits = [Spill() for _ in self.fields]

    def __len__(self) -> int:
        return len(self.fingerprints)

    @staticmethod
    def of(
        fields: Sequence[FieldScore],
        joins: Sequence[Join],
        blocks: Iterable[Signatures],
        keep: Callable[[NDArray[np.int64]], None] | None = None,
    ) -> Collection:
        """Rows without features must not be among the blocks; `keep` hears which rows of a block are new contents."""
        made, seen = Collection(fields, joins), Seen()
        again: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        firsts, counts, rarities = Spill(), [Spill() for _ in fields], [Spill() for _ in fields]
        for block in blocks:
            new = seen.new(block.fingerprints)
            again.append(np.delete(block.fingerprints, new))
            firsts.append(block.fingerprints[new])
            made._append(block, new)
            if keep is not None:
                keep(new)
            for spill, part in zip(counts, block.filters, strict=True):
                spill.append(part.counts[new].astype(np.int32))
            for spill, rarity in zip(rarities, block.rarities, strict=False):  # only records have any
                spill.append(rarity[new].astype(np.int16))
        made.fingerprints = seen.all()
        made.copies = _counted(again, made.fingerprints)
        made.order = np.argsort(firsts.all(np.int64), kind="stable").astype(node_type(len(made)))
        made.counts = [spill.all(np.int32)[made.order] for spill in counts]
        made.rarities = [spill.all(np.int16)[made.order] for spill in rarities if spill]
        return made

    def _append(self, block: Signatures, new: NDArray[np.int64]) -> None:
        self._key_places.append((self._keys.append(block.keys[new].T), len(new)))
        for spill, part in zip(self._bits, block.filters, strict=True):
            spill.append(part.bits[new])

    def key(self, column: int, members: Nodes | None = None) -> NDArray[np.int64]:
        """What some contents, or all, are joined by in a column."""
        stored, mask = self._joins[column]
        found = self._column(stored) if members is None else self._column(stored)[members]
        return found if mask == -1 else found & mask

    def _column(self, stored: int) -> NDArray[np.int64]:
        """In the order of the contents, as it lies in a file from the second time on."""
        if stored in self._columns:
            return self._keys.read(self._columns[stored], len(self), np.int64)
        found, done = np.empty(len(self), np.int64), 0
        for start, rows in self._key_places:
            found[done : done + rows] = self._keys.read(start + 8 * rows * stored, rows, np.int64)
            done += rows
        found = found[self.order]
        self._columns[stored] = self._keys.append(found)
        return found

    def counts_of(self, nodes: Nodes) -> list[NDArray[np.int32]]:
        """Set bits of each field's filter."""
        return [counts[nodes] for counts in self.counts]

    def find(self, fingerprints: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """(number, whether it is there) of each."""
        if not len(self):
            return np.zeros(len(fingerprints), np.int64), np.zeros(len(fingerprints), bool)
        place = np.minimum(np.searchsorted(self.fingerprints, fingerprints), len(self) - 1)
        return place, self.fingerprints[place] == fingerprints

    def filters(self, nodes: Nodes | None = None) -> NDArray[np.uint64]:
        """Of the first field, of all contents or of some, none of which comes twice."""
        rows = self.order if nodes is None else self.order[nodes]
        order = np.argsort(rows)
        found = np.empty((len(rows), self.fields[0].bits // 64), np.uint64)
        for part in (order[i : i + CHUNK] for i in range(0, len(rows), CHUNK)):
            found[part] = self._bits[0].rows(rows[part], found.shape[1], np.uint64)
        return found

    def scores(self, a: Nodes, b: Nodes) -> NDArray[np.float64]:
        """The search's score of each pair, to the last bit; 0 where no field is present in both."""
        size = max(READ // (2 * self.width), CHUNK)
        parts = [self._scores(a[i : i + size], b[i : i + size]) for i in range(0, len(a), size)]
        return np.concatenate([np.empty(0), *parts])

    def own(self, nodes: Nodes, copies: Nodes) -> NDArray[np.float64]:
        """What copies of these contents score with each other: 1, but of persons the probability that they are one."""
        found = np.ones(len(nodes))
        if self.learned is not None:
            several = np.flatnonzero(copies > 1)
            found[several] = self.scores(nodes[several], nodes[several])
        return found

    @property
    def width(self) -> int:
        """Bytes of the filters of a content."""
        return sum(part.bits // 8 for part in self.fields)

    def _scores(self, a: Nodes, b: Nodes) -> NDArray[np.float64]:
        """A content that is in several of the pairs is read once."""
        wanted, (x, y) = self._places(a, b)
        bits = [
            spill.rows(wanted, part.bits // 64, np.uint64) for spill, part in zip(self._bits, self.fields, strict=True)
        ]
        score = self._estimates if self.learned is None else partial(self._probabilities, self.learned)
        parts = [slice(i, i + CHUNK) for i in range(0, len(a), CHUNK)]
        return np.concatenate([np.empty(0), *(score(bits, (a[part], b[part]), (x[part], y[part])) for part in parts)])

    def _places(self, *sides: Nodes) -> tuple[NDArray[np.int64], list[NDArray[np.int32]]]:
        """Rows of the files that contents of these sides have, and where in them each is; without sorting."""
        rows = [self.order[side] for side in sides]
        there = np.zeros(len(self), bool)
        for side in rows:
            there[side] = True
        wanted = np.flatnonzero(there)
        place = np.empty(len(self), np.int32)
        place[wanted] = np.arange(len(wanted))
        return wanted, [place[side] for side in rows]

    def _estimates(self, bits: Sequence[Words], nodes: Sides, rows: Sides) -> NDArray[np.float64]:
        """`rows` are the contents' places in `bits`, eight bytes a number."""
        sides = (
            [Filters(part[row], counts[node].astype(np.int64)) for part, counts in zip(bits, self.counts, strict=True)]
            for node, row in zip(nodes, rows, strict=True)
        )
        return estimates(self.fields, *sides)

    def _probabilities(self, learned: Learned, bits: Sequence[Words], nodes: Sides, rows: Sides) -> NDArray[np.float64]:
        """Of records of persons."""
        sides, rarities = [], []
        for node, row in zip(nodes, rows, strict=True):
            counts = tuple(column[node].astype(np.int64) for column in self.counts)
            sides.append(Rows(tuple(part[row] for part in bits), counts, tuple(field.marks for field in self.fields)))
            rarities.append(np.stack([column[node] for column in self.rarities], axis=1))
        each = np.arange(len(nodes[0]))
        return probability(learned.score(sides[0], sides[1], each, each, (rarities[0], rarities[1])))


def _counted(again: list[NDArray[np.int64]], contents: NDArray[np.int64]) -> Nodes:
    """How many rows have each content: one, and those that came again."""
    found = np.ones(len(contents), node_type(len(contents)))
    for block in again:
        np.add.at(found, np.searchsorted(contents, block), 1)
    return found


class Seen:
    """Numbers met so far, in sorted runs, each more than twice as long as the next: few, and rarely merged."""

    def __init__(self) -> None:
        self._runs: list[NDArray[np.int64]] = []

    def new(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places of those not met before, of equal ones the first; from now on they are met."""
        values, first = np.unique(numbers, return_index=True)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, values), len(run) - 1)
            fresh = run[place] != values
            values, first = values[fresh], first[fresh]
        if len(values):
            self._add(values)
        return np.sort(first)

    def _add(self, run: NDArray[np.int64]) -> None:
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")  # which merges what is sorted
        self._runs.append(run)

    def all(self) -> NDArray[np.int64]:
        """Sorted; nothing can be met after it."""
        found = np.concatenate([np.empty(0, np.int64), *self._runs])
        self._runs.clear()
        found.sort(kind="stable")
        return found

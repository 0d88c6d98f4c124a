"""Which contents meet, after the rule of dedupe/kernels/buckets.py; what executors do with the parcels of a part.

A row of a bucket is (column, key, content). Of a finer one it is (size of the bucket that was cut, column, key, column,
key …, content): a bucket is named by all that stands before the content.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dbsim.dedupe.kernels.buckets import Limits, Runs, measured_columns, runs, shared
from dbsim.dedupe.kernels.collection import Seen
from dbsim.spark.layout import Layout
from dbsim.spark.parcels import (
    BUCKETS,
    CONTENTS,
    COPIES,
    LARGE,
    PAIRS,
    SIZES,
    TOTALS,
    Exchange,
    Found,
    Numbers,
    matrix,
    mixed,
    received,
    sent,
    unbinary,
    whole,
)

Batches = Iterator[pa.RecordBatch]
WRITTEN = 1 << 20  # pairs written out at once
MANY = 1 << 20  # copies noted before they are counted
SIZE = 4  # numbers of a row of SIZES: first column, size of the bucket that was cut (0: none), size, how often


@dataclass(frozen=True)
class Meeting:
    """`depth` is how often buckets have been cut; without `paired` only sizes are wanted, of the measured columns."""

    layout: Layout
    exchange: Exchange
    limits: Limits
    depth: int = 0
    paired: bool = True

    def within(self, limits: Limits, depth: int = 0, paired: bool = True) -> Meeting:
        return replace(self, limits=limits, depth=depth, paired=paired)

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return 3 if self.depth == 0 else 2 * self.depth + 4

    # ── each is called once for a task, with its batches ──
    def spread(self, batches: Batches) -> Batches:
        """f, s: contents, some several times → each once to the buckets of its keys; COPIES: those met again."""
        seen, again = Seen(), _Again()
        for batch in batches:
            fingerprints = batch.column("f").to_numpy()
            new = seen.new(fingerprints)
            again.add(np.delete(fingerprints, new))
            keys = self.layout.keys(unbinary(batch.column("s"), self.layout.width)[new])
            rows = np.empty((len(new), self.layout.columns, 3), np.int64)
            rows[:, :, 0], rows[:, :, 1] = np.arange(self.layout.columns), keys
            rows[:, :, 2] = fingerprints[new, None]
            yield from self._sent(BUCKETS, rows.reshape(-1, 3))
        if len(copies := again.counted()):
            yield whole(COPIES, copies, 0)

    def meet(self, batches: Batches) -> Batches:
        """BUCKETS (or LARGE of an earlier pass) → PAIRS, SIZES, LARGE: members of buckets over the limit.

        TOTALS: how many contents several rows have, and how many rows more than one.
        """
        sizes, totals = [np.empty((0, SIZE), np.int64)], np.zeros((1, 2), np.int64)
        for part, found in received(batches):
            for data in found.pop(COPIES, ()):
                copies = matrix([data], 2)
                totals += [len(copies), copies[:, 1].sum()]
                yield whole(COPIES, copies, part)
            rows, level = self._buckets(found)
            sizes.append(self._sizes(rows, level))
            if self.paired:
                yield from self._pairs(rows[:, -1], level)
            large = level.size > self.limits.bucket
            if large.any():
                yield whole(LARGE, rows[level.members[large]], part)
        if len(counted := _counted(np.concatenate(sizes))):
            yield whole(SIZES, counted, 0)
        yield whole(TOTALS, totals, 0)

    def cut(self, batches: Batches) -> Batches:
        """LARGE → the same rows with the sizes of their buckets, each to the part of its content."""
        for _, found in received(batches):
            rows, level = self._buckets(found)
            rows, size = rows[level.members], level.size
            if not self.paired and self.depth == 0:
                measured = np.isin(rows[:, 0], measured_columns(self.layout.columns))
                rows, size = rows[measured], size[measured]
            rows = np.concatenate([size[:, None], rows[:, -2 * self.depth - 3 :]], axis=1)
            yield from sent(LARGE, rows, self.exchange.place(rows[:, -1]))

    def keyed(self, batches: Batches) -> Batches:
        """f, s → CONTENTS: fingerprints and keys, each to the part of its content."""
        for batch in batches:
            fingerprints = batch.column("f").to_numpy()
            keys = self.layout.keys(unbinary(batch.column("s"), self.layout.width))
            rows = np.concatenate([fingerprints[:, None], keys], axis=1)
            yield from sent(CONTENTS, rows, self.exchange.place(fingerprints))

    def finer(self, batches: Batches) -> Batches:
        """LARGE (cut) beside CONTENTS → BUCKETS by later columns; a pair that shares two keys is in both buckets, so
        that the later column of the two is enough."""
        for _, found in received(batches):
            large = matrix(found[LARGE], 2 * self.depth + 4)
            keys = matrix(found[CONTENTS], 1 + self.layout.columns)
            keys = keys[np.argsort(keys[:, 0])]
            place = np.searchsorted(keys[:, 0], large[:, -1])
            last = large[:, -3]
            for column in range(1, self.layout.columns):
                mine = np.flatnonzero(last < column if self.depth == 0 else last == column - 1)
                if not len(mine):
                    continue
                key = keys[place[mine], 1 + column]
                made = np.stack([np.full(len(mine), column), key, large[mine, -1]], axis=1)
                yield from self._sent(BUCKETS, np.concatenate([large[mine, :-1], made], axis=1))

    # ── steps ──
    def _sent(self, kind: int, rows: Numbers) -> Batches:
        return sent(kind, rows, self.exchange.place(*rows[:, :-1].T))

    def _buckets(self, found: Found) -> tuple[Numbers, Runs]:
        """(rows in the order of their contents, buckets of their places)"""
        rows = matrix(found[BUCKETS] + found[LARGE], self.width)
        rows = rows[shared(mixed(*rows[:, :-1].T).view(np.int64))] if len(rows) else rows
        rows = rows[np.argsort(rows[:, -1], kind="stable")]
        return rows, runs(np.arange(len(rows)), *rows[:, :-1].T)

    def _sizes(self, rows: Numbers, level: Runs) -> Numbers:
        first = level.rank == 0
        heads, size = rows[level.members[first]], level.size[first]
        outer = np.zeros(len(heads), np.int64) if self.depth == 0 else heads[:, 0]
        return _counted(np.stack([heads[:, 0 if self.depth == 0 else 1], outer, size, np.ones(len(size), int)], axis=1))

    def _pairs(self, contents: Numbers, level: Runs) -> Batches:
        """The smaller fingerprint first."""
        tails = level.tails(self.limits)
        chosen = np.flatnonzero(tails)
        reached = np.cumsum(tails[chosen])
        cuts = np.searchsorted(reached, np.arange(WRITTEN, reached[-1] if len(reached) else 0, WRITTEN)) + 1
        for some in np.split(chosen, np.unique(cuts)):
            tail = tails[some]
            begin = some + 1 - (np.cumsum(tail) - tail)
            a = contents[level.members[np.repeat(some, tail)]]
            b = contents[level.members[np.repeat(begin, tail) + np.arange(tail.sum())]]
            yield from sent(PAIRS, np.stack([a, b], axis=1), self.exchange.place(a))


class _Again:
    """Contents that came once more, and how often."""

    def __init__(self) -> None:
        self._noted: list[Numbers] = []
        self._counts = np.empty((0, 2), np.int64)

    def add(self, fingerprints: Numbers) -> None:
        self._noted.append(fingerprints)
        if sum(map(len, self._noted)) > MANY:
            self.counted()

    def counted(self) -> Numbers:
        """(fingerprint, how often) each."""
        values = np.concatenate([self._counts[:, 0], *self._noted])
        times = np.concatenate([self._counts[:, 1], np.ones(sum(map(len, self._noted)), np.int64)])
        found, place = np.unique(values, return_inverse=True)
        sums = np.zeros(len(found), np.int64)
        np.add.at(sums, place, times)
        self._counts, self._noted = np.stack([found, sums], axis=1), []
        return self._counts


def _counted(rows: Numbers) -> Numbers:
    """Rows that differ in the last number only, once, with its sum."""
    if not len(rows):
        return rows
    found, place = np.unique(rows[:, :-1], axis=0, return_inverse=True)
    return np.concatenate([found, np.bincount(place.ravel(), rows[:, -1])[:, None].astype(np.int64)], axis=1)

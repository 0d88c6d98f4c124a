"""Candidates of large buckets, less those whose filters decide against them: a bucket's members → packed pairs.

Members of a bucket are compared as a table of rows and columns, a word of the filters at a time: 8 to 12 ns a pair of
1,024 bits, where pairs that are written out, sorted and scored one by one take 250. What comes out is all that may be
kept, and a little more: `Decision.kept` has the last word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.buckets import Nodes, emit, pack
from dbsim.dedupe.kernels.collection import READ, Collection
from dbsim.dedupe.kernels.decide import Decision

WIDE = 2000  # pairs of a bucket from which on a table takes less time
COLUMNS, PLACES = 1024, 1 << 16  # columns and places of a table, so that it stays in the processor's cache
KNOWN = 1 << 22  # limits that are remembered
HELD = 1 << 27  # bytes of filters: if all of them are no more, they are held in memory, else read for each table
Words = NDArray[np.uint64]
Limits = NDArray[np.int32]


@dataclass
class Tiles:
    """Of one collection, whose filters are the usual ones of a single field."""

    collection: Collection
    decision: Decision
    _fewest: dict[int, Limits] = field(default_factory=dict)

    def emit(
        self, members: Nodes, node: Nodes, start: NDArray[np.int64], tail: NDArray[np.int64], first: int
    ) -> Iterator[NDArray[np.uint64]]:
        """As `buckets.emit`, in parts, without those that cannot be kept."""
        end = start + tail  # which names the bucket
        order = np.argsort(end, kind="stable")
        heads = np.flatnonzero(np.diff(end[order], prepend=-1))
        pairs = np.add.reduceat(tail[order], heads)
        widest = np.maximum.reduceat(tail[order], heads)
        wide = (pairs >= WIDE) & (pairs >= 2 * widest)  # its columns are read for at least two rows
        bounds = np.append(heads, len(order))
        for one in np.flatnonzero(wide).tolist():
            entries = order[bounds[one] : bounds[one + 1]]
            yield from self._table(members, start[entries] - 1, int(end[entries[0]]), first)
        few = np.sort(order[np.repeat(~wide, np.diff(bounds))])
        yield emit(members, node[few], start[few], tail[few], first)

    def _table(self, members: Nodes, places: NDArray[np.int64], end: int, first: int) -> Iterator[NDArray[np.uint64]]:
        """Members at these places, ascending, with all that follow them in their bucket."""
        most = max(READ // (2 * (self.collection.width + 4 * len(self._sizes))), 1)
        for some in (places[i : i + most] for i in range(0, len(places), most)):
            nodes = members[some]
            rows = self._words(nodes)
            fewest = np.stack([self._limits(count) for count in self._counts[nodes].tolist()])
            for begin in range(int(some[0]) + 1, end, COLUMNS):
                columns = members[begin : min(begin + COLUMNS, end)]
                others = self._words(columns)
                at = np.arange(begin, begin + len(columns))
                step = max(PLACES // len(columns), 1)
                for part in (slice(i, i + step) for i in range(0, len(nodes), step)):
                    found = common(rows[:, part], others) >= fewest[part][:, self._counts[columns] - self._sizes[0]]
                    found &= at > some[part, None]
                    x, y = np.nonzero(found)
                    yield pack(nodes[part][x], columns[y], first)

    def _words(self, nodes: Nodes) -> Words:
        """A word of all of their filters after the other."""
        found = self.collection.filters(nodes) if self._held is None else self._held[nodes]
        return np.ascontiguousarray(found.T)

    @cached_property
    def _held(self) -> Words | None:
        """Reading a filter takes longer (.6 µs) than comparing it with fifty others."""
        return self.collection.filters() if len(self.collection) * self.collection.width <= HELD else None

    def _limits(self, count: int) -> Limits:
        """For other contents with each of these `_sizes`."""
        if count not in self._fewest:
            if len(self._sizes) * len(self._fewest) > KNOWN:
                self._fewest.clear()
            self._fewest[count] = self.decision.fewest(count, self._sizes).astype(np.int32)
        return self._fewest[count]

    @property
    def _counts(self) -> NDArray[np.int32]:
        return self.collection.counts[0]

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """Numbers of set bits, from the lowest to the highest."""
        return np.arange(int(self._counts.min()), int(self._counts.max()) + 1)


def common(rows: Words, columns: Words) -> NDArray[Any]:
    """Set bits that each row shares with each column; both are given a word after the other."""
    size = (rows.shape[1], columns.shape[1])
    total = np.zeros(size, np.uint16 if 64 * len(rows) < 1 << 16 else np.uint32)
    both, counted = np.empty(size, np.uint64), np.empty(size, np.uint8)
    for row, column in zip(rows, columns, strict=True):
        np.bitwise_and(row[:, None], column, out=both)
        total += np.bitwise_count(both, out=counted)
    return total

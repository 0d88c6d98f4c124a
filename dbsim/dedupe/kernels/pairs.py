"""All near-duplicate pairs of a collection: Collection → Iterator[Found], in the order of the smaller fingerprint.

Every key column becomes layers of candidate pairs in compressed form, on disk; then blocks of contents are taken in
order, their candidates written out, made distinct and scored. So a pair comes once, memory stays bounded, the number
of candidates is known before the first is scored, and a run that was stopped goes on after the last block stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.buckets import Layer, Limits, Nodes, emit, layer, levels, unpack
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.spill import Spill

BLOCK = 1 << 20  # candidates written out at once
Progress = Callable[[int, int], None]  # candidates compared, candidates in all


@dataclass
class Limited:
    """What was not compared all with all: buckets over the limit, and the contents in them."""

    buckets: int = 0
    contents: int = 0
    largest: int = 0

    def __bool__(self) -> bool:
        return self.buckets > 0


@dataclass(frozen=True)
class Found:
    """Pairs of contents (a < b) with their scores; all pairs whose smaller content is below `upto` are out now."""

    a: Nodes
    b: Nodes
    scores: NDArray[np.float64]
    upto: int


@dataclass
class Candidates:
    """The layers of a collection; `focus`, if given, marks the contents of which a pair must have at least one."""

    collection: Collection
    limits: Limits
    focus: NDArray[np.bool_] | None = None
    limited: Limited = field(default_factory=Limited)

    def pairs(self, threshold: float, start: int = 0, progress: Progress = lambda done, total: None) -> Iterator[Found]:
        """Pairs that reach the threshold, from the content number `start` on."""
        work = np.zeros(len(self.collection), np.int64)
        spill = Spill()
        layers = [_Stored(spill, made) for made in self._layers(work)]
        work[:start] = 0
        total, done = int(work.sum()), 0
        for first, last in _blocks(work, start):
            packed = _distinct(layers, first, last)
            yield self._scored(packed, threshold, last)
            done += int(work[first:last].sum())
            progress(done, total)

    def _layers(self, work: NDArray[np.int64]) -> Iterator[Layer]:
        source = self.collection
        for column in range(source.columns):
            for depth, level in enumerate(levels(column, source.columns, source.key, self.limits)):
                if depth == 0:
                    self._note(level.size[level.rank == 0])
                made = layer(level, self.limits)
                work[made.node] += made.tail  # a content stands in one bucket of a column
                yield made

    def _note(self, sizes: NDArray[np.int64]) -> None:
        large = sizes[sizes > self.limits.bucket]
        self.limited.buckets += len(large)
        self.limited.contents += int(large.sum())
        self.limited.largest = max(self.limited.largest, int(large.max(initial=0)))

    def _scored(self, packed: NDArray[np.uint64], threshold: float, upto: int) -> Found:
        a, b = unpack(packed)
        chosen = self.collection.in_range(a, b, threshold)
        if self.focus is not None:
            chosen &= self.focus[a] | self.focus[b]
        a, b = a[chosen], b[chosen]
        scores = self.collection.scores(a, b)
        similar = (scores >= threshold) & (scores > 0)
        return Found(a[similar], b[similar], scores[similar], upto)


def _blocks(work: NDArray[np.int64], start: int) -> Iterator[tuple[int, int]]:
    """Ranges of contents with about BLOCK candidates each."""
    reached = np.cumsum(work)
    total = int(reached[-1]) if len(reached) else 0
    cuts = np.searchsorted(reached, np.arange(BLOCK, total, BLOCK)) + 1
    edges = np.unique(np.concatenate(([start], cuts, [len(work)])))
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def _distinct(layers: list[_Stored], first: int, last: int) -> NDArray[np.uint64]:
    """The candidates of a range of contents, each once."""
    parts, size = [np.empty(0, np.uint64)], 0
    for stored in layers:
        part = stored.emit(first, last)
        parts.append(part)
        size += len(part)
        if size > 2 * BLOCK:  # a representative of large buckets meets the same contents in many columns
            parts = [_once(parts)]
            size = len(parts[0])
    return _once(parts)


def _once(parts: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Sorted and distinct; np.unique hashes 64-bit numbers, which for these takes ten times as long."""
    pairs = np.concatenate(parts)
    pairs.sort()
    first = np.ones(len(pairs), bool)
    first[1:] = pairs[1:] != pairs[:-1]
    return pairs[first]


class _Stored:
    """A layer in a file, of which a range of contents can be read."""

    def __init__(self, spill: Spill, made: Layer) -> None:
        self._spill = spill
        self._members, self._entries = len(made.members), len(made.node)
        arrays = (made.node, made.start, made.tail, made.members)
        self._places = [spill.append(array.astype(np.int32, copy=False)) for array in arrays]

    def emit(self, first: int, last: int) -> NDArray[np.uint64]:
        node = self._spill.read(self._places[0], self._entries, np.int32)
        low, high = np.searchsorted(node, [first, last]).tolist()
        if low == high:
            return np.empty(0, np.uint64)
        start, tail = (self._spill.read(place + 4 * low, high - low, np.int32) for place in self._places[1:3])
        return emit(self._spill.read(self._places[3], self._members, np.int32), node[low:high], start, tail)

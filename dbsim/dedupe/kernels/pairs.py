"""All near-duplicate pairs of a collection: Collection → Iterator[Found], in the order of the smaller fingerprint.

Every key column becomes layers of candidate pairs in compressed form, on disk; then blocks of contents are taken in
order, their candidates written out, made distinct and scored; of large buckets only those that may be kept are written
out. So a pair comes once, memory stays bounded, the number of candidates is known before the first is scored, and a run
that was stopped goes on after the last block stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.buckets import (
    BLOCK_NODES,
    Layer,
    Limits,
    Nodes,
    Runs,
    emit,
    layer,
    levels,
    node_type,
    unpack,
)
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.decide import Decision
from dbsim.dedupe.kernels.missing import Limited, Missing
from dbsim.dedupe.kernels.spill import Spill
from dbsim.dedupe.kernels.tiles import Tiles

BLOCK = 1 << 20  # candidates written out at once
ALONE, TOGETHER = 64, 16  # so many of a content in one bucket count each, of more only one in so many is written out
Emit = Callable[[Nodes, Nodes, NDArray[np.int64], NDArray[np.int64], int], Iterator[NDArray[np.uint64]]]
Written = Callable[[int, int], NDArray[np.uint64] | None]
Progress = Callable[[int, int], None]  # candidates compared, candidates in all


@dataclass(frozen=True)
class Found:
    """Pairs of contents (a < b) with their estimates; all pairs whose smaller content is below `upto` are out now.

    `unsure` marks those that the texts have to decide.
    """

    a: Nodes
    b: Nodes
    scores: NDArray[np.float64]
    unsure: NDArray[np.bool_]
    upto: int


@dataclass
class Candidates:
    """The layers of a collection; `focus`, if given, marks the contents of which a pair must have at least one."""

    collection: Collection
    limits: Limits
    focus: NDArray[np.bool_] | None = None
    missing: Missing = field(default_factory=Missing)

    def pairs(
        self, decision: Decision, start: int = 0, progress: Progress = lambda done, total: None
    ) -> Iterator[Found]:
        """Pairs that are or may be at the threshold, from the content number `start` on."""
        work, load = np.zeros((2, len(self.collection)), np.int64)
        spill = Spill()
        layers = [_Stored(spill, made) for made in self._layers(work, load)]
        work[:start] = load[:start] = 0
        total, done = int(work.sum()), 0
        self.missing.draw(self.collection, decision, start)
        counted = decision.counted and self.collection.learned is None
        written = partial(_distinct, layers, Tiles(self.collection, decision).emit if counted else _all)
        for first, last in _blocks(load if counted else work, start):
            for upto, packed in _bounded(written, first, last):
                found = self._scored(packed, decision, first, upto)
                self.missing.seen(found.a, found.b)
                yield found
                done += int(work[first:upto].sum())
                progress(done, total)
                first = upto

    @property
    def limited(self) -> Limited:
        return self.missing.limited

    def _layers(self, work: NDArray[np.int64], load: NDArray[np.int64]) -> Iterator[Layer]:
        """`work` is how many candidates a content has, `load` about how many of them are written out."""
        source = self.collection
        for column in range(source.columns):
            made = layer(self._noted(levels(column, source.columns, source.key, self.limits)), self.limits)
            np.add.at(work, made.node, made.tail)
            np.add.at(load, made.node, np.minimum(made.tail, ALONE + made.tail // TOGETHER))
            yield made

    def _noted(self, found: Iterator[Runs]) -> Iterator[Runs]:
        first = next(found)
        self.missing.note(first, self.limits)
        yield first
        yield from found

    def _scored(self, packed: NDArray[np.uint64], decision: Decision, first: int, upto: int) -> Found:
        source = self.collection
        a, b = unpack(packed, first, node_type(len(source)))
        chosen = decision.possible(source.counts_of(a), source.counts_of(b))
        if self.focus is not None:
            chosen &= self.focus[a] | self.focus[b]
        a, b = a[chosen], b[chosen]
        scores = source.scores(a, b)
        kept = decision.kept(source.counts_of(a), source.counts_of(b), scores)
        a, b, scores = a[kept], b[kept], scores[kept]
        return Found(a, b, scores, decision.unsure(source.counts_of(a), source.counts_of(b), scores), upto)


def _blocks(work: NDArray[np.int64], start: int) -> Iterator[tuple[int, int]]:
    """Ranges of contents with about BLOCK candidates each."""
    reached = np.cumsum(work)
    total = int(reached[-1]) if len(reached) else 0
    cuts = np.searchsorted(reached, np.arange(BLOCK, total, BLOCK)) + 1
    steps = np.arange(start, len(work), BLOCK_NODES)  # a pair is packed with its place in the block
    edges = np.unique(np.concatenate(([start], cuts, steps, [len(work)])))
    edges = edges[edges >= start]
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def _bounded(written: Written, first: int, last: int) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """(content up to which, the candidates until there), in parts that do not take more memory than they should."""
    ends = [last]
    while ends:
        packed = written(first, ends[-1])
        if packed is None:
            ends.append((first + ends[-1]) // 2)
            continue
        first = ends.pop()
        yield first, packed


def _distinct(layers: list[_Stored], emitted: Emit, first: int, last: int) -> NDArray[np.uint64] | None:
    """The candidates of a range of contents, each once; None where they are too many to be written out at once."""
    parts, size = [np.empty(0, np.uint64)], 0
    for stored in layers:
        for part in stored.emit(emitted, first, last):
            parts.append(part)
            size += len(part)
            if size > 2 * BLOCK:  # a representative of large buckets meets the same contents in many columns
                parts = [_once(parts)]
                size = len(parts[0])
                if size > BLOCK and last - first > 1:
                    return None
    return _once(parts)


def _all(
    members: Nodes, node: Nodes, start: NDArray[np.int64], tail: NDArray[np.int64], first: int
) -> Iterator[NDArray[np.uint64]]:
    """Whatever the filters say."""
    yield emit(members, node, start, tail, first)


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
        self._node: type[np.int32] | type[np.int64] = made.node.dtype.type
        self._count = node_type(self._members + 1)
        arrays = (made.node, made.start.astype(self._count), made.tail.astype(self._count), made.members)
        self._places = [spill.append(array) for array in arrays]

    def emit(self, emitted: Emit, first: int, last: int) -> Iterator[NDArray[np.uint64]]:
        node = self._spill.read(self._places[0], self._entries, self._node)
        low, high = np.searchsorted(node, [first, last]).tolist()
        if low == high:
            return
        width = np.dtype(self._count).itemsize
        start, tail = (
            self._spill.read(place + width * low, high - low, self._count).astype(np.int64)
            for place in self._places[1:3]
        )
        members = self._spill.read(self._places[3], self._members, self._node)
        yield from emitted(members, node[low:high], start, tail, first)

"""Which contents to compare, from their bucket keys alone: key columns → candidate pairs, each once (pure numpy).

A content is a number, given in the order of the fingerprints, which are as good as random. Contents with an equal key
form a bucket. A bucket up to `Limits.bucket` is compared all with all. In a larger one the first few contents stand
for all others: everything is compared with these representatives only, and the bucket is cut by the next key column
into finer buckets, for which the same holds. So the work grows with the size of a bucket, not with its square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int32]
KeyColumn = Callable[[int], NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much work one bucket may cause.

    Measured: of the 113,363 pairs in 124,190 package descriptions a limit of 400 loses none, 200 four, 100 743 and 50
    every twelfth; where all texts share two thirds of their words, 1,000 takes 1.5 times as long as 400, 5,000 11 times
    """

    bucket: int = 400
    representatives: int = 16
    depth: int = 3  # key columns that may cut a large bucket


@dataclass(frozen=True)
class Runs:
    """Buckets of at least two members, one after the other; members of a bucket in ascending order."""

    members: Nodes
    number: NDArray[np.int64]  # the bucket of each member
    rank: NDArray[np.int64]  # its place in the bucket
    size: NDArray[np.int64]  # the bucket's size

    def tails(self, limits: Limits) -> NDArray[np.int64]:
        """With how many of its followers in the bucket each member is compared."""
        compared = (self.size <= limits.bucket) | (self.rank < limits.representatives)
        return np.where(compared, self.size - self.rank - 1, 0)


def runs(members: Nodes, *keys: NDArray[np.int64]) -> Runs:
    """Members, in ascending order within each bucket, by equal keys; the last key varies fastest."""
    order = np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
    first = np.zeros(len(order) + 1, bool)  # where a bucket begins, and the end of the last
    first[[0, -1]] = True
    for key in keys:
        found = key[order]
        first[1:-1] |= found[1:] != found[:-1]
    several = ~(first[:-1] & first[1:])  # most members are alone, so they are left out before anything is counted
    order, first = order[several], first[:-1][several]
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=len(order))
    number = np.repeat(np.arange(len(starts)), sizes)
    return Runs(members[order], number, np.arange(len(order)) - starts[number], sizes[number])


def levels(column: int, columns: int, key: KeyColumn, limits: Limits) -> Iterator[Runs]:
    """The buckets of one key column, then those that the following columns make of the large ones."""
    first = key(column)
    level = runs(np.arange(len(first), dtype=np.int32), first)
    del first
    yield level
    for depth in range(1, min(limits.depth, columns - 1) + 1):
        large = level.size > limits.bucket
        if not large.any():
            return
        members = level.members[large]
        level = runs(members, level.number[large], key((column + depth) % columns)[members])
        yield level


@dataclass(frozen=True)
class Layer:
    """Candidate pairs in compressed form: node[i] with members[start[i] : start[i] + tail[i]]; nodes ascend."""

    members: Nodes
    node: Nodes
    start: NDArray[np.int32]
    tail: NDArray[np.int32]


def layer(level: Runs, limits: Limits) -> Layer:
    tails = level.tails(limits)
    chosen = np.flatnonzero(tails)
    chosen = chosen[np.argsort(level.members[chosen], kind="stable")]
    return Layer(level.members, level.members[chosen], (chosen + 1).astype(np.int32), tails[chosen].astype(np.int32))


def emit(members: Nodes, node: Nodes, start: NDArray[np.int32], tail: NDArray[np.int32]) -> NDArray[np.uint64]:
    """The pairs written out and packed: smaller node · 2³² + larger node."""
    total = int(tail.sum(dtype=np.int64))
    begin = start.astype(np.int64) - (np.cumsum(tail, dtype=np.int64) - tail)
    other = members[np.repeat(begin, tail) + np.arange(total)]
    return pack(np.repeat(node, tail), other)


def pack(a: Nodes, b: Nodes) -> NDArray[np.uint64]:
    return a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)


def unpack(pairs: NDArray[np.uint64]) -> tuple[Nodes, Nodes]:
    return (pairs >> np.uint64(32)).astype(np.int32), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int32)


def unsettled(level: Runs, changed: NDArray[np.bool_], limits: Limits) -> Nodes:
    """Members whose comparisons may be others than before, because `changed` members came to a bucket or left it.

    A member counts if it would be treated differently with all the changed members there and with none of them.
    """
    came = changed[level.members].astype(np.int64)
    before = np.cumsum(came) - came
    start = np.flatnonzero(level.rank == 0)
    bucket = np.repeat(np.arange(len(start)), level.size[start])
    in_bucket = np.add.reduceat(came, start)[bucket] if len(start) else came
    rank = level.rank - (before - before[start][bucket])
    size = level.size - in_bucket
    with_all = (level.size <= limits.bucket) | (level.rank < limits.representatives)
    with_none = (size <= limits.bucket) | (rank < limits.representatives)
    found: Nodes = level.members[(with_all != with_none) & (came == 0)]
    return found

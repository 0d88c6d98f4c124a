"""Which contents to compare, from their bucket keys alone: key columns → candidate pairs, each once (pure numpy).

A content is a number, given in the order of the fingerprints, which are as good as random. Contents with an equal key
form a bucket. A bucket up to `Limits.bucket` is compared all with all. In a larger one the first few contents stand
for all others: everything is compared with these representatives only, and the bucket is joined once more through
every later key column, into finer buckets for which the same holds (finer ones still are cut by the column that
follows). So the work grows with the size of a bucket, not with its square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[Any]  # int32, or int64 where there are more contents than that numbers
KeyColumn = Callable[[int, Nodes | None], NDArray[np.int64]]  # a column's keys, of some contents or of all

FEWEST = 400  # contents of a bucket that is always compared all with all: 80,000 pairs, some ten milliseconds
BUDGET = 300  # candidates a content: they take about as long to compare as its text took to sign
FREE = 20_000_000  # candidates that are compared in any case: some ten seconds
MIX = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio, odd: a one-to-one map
SAMPLED = 4  # key columns on which the cost of a limit is measured
PART = 1 << 18  # of an array, worked on at once
NODE_BITS = 40  # of a packed pair for the larger content; the rest for the smaller one, counted from the block's first
BLOCK_NODES = 1 << (64 - NODE_BITS)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much work one bucket may cause; a `bucket` of 0 stands for the largest that the table can afford."""

    bucket: int = 0
    representatives: int = 16
    depth: int = 3  # key columns that may cut a large bucket


@dataclass(frozen=True)
class Runs:
    """Buckets of at least two members, one after the other; members of a bucket in ascending order."""

    members: Nodes
    number: NDArray[np.int64]  # the bucket of each member
    rank: NDArray[np.int64]  # its place in the bucket
    size: NDArray[np.int64]  # the bucket's size
    outer: NDArray[np.int64]  # the first key of each member: the number of the bucket that was cut

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
    rank = np.arange(len(order)) - starts[number]
    return Runs(members[order], number, rank, sizes[number], keys[0][order])


def levels(column: int, columns: int, key: KeyColumn, limits: Limits) -> Iterator[Runs]:
    """The buckets of one key column, then those that the later columns make of the large ones."""
    return (level for level, _ in _levels(column, columns, key, limits))


def _levels(column: int, columns: int, key: KeyColumn, limits: Limits) -> Iterator[tuple[Runs, NDArray[np.int64]]]:
    """Each with the sizes of the buckets that were cut, by their numbers; none for the first."""
    level = _first(key(column, None))
    yield level, np.empty(0, np.int64)
    # a pair that shares two keys is in both buckets: the later column of the two is enough
    yield from _finer(level, range(column + 1, columns), columns, key, limits, 1)


def _first(keys: NDArray[np.int64]) -> Runs:
    """All contents by equal keys."""
    members = shared(keys).astype(node_type(len(keys)))
    return runs(members, keys[members])


def shared(keys: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Places of keys that may be there more than once, ascending: all those that are, and hardly any others.

    Most are alone: a sort of shortened keys, which takes a tenth, leaves them out.
    """
    low = np.uint64((1 << max(1, (len(keys) - 1).bit_length())) - 1)
    packed = keys.view(np.uint64) * MIX  # so that the upper bits tell keys apart that differ in any
    packed &= ~low
    for part in _parts(packed):  # in the lower bits the content's number
        packed[part] |= np.arange(part.start, part.stop, dtype=np.uint64)
    packed.sort()
    several = np.zeros(len(keys), bool)
    for part in _parts(packed[1:]):
        alike = (packed[1:][part] ^ packed[:-1][part]) <= low
        several[1:][part] = alike
        several[:-1][part] |= alike
    packed = packed[several]
    packed &= low
    packed.sort()
    return packed


def _parts(values: NDArray[Any]) -> Iterator[slice]:
    """So that what is computed on the way does not take as much memory as the values."""
    for start in range(0, len(values), PART):
        yield slice(start, min(start + PART, len(values)))


def _finer(
    level: Runs, by: range, columns: int, key: KeyColumn, limits: Limits, depth: int
) -> Iterator[tuple[Runs, NDArray[np.int64]]]:
    large = level.size > limits.bucket
    if depth > limits.depth or not large.any():
        return
    members, number = level.members[large], level.number[large]
    sizes = level.size[level.rank == 0]
    # in all bits, so that the sum with a key is rarely another's
    bucket = (number.view(np.uint64) * MIX).view(np.int64)
    for column in by:
        keys = key(column, members)
        several = shared(keys + bucket)  # half of them are alone now, which is seen in a third of the time
        finer = runs(members[several], number[several], keys[several])
        yield finer, sizes
        yield from _finer(finer, range(column + 1, min(column + 2, columns)), columns, key, limits, depth + 1)


def affordable(columns: int, key: KeyColumn, limits: Limits, contents: int) -> Limits:
    """These limits with the largest bucket for which the expected number of candidates stays within the budget.

    Measured on some columns. It follows from the keys alone, so that every engine finds the same number; a run stores
    it with the pairs, and changes are worked in by it.
    """
    if limits.bucket:
        return limits
    sizes, outer = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for column in measured_columns(columns):
        for level, before in _levels(column, columns, key, replace(limits, bucket=FEWEST)):
            heads = level.rank == 0
            sizes.append(level.size[heads])
            outer.append(before[level.outer[heads]] if len(before) else np.full(heads.sum(), contents + 1))
    size, parent = np.concatenate(sizes), np.concatenate(outer)
    return largest_affordable(size, parent, np.ones(len(size), np.int64), columns, contents, limits)


def measured_columns(columns: int) -> range:
    """Those on which the cost of a limit is measured."""
    return range(0, columns, -(-columns // SAMPLED)) if columns else range(0)


def largest_affordable(
    size: NDArray[np.int64],
    parent: NDArray[np.int64],
    times: NDArray[np.int64],
    columns: int,
    contents: int,
    limits: Limits,
) -> Limits:
    """From how often a bucket of some size was cut out of one of the size `parent` in the measured columns."""
    most = max(FREE, BUDGET * contents) * len(measured_columns(columns)) / max(columns, 1)
    bucket = FEWEST
    while bucket < contents and _cost(size, parent, times, replace(limits, bucket=2 * bucket)) <= most:
        bucket *= 2
    return replace(limits, bucket=bucket)


def _cost(size: NDArray[np.int64], parent: NDArray[np.int64], times: NDArray[np.int64], limits: Limits) -> float:
    """Candidates, if buckets were compared within these limits."""
    cut = parent > limits.bucket
    there, often = size[cut].astype(np.float64), times[cut]
    pairs = np.where(there <= limits.bucket, there * (there - 1) / 2, limits.representatives * there)
    return float((pairs * often).sum())


@dataclass(frozen=True)
class Layer:
    """Candidate pairs in compressed form: node[i] with members[start[i] : start[i] + tail[i]]; nodes ascend."""

    members: Nodes
    node: Nodes
    start: NDArray[np.int64]
    tail: NDArray[np.int64]


def layer(levels: Iterable[Runs], limits: Limits) -> Layer:
    """Of the buckets of one column, however fine; of a level only its members and its pairs are kept."""
    members: list[Nodes] = []
    starts, tails, done = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for level in levels:
        tail = level.tails(limits)
        chosen = np.flatnonzero(tail)
        members.append(level.members)
        starts.append(chosen + (done + 1))
        tails.append(tail[chosen])
        done += len(tail)
    every, start, tail = np.concatenate(members), np.concatenate(starts), np.concatenate(tails)
    order = np.argsort(every[start - 1], kind="stable")
    start = start[order]
    return Layer(every, every[start - 1], start, tail[order])


def node_type(contents: int) -> type[np.int32] | type[np.int64]:
    """The smallest type that numbers so many."""
    return np.int32 if contents < 2**31 else np.int64


def emit(
    members: Nodes, node: Nodes, start: NDArray[np.int64], tail: NDArray[np.int64], first: int
) -> NDArray[np.uint64]:
    """The pairs written out and packed: (smaller node - first) · 2⁴⁰ + larger node."""
    total = int(tail.sum(dtype=np.int64))
    begin = start.astype(np.int64) - (np.cumsum(tail, dtype=np.int64) - tail)
    other = members[np.repeat(begin, tail) + np.arange(total)]
    return pack(np.repeat(node, tail), other, first)


def pack(a: Nodes, b: Nodes, first: int = 0) -> NDArray[np.uint64]:
    return (a.astype(np.int64) - first).astype(np.uint64) << np.uint64(NODE_BITS) | b.astype(np.uint64)


def unpack(pairs: NDArray[np.uint64], first: int, dtype: type[np.int32] | type[np.int64]) -> tuple[Nodes, Nodes]:
    a = (pairs >> np.uint64(NODE_BITS)).astype(np.int64) + first
    return a.astype(dtype), (pairs & np.uint64((1 << NODE_BITS) - 1)).astype(dtype)


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

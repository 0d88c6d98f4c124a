"""What the last run of a link has seen, so that the next compares only what changed: Memory ↔ dbsim_<A>_linked.

A row is remembered by a number drawn from its key, with the fingerprint of its content; a row of A also with its bucket
keys as B makes them (32 bits of each are enough: more rows are asked, never fewer), and all its pairs. Runs add parts;
the last part that knows a row is right. When more than half is outdated, everything is written anew.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, Table, Text, delete, insert, select

from dbsim.tables.index_tables import memory_name
from dbsim.tables.source import Key

Numbers = NDArray[np.int64]
GONE, AGAIN = -1, -2  # in the place of a fingerprint, which is never negative
PART = 50_000  # rows of A in one value
SPARE = 1000  # outdated entries that are no reason to write everything anew


@dataclass(frozen=True)
class Seen:
    """Rows of one side, by number, in ascending order once they are read."""

    numbers: Numbers
    contents: Numbers

    @staticmethod
    def none() -> Seen:
        return Seen(np.empty(0, np.int64), np.empty(0, np.int64))

    def differs(self, numbers: Numbers, contents: Numbers) -> NDArray[np.bool_]:
        """Which of these rows, as they are now, are unknown or have another content."""
        if not len(self.numbers):
            return np.ones(len(numbers), bool)
        place = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        differs: NDArray[np.bool_] = (self.numbers[place] != numbers) | (self.contents[place] != contents)
        return differs

    def gone(self, numbers: Numbers) -> Numbers:
        """Rows that are not among these any more."""
        return self.numbers[~np.isin(self.numbers, numbers)]


@dataclass(frozen=True)
class Memory:
    """`keys`: rows of A × B's bucket keys; `left`, `right`, `scores`: pairs, by numbers."""

    a: Seen
    b: Seen
    keys: NDArray[np.uint32]
    left: Numbers
    right: Numbers
    scores: NDArray[np.float64]

    @staticmethod
    def none(keys: int = 0) -> Memory:
        nothing = np.empty(0, np.int64)
        return Memory(Seen.none(), Seen.none(), np.empty((0, keys), np.uint32), nothing, nothing, np.empty(0))

    def sharing(self, keys: NDArray[np.uint32]) -> Numbers:
        """Rows of A that share a bucket with one of these rows of B."""
        found = np.zeros(len(self.keys), bool)
        for mine, theirs in zip(self.keys.T, keys.T, strict=True):
            found |= np.isin(mine, theirs)
        return self.a.numbers[found]

    def paired(self, numbers: Numbers) -> Numbers:
        """Rows of A that have a pair with one of these rows of B."""
        return self.left[np.isin(self.right, numbers)]

    def without(self, asked: Numbers, gone: Numbers) -> NDArray[np.bool_]:
        """The pairs of rows that were neither asked anew nor have gone."""
        return ~np.isin(self.left, np.concatenate([asked, gone]))

    def parts(self) -> list[Memory]:
        """In values of a moderate size; rows of B are in the first."""
        found = []
        for start in range(0, max(len(self.a.numbers), 1), PART):
            some = slice(start, start + PART)
            mine = np.isin(self.left, self.a.numbers[some])
            found.append(
                Memory(
                    Seen(self.a.numbers[some], self.a.contents[some]),
                    Seen.none() if start else self.b,
                    self.keys[some],
                    self.left[mine],
                    self.right[mine],
                    self.scores[mine],
                )
            )
        return found

    def __len__(self) -> int:
        return len(self.a.numbers) + len(self.b.numbers)


@dataclass(frozen=True)
class Kept:
    """The memory of one link as it is stored: between what it was made, by which run, and in how many entries."""

    memory: Memory
    token: str
    last: int = 0
    entries: int = 0


def number_of(key: Key) -> int:
    """1 and "1" are two keys: SQLite may hold both in one column."""
    return int.from_bytes(blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def numbers_of(keys: Sequence[Key]) -> Numbers:
    return np.fromiter(map(number_of, keys), np.int64, len(keys))


def shortened(keys: Sequence[Sequence[int]], width: int) -> NDArray[np.uint32]:
    """32 bits of every bucket key."""
    whole = np.array(keys, np.int64).reshape(len(keys), width)
    return np.ascontiguousarray(whole).view(np.uint64).astype(np.uint32)


def memory_table(index: str) -> Table:
    """dbsim_<A>_linked: one for all links of index A; part 0 says between what a link is."""
    return Table(
        memory_name(index),
        MetaData(),
        Column("links", Text, primary_key=True),
        Column("part", Integer, primary_key=True, autoincrement=False),
        Column("content", LargeBinary, nullable=False),
    )


def token_of(connection: Connection, table: Table, links: str) -> tuple[str, str]:
    """(between what, which run) of what is stored; empty without."""
    query = select(table.c.content).where(table.c.links == links, table.c.part == 0)
    found = connection.scalar(query)
    return ("", "") if found is None else tuple(json.loads(bytes(found)))


def load(connection: Connection, table: Table, links: str, between: str, keys: int) -> Kept:
    """Nothing when it is of other indexes, options or models than now."""
    known, token = token_of(connection, table, links)
    if known != between:
        return Kept(Memory.none(keys), token)
    query = select(table.c.part, table.c.content).where(table.c.links == links, table.c.part > 0).order_by(table.c.part)
    rows = connection.execute(query).all()
    parts = [_read(bytes(content)) for _, content in rows]
    if not parts:
        return Kept(Memory.none(keys), token)
    return Kept(_latest(parts), token, rows[-1][0], sum(map(len, parts)))


def save(connection: Connection, table: Table, links: str, kept: Kept, made: Memory, between: str, token: str) -> None:
    """Add what a run has seen; `made` is everything when `kept` is empty."""
    mine = table.c.links == links
    last, whole = kept.last, made
    if not last:
        connection.execute(delete(table).where(mine))
    elif kept.entries + len(made) > 2 * len(kept.memory) + SPARE:
        whole, last = _latest([kept.memory, made]), 0
        connection.execute(delete(table).where(mine))
    else:
        connection.execute(delete(table).where(mine, table.c.part == 0))
    rows = [{"links": links, "part": 0, "content": json.dumps([between, token]).encode()}]
    rows += [
        {"links": links, "part": last + number, "content": _written(part)}
        for number, part in enumerate(whole.parts(), start=1)
    ]
    for row in rows:
        connection.execute(insert(table), row)


def _latest(parts: Sequence[Memory]) -> Memory:
    """What the last part says of every row, without those that are gone."""
    a, b = (_last([getattr(part, side).numbers for part in parts]) for side in ("a", "b"))
    mine, theirs = (_together([getattr(part, side) for part in parts]) for side in ("a", "b"))
    of_row = np.repeat(np.arange(len(parts)), [len(part.a.numbers) for part in parts])
    a, b = a[mine.contents[a] != GONE], b[theirs.contents[b] != GONE]
    of_pair = np.repeat(np.arange(len(parts)), [len(part.left) for part in parts])
    left, right = (np.concatenate([getattr(part, side) for part in parts]) for side in ("left", "right"))
    numbers = mine.numbers[a]
    place = np.minimum(np.searchsorted(numbers, left), max(len(numbers) - 1, 0))
    valid = (numbers[place] == left) & (of_row[a][place] == of_pair) if len(numbers) else np.zeros(len(left), bool)
    return Memory(
        Seen(numbers, mine.contents[a]),
        Seen(theirs.numbers[b], theirs.contents[b]),
        np.concatenate([part.keys for part in parts])[a],
        left[valid],
        right[valid],
        np.concatenate([part.scores for part in parts])[valid],
    )


def _last(numbers: Sequence[Numbers]) -> Numbers:
    """Where each number stands last, in the order of the numbers."""
    every = np.concatenate(numbers)
    first = np.unique(every[::-1], return_index=True)[1]
    return len(every) - 1 - first


def _together(seen: Sequence[Seen]) -> Seen:
    return Seen(np.concatenate([one.numbers for one in seen]), np.concatenate([one.contents for one in seen]))


def _arrays(part: Memory) -> dict[str, NDArray[Any]]:
    flat = {field.name: getattr(part, field.name) for field in fields(part)}
    for side in ("a", "b"):
        seen = flat.pop(side)
        flat |= {f"{side}_numbers": seen.numbers, f"{side}_contents": seen.contents}
    return flat


def _written(part: Memory) -> bytes:
    into = io.BytesIO()
    np.savez(into, allow_pickle=False, **_arrays(part))
    return into.getvalue()


def _read(content: bytes) -> Memory:
    with np.load(io.BytesIO(content), allow_pickle=False) as found:
        a, b = (Seen(found[f"{side}_numbers"], found[f"{side}_contents"]) for side in ("a", "b"))
        return Memory(a, b, *(found[name] for name in ("keys", "left", "right", "scores")))

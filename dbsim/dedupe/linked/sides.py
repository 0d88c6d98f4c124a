"""The rows of an index as they are now, and what a link asks of the other one: SearchEngine → Side, bucket keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, select

from dbsim.dedupe.linked.memory import Numbers, numbers_of, shortened
from dbsim.search.searcher import SearchEngine
from dbsim.tables.key_conditions import after, among, chunks, key_columns
from dbsim.tables.source import Key

PAGE = 20_000  # rows whose key and fingerprint are read at once


@dataclass(frozen=True)
class Side:
    """Rows that have a content, in the order of their keys."""

    keys: list[Key]
    contents: Numbers

    @staticmethod
    def of(search: SearchEngine) -> Side:
        rows = [row for page in _pages(search) for row in page]
        return Side([tuple(row[:-1]) for row in rows], np.array([row[-1] for row in rows], np.int64))

    @cached_property
    def numbers(self) -> Numbers:
        return numbers_of(self.keys)

    @cached_property
    def by_number(self) -> dict[int, int]:
        """The place of each row."""
        return {number: place for place, number in enumerate(self.numbers.tolist())}

    def __len__(self) -> int:
        return len(self.keys)


def _pages(search: SearchEngine) -> Iterator[Sequence[tuple[object, ...]]]:
    stored, tables = search.tables.signatures, search.tables
    keys, content = key_columns(stored, tables), stored.c[tables.names.fingerprint]
    query = select(*keys, content).where(content.is_not(None)).order_by(*keys).limit(PAGE)
    page = search.read(partial(_rows, query=query))
    while page:
        yield page
        page = search.read(partial(_rows, query=query.where(after(keys, tuple(page[-1][:-1])))))


def _rows(connection: Connection, query: Select[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [tuple(row) for row in connection.execute(query)]


def bucket_keys(search: SearchEngine, keys: Sequence[Key]) -> NDArray[np.uint32]:
    """32 bits of the bucket keys of these rows, of those that are there still."""
    stored, tables = search.tables.signatures, search.tables
    columns = [stored.c[name] for name in tables.names.keys]
    found: list[tuple[object, ...]] = []
    for some in chunks(keys, search.backend.key_batch):
        there = among(key_columns(stored, tables), some)
        query = select(*columns).where(there, stored.c[tables.names.fingerprint].is_not(None))
        found += search.read(partial(_rows, query=query))
    return shortened(found, len(columns))  # type: ignore[arg-type]


def waiting(search: SearchEngine) -> Numbers:
    """Rows that have been changed and are not signed again yet: a text that decided may be another one soon."""
    tables = search.tables
    queue = tables.queue
    query = select(*key_columns(queue, tables)).distinct()
    if not search.read(lambda c: search.backend.has_table(c, queue.name)):
        return np.empty(0, np.int64)
    return numbers_of([row for row in search.read(partial(_rows, query=query)) if None not in row])

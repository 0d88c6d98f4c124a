"""Is this person already here? A row that is not in the table yet → Matches; insert it only when there are none.

All happens in the caller's transaction. Two transactions that bring near-copies of one person share a bucket key, and
so a lock: the second waits until the first has ended, and then sees its row. Keys are locked in ascending order, so
that no two transactions wait for each other; rows without a key in common do not wait.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, column, delete, insert, select, table

from dbsim.engines.signature_rows import as_signatures
from dbsim.errors import InvalidOption
from dbsim.hashing.records.waterfall import Waterfall, waterfalls
from dbsim.hashing.signer import Signatures
from dbsim.lifecycle import groups as stored_groups
from dbsim.search.limits import Search
from dbsim.search.query import Query
from dbsim.search.searcher import SearchEngine
from dbsim.sync import models
from dbsim.sync.refresh import store
from dbsim.tables.catalogue import generations, is_ready, is_unchanged
from dbsim.tables.group_tables import GroupTables, note_changes
from dbsim.tables.key_conditions import among, key_columns, sendable
from dbsim.tables.source import Key, public_key

WAITING = 1000  # rows in the queue that are looked at beside the index
MATCHES = 10


@dataclass(frozen=True)
class Match:
    """A row of the table, the probability that it is the same person, and what speaks for and against it."""

    key: Any
    probability: float
    evidence: Waterfall

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "probability": self.probability, "evidence": self.evidence.to_json()}


@dataclass(frozen=True)
class Admission:
    """Whether the row was inserted, its key if it was, and the rows that stood in its way if it was not."""

    inserted: bool
    key: Any
    matches: list[Match]


@dataclass(frozen=True)
class Door:
    """The questions before a row is inserted, to one generation of an index of persons."""

    search: SearchEngine

    def __post_init__(self) -> None:
        if not self.search.options.hashing.rarity:
            raise InvalidOption(
                f"index {self.search.options.name!r} is not about persons: create one with `dbsim create --records`"
            )

    def check(
        self, connection: Connection, row: Mapping[str, Any], probability: float, limit: int = MATCHES
    ) -> list[Match]:
        """Rows that are this person with at least this probability, best first."""
        return self._matches(connection, self._sign(connection, row), probability, limit)

    def add(self, connection: Connection, row: Mapping[str, Any], probability: float) -> Admission:
        """Insert the row unless somebody like it is there."""
        if not is_ready(connection, self.search.options.name):
            raise InvalidOption(f"index {self.search.options.name!r} is not filled yet: run `dbsim sync` first")
        signed = self._sign(connection, row)
        keys = signed.keys[0].tolist() if signed.present[0] else []
        self.search.backend.lock_buckets(connection, self.search.tables, sorted(set(keys)))
        found = self._matches(connection, signed, probability, MATCHES)
        if found:
            return Admission(False, None, found)
        key = self._insert(connection, row)
        self._index(connection, key)
        return Admission(True, public_key(self.search.tables.key_names, key), [])

    # ── steps ──
    def _sign(self, connection: Connection, row: Mapping[str, Any]) -> Signatures:
        models.require(connection, self.search.tables, self.search.signer)
        fields = self.search.options.fields
        if not any(name in row for field in fields for name in field.columns):
            names = ", ".join(field.name for field in fields)
            raise InvalidOption(f"the row has none of the columns that tell persons apart: give some of {names}")
        texts = [["\n".join(as_text(row.get(name)) for name in field.columns)] for field in fields]
        return self.search.signer.sign(texts)

    def _matches(self, connection: Connection, signed: Signatures, probability: float, limit: int) -> list[Match]:
        query = Query.of(signed)[0]
        if query is None:
            return []
        bounds = Search(threshold=probability, limit=limit).bounds(self.search.options)
        hits = self.search.search(query, bounds, None, connection)
        keys = [self._key(hit.key) for hit in hits]
        found = self._stored(connection, signed, keys) if keys else []
        found += [match for match in self._waiting(connection, signed, keys) if match.probability >= probability]
        return sorted(found, key=lambda match: -match.probability)[:limit]

    def _stored(self, connection: Connection, signed: Signatures, keys: Sequence[Key]) -> list[Match]:
        tables = self.search.tables
        query = select(tables.signatures).where(among(key_columns(tables.signatures, tables), list(keys)))
        rows = [tuple(row) for row in connection.execute(query)]
        width = len(tables.key_names)
        others = as_signatures(self.search.backend, tables, rows, skip=width)
        return self._compared(signed, others, [row[:width] for row in rows])

    def _waiting(self, connection: Connection, signed: Signatures, known: Sequence[Key]) -> list[Match]:
        """Rows that others wrote and no worker has indexed yet, compared one by one."""
        keys = self.search.backend.pending(connection, self.search.tables, WAITING)
        wanted = list(dict.fromkeys(key for key in keys if key not in set(known) and sendable(key)))
        found: list[Match] = []
        if wanted:
            for batch in self.search.source_texts(connection, wanted):
                found += self._compared(signed, self.search.signer.sign(batch.columns), batch.keys)
        return found

    def _compared(self, signed: Signatures, others: Signatures, keys: Sequence[Key]) -> list[Match]:
        learned = self.search.learned
        assert learned is not None
        names = [field.name for field in self.search.options.fields]
        shown = [public_key(self.search.tables.key_names, key) for key in keys]
        made = waterfalls(learned, names, signed, others)
        return [
            Match(key, one.probability, one)
            for key, one, there in zip(shown, made, others.present.tolist(), strict=True)
            if there
        ]

    def _key(self, shown: Any) -> Key:
        names = self.search.tables.key_names
        return (shown,) if len(names) == 1 else tuple(shown[name] for name in names)

    def _insert(self, connection: Connection, row: Mapping[str, Any]) -> Key:
        options, names = self.search.options, self.search.tables.key_names
        columns = dict.fromkeys([*row, *names])
        target = table(options.table, *(column(name) for name in columns), schema=options.schema)
        statement = insert(target).values(dict(row)).returning(*(target.c[name] for name in names))
        return tuple(connection.execute(statement).one())

    def _index(self, connection: Connection, key: Key) -> None:
        """Nobody else can see the row, so that it needs no lock; the trigger has queued it for other generations."""
        backend, tables = self.search.backend, self.search.tables
        for batch in self.search.source_texts(connection, [key]):
            store(connection, backend, tables, batch, self.search.signer.sign(batch.columns))
        if stored_groups.exist(connection, backend, GroupTables(tables)) and is_unchanged(connection, tables.record):
            note_changes(connection, tables, [key], 1)
        if backend.writers_wait and len(generations(connection, tables.record.name)) == 1:
            # nobody changes that before this transaction ends; the next one at the door need not look at the row again
            connection.execute(delete(tables.queue).where(among(key_columns(tables.queue, tables), [key])))


def as_text(value: Any) -> str:
    """As both databases write it."""
    if value is None:
        return ""
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, bytes | np.ndarray | list | dict):
        raise InvalidOption(f"a value of type {type(value).__name__} is no part of a person's record: give text")
    return str(value)

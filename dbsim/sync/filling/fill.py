"""Fill one generation of an index in key order, build its B-trees, open it: one transaction a batch, resumable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, text
from sqlalchemy.schema import DropTable

from dbsim.engines.context import Stage
from dbsim.engines.pause import AIM, Pace
from dbsim.engines.source_rows import source_rows, texts
from dbsim.hashing.bloom import cardinality
from dbsim.lifecycle.create import show
from dbsim.progress import Progress
from dbsim.sync import models
from dbsim.sync.filling.ahead import Ahead
from dbsim.sync.filling.crowd import Crowd, processes
from dbsim.sync.filling.parts import Parts
from dbsim.sync.presign import SignedAhead
from dbsim.sync.refresh import last_stored, quarantine_unreadable, store
from dbsim.tables import catalogue
from dbsim.tables.index_tables import parts_name
from dbsim.tables.key_conditions import after, up_to
from dbsim.tables.source import Key, Texts

LOOKED_AT = 200  # rows, for how long their texts are


@dataclass
class Filling(Stage):
    """Any number of these may work on one generation at once: the index's row in the catalogue is their lock."""

    progress: Progress
    meanwhile: Callable[[], object]  # after each transaction: keeps the generation that is searched in step

    workers: int | None = None  # processes; None: the machine's, if the table is large enough for that to pay
    gentle: bool = False  # B-trees are there before the rows, so that no transaction is long
    pace: Pace = field(init=False)
    _shared: bool = False  # whether there were parts in the last transaction

    def __post_init__(self) -> None:
        super().__post_init__()
        self.pace = Pace(self.backend.fill_batch, self.backend.writers_wait)

    def run(self) -> int:
        """Rows in primary key order; the last row stored is the place to go on from, or that of each part."""
        if (start := self.read(self._look)) is None:
            return 0
        stored, total = start
        several = processes(self.context, self.workers, total - stored, self._characters)
        shown = partial(self._show, stored, total)
        if self.gentle:
            self._build_indexes()
        filled = Crowd(self, several, shown, self.meanwhile).run() if several > 1 else 0
        next_batch = Ahead(self).store if self.backend.writers_wait else self._batch
        more = True
        while more:  # what the application adds behind the last row is read at the end: it may add for ever
            step, more = next_batch()
            filled += step
            shown(filled)
            if more:
                self.meanwhile()
        self._build_indexes()
        unreadable = self.read(lambda c: self.backend.unreadable_keys(c, self.tables))
        while not self.write(partial(self._open, unreadable=unreadable)):
            self.meanwhile()
        return filled

    def _show(self, stored: int, total: int, filled: int) -> None:
        self.progress("reading", stored + filled, max(total, stored + filled))

    def step(
        self, connection: Connection, signer: SignedAhead, upto: Key | None = None, size: int | None = None
    ) -> int:
        """Sign and store the next rows, as far as that key, or so many if given; 0 when there are no more."""
        return self._advance(connection, signer, upto, size) if self.unfinished(connection, lock=True) else 0

    def _advance(
        self, connection: Connection, signer: SignedAhead, upto: Key | None = None, size: int | None = None
    ) -> int:
        self._shared = self.parts_exist(connection)
        if self._shared:
            left = [part for part in self.parts.all(connection) if not part.done or part.upto is None]
            return next((done for part in left if (done := self.fill_part(connection, part.number, signer))), 0)
        columns, last = self.tables.source_key, last_stored(connection, self.tables)
        conditions = [] if last is None else [after(columns, last)]
        if upto is None:
            return self._store(connection, signer, conditions, size or self.pace.size)[0]
        return self._store(connection, signer, [*conditions, up_to(columns, upto)], None)[0]

    def fill_part(self, connection: Connection, number: int, signer: SignedAhead) -> int:
        """The next rows of a part, whose row in the table of parts is locked; 0 when it has no more."""
        part = self.parts.take(connection, number)
        rest = part.rest(self.tables.source_key)
        stored, last = self._store(connection, signer, rest, self.pace.size)
        self.parts.reach(connection, part, last or part.reached, done=stored < self.pace.size)
        return stored

    def _store(
        self,
        connection: Connection,
        signer: SignedAhead,
        conditions: Sequence[ColumnElement[bool]],
        limit: int | None,
    ) -> tuple[int, Key | None]:
        """(rows stored, the last of them)"""
        models.require(connection, self.tables, self.signer)
        done, last = 0, None
        for batch in self.next_rows(connection, conditions, limit):
            store(connection, self.backend, self.tables, batch, signer.sign(batch))
            done, last = done + len(batch), batch.keys[-1]
        return done, last

    @cached_property
    def parts(self) -> Parts:
        return Parts(self.tables)

    def parts_exist(self, connection: Connection) -> bool:
        return self.backend.has_table(connection, self._parts_name)

    @cached_property
    def _parts_name(self) -> str:
        return parts_name(self.tables.record.options.name, self.tables.record.generation)

    def _parts_left(self, connection: Connection) -> bool:
        return not all(part.done for part in self.parts.all(connection))

    def _batch(self) -> tuple[int, bool]:
        """Rows stored in one transaction, and whether there may be more."""
        done = self.pace.write(self.write, lambda c: self.step(c, SignedAhead(self.signer)))
        return done, done >= self.pace.size or (done > 0 and self._shared and self.read(self._parts_left))

    def next_rows(
        self, connection: Connection, conditions: Sequence[ColumnElement[bool]], limit: int | None
    ) -> Iterator[Texts]:
        return texts(connection, self.backend, self.tables, self._rows.where(*conditions).limit(limit))

    @cached_property
    def _rows(self) -> Select[Any]:
        """All rows in key order; one whose key is NULL, which SQLite allows, cannot be referred to."""
        columns = self.tables.source_key
        there = [column.is_not(None) for column in columns]
        return source_rows(self.backend, self.tables).where(*there).order_by(*columns)

    def unfinished(self, connection: Connection, *, lock: bool = False, share: bool = False) -> bool:
        """Neither finished by another worker nor given up by another change of options."""
        if lock:
            self.backend.share(connection, self.tables.record.name)
        return catalogue.is_unfinished(connection, self.tables.record, lock=lock, share=share)

    def _build_indexes(self) -> None:
        """As a rule after the rows: six times as fast as with each row; few a transaction, so a kill loses little."""
        count, built = len(self.tables.indexes), 0
        while built < count:
            self.progress("building indexes", built, count)
            built = self.write(partial(self._build_some, start=built))
            if built < count:
                self.meanwhile()
        self.progress("building indexes", count, count)

    def _build_some(self, connection: Connection, start: int) -> int:
        """How many there are afterwards; of a small table all at once."""
        began = time.monotonic()
        if not self.unfinished(connection, lock=True):
            return len(self.tables.indexes)
        for number in range(start, len(self.tables.indexes)):
            connection.execute(self.tables.indexes[number])
            if time.monotonic() - began > AIM / 2:
                return number + 1
        return len(self.tables.indexes)

    def build_index(self, connection: Connection, number: int) -> None:
        """One of them, beside others who build others at the same time."""
        if self.unfinished(connection, lock=True, share=True):
            connection.execute(self.tables.indexes[number])

    def _open(self, connection: Connection, unreadable: Sequence[str]) -> bool:
        """Read what was added behind the last row in the meantime; unless that was much, the generation is ready.

        Both under one lock: workers leave rows behind the last one to the filling, until they see that it is ready.
        """
        if not self.unfinished(connection, lock=True):
            return True
        if self._advance(connection, SignedAhead(self.signer)) >= self.pace.size:
            return False
        if self._shared and self._parts_left(connection):
            return False
        for size in {one.reading.marks for one in self.tables.record.options.fields}:
            _add_cardinalities(connection, size)
        if self._shared:
            connection.execute(DropTable(self.parts.table))
        quarantine_unreadable(connection, self.tables, unreadable)
        self.backend.finish_filling(connection, self.tables)
        catalogue.set_ready(connection, self.tables.record)
        if self.tables.record.searched and self.signer.family.learns:  # the views show what was learned
            show(connection, self.backend, self.tables)
        return True

    def _characters(self) -> float:
        """Of a row, as far as the first ones tell."""
        first = self.read(lambda c: list(self.next_rows(c, [], LOOKED_AT)))
        read = [text for batch in first for column in batch.columns for text in column]
        return sum(map(len, read)) / max(sum(map(len, first)), 1)

    def _look(self, connection: Connection) -> tuple[int, int] | None:
        """How many rows are stored, and of how many; None when there is nothing to fill."""
        if not self.unfinished(connection):
            return None
        counts = (select(func.count()).select_from(table) for table in (self.tables.signatures, self.tables.source))
        stored, total = (connection.scalar(count) or 0 for count in counts)
        return stored, total


def _add_cardinalities(connection: Connection, size: int) -> None:
    """The estimate behind every popcount, for SQL without a logarithm; other indexes may add the same."""
    table = catalogue.cardinality_table
    if connection.execute(select(table.c.bits).where(table.c.bits == size).limit(1)).first() is None:
        rows = [{"bits": size, "count": count, "estimate": value} for count, value in enumerate(cardinality(size))]
        statement = "INSERT INTO dbsim_cardinality (bits, count, estimate) VALUES (:bits, :count, :estimate)"
        connection.execute(text(f"{statement} ON CONFLICT (bits, count) DO NOTHING"), rows)

"""Fill one generation of an index in key order, build its B-trees, open it: one transaction a batch, resumable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, FromClause, func, select, text
from sqlalchemy.sql.ddl import CreateIndex

from dbsim.context import Stage
from dbsim.engines.source_rows import source_rows, texts
from dbsim.hashing.bloom import cardinality
from dbsim.lifecycle.create import show
from dbsim.progress import Progress
from dbsim.sync import models
from dbsim.sync.presign import Rehearsal
from dbsim.sync.refresh import last_stored, store
from dbsim.tables import catalogue
from dbsim.tables.key_conditions import after, key_columns
from dbsim.tables.source import Texts


@dataclass
class Filling(Stage):
    """Any number of these may work on one generation at once: the index's row in the catalogue is their lock."""

    progress: Progress
    meanwhile: Callable[[], object]  # after each transaction: keeps the generation that is searched in step

    def run(self) -> int:
        """Rows in primary key order; the last row stored is the place to go on from."""
        if not self.read(self._unfinished):
            return 0
        start, total = self._count(self.tables.signatures), self._count(self.tables.source)
        filled = 0
        while step := self._batch():
            filled += step
            self.progress("reading", start + filled, max(total, start + filled))
            self.meanwhile()
        self._build_indexes()
        return filled

    def step(self, connection: Connection, signer: Rehearsal) -> int:
        """Sign and store the next rows; 0 when there are no more."""
        self.backend.share(connection, self.tables.record.name)
        if not self._unfinished(connection, lock=True):
            return 0
        models.require(connection, self.tables, self.signer)
        done = 0
        for batch in self._next_rows(connection):
            store(connection, self.backend, self.tables, batch, signer.sign(batch))
            done += len(batch)
        return done

    def _batch(self) -> int:
        rehearsal = Rehearsal(self.signer)
        if self.backend.writers_wait:
            rehearsal = self.read(lambda c: Rehearsal(self.signer, self._next_rows(c)))
        return self.write(lambda c: self.step(c, rehearsal))

    def _next_rows(self, connection: Connection) -> Iterator[Texts]:
        columns = key_columns(self.tables.source, self.tables)
        last = last_stored(connection, self.tables)
        # rows whose key is NULL, which SQLite allows, cannot be referred to
        start = [column.is_not(None) for column in columns] + ([after(columns, last)] if last else [])
        query = source_rows(self.backend, self.tables).where(*start).order_by(*columns).limit(self.backend.fill_batch)
        return texts(connection, self.backend, self.tables, query)

    def _unfinished(self, connection: Connection, *, lock: bool = False) -> bool:
        """Neither finished by another worker nor given up by another change of options."""
        found = catalogue.target(catalogue.generations(connection, self.tables.record.name, lock=lock))
        return found is not None and found.generation == self.tables.record.generation and not found.ready

    def _build_indexes(self) -> None:
        """After the rows, which is faster than with each row; one a transaction, so that a kill loses only one."""
        indexes = self.tables.indexes()
        for number, index in enumerate(indexes):
            self.progress("building indexes", number, len(indexes))
            self.write(partial(self._build, index=index))
            self.meanwhile()
        while not self.write(self._open):
            self.meanwhile()
        self.progress("building indexes", len(indexes), len(indexes))

    def _build(self, connection: Connection, index: CreateIndex) -> None:
        self.backend.share(connection, self.tables.record.name)
        if self._unfinished(connection, lock=True):
            connection.execute(index)

    def _open(self, connection: Connection) -> bool:
        """Read what was added behind the last row in the meantime; unless that was much, the generation is ready.

        Both under one lock: workers leave rows behind the last one to the filling, until they see that it is ready.
        """
        self.backend.share(connection, self.tables.record.name)
        if not self._unfinished(connection, lock=True):
            return True
        if self.step(connection, Rehearsal(self.signer)) >= self.backend.fill_batch:
            return False
        for size in {field.bits for field in self.tables.record.options.fields}:
            _add_cardinalities(connection, size)
        self.backend.finish_filling(connection, self.tables)
        catalogue.set_ready(connection, self.tables.record)
        if self.tables.record.searched and self.signer.family.learns:  # the views show what was learned
            show(connection, self.backend, self.tables)
        return True

    def _count(self, table: FromClause) -> int:
        return self.read(lambda c: c.scalar(select(func.count()).select_from(table))) or 0


def _add_cardinalities(connection: Connection, size: int) -> None:
    """The estimate behind every popcount, for SQL without a logarithm; other indexes may add the same."""
    table = catalogue.cardinality_table
    if connection.execute(select(table.c.bits).where(table.c.bits == size).limit(1)).first() is None:
        rows = [{"bits": size, "count": count, "estimate": value} for count, value in enumerate(cardinality(size))]
        statement = "INSERT INTO dbsim_cardinality (bits, count, estimate) VALUES (:bits, :count, :estimate)"
        connection.execute(text(f"{statement} ON CONFLICT (bits, count) DO NOTHING"), rows)

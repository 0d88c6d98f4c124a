"""Keep an index in step with its table: first filling in key order, then the queue, one transaction a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection, Engine, FromClause, func, insert, select
from sqlalchemy.sql.ddl import CreateIndex

from dbsim.errors import StatementRejected
from dbsim.hashing.signer import Signer
from dbsim.store import catalogue, models
from dbsim.store.backend import Backend
from dbsim.store.compare import Comparison
from dbsim.store.create import show
from dbsim.store.reading import after, key_columns, source_rows, texts
from dbsim.store.refresh import refresh, rehearse, store
from dbsim.store.rehearsal import Rehearsal
from dbsim.store.source import Key, Texts
from dbsim.store.status import source_problem
from dbsim.store.tables import IndexTables
from dbsim.store.transactions import read, write

Progress = Callable[[str, int, int], None]  # stage, done, total


@dataclass
class SyncReport:
    """What a run did."""

    filled: int = 0
    changed: int = 0
    compared: int = 0
    repaired: int = 0
    triggers_restored: list[str] = field(default_factory=list)
    views_restored: list[str] = field(default_factory=list)


@dataclass
class Worker:
    """Everything a run needs; any number of them may work on one index at once."""

    engine: Engine
    backend: Backend
    tables: IndexTables
    signer: Signer
    progress: Progress = lambda stage, done, total: None

    def run(self, *, compare: bool = False) -> SyncReport:
        """Restore triggers, fill, work off the queue; with `compare` also look at every row of the table."""
        report = SyncReport()
        read(self.engine, self.backend, self._require_source)
        report.views_restored = self.restore_surface()
        triggers = self.tables.record.options.triggers
        if triggers and not compare:
            report.triggers_restored = self.restore_triggers()
        if not models.ensure(self.engine, self.backend, self.tables, self.signer):
            return report  # nothing to learn from and nothing to sign: changes wait in the queue
        report.filled = self.fill()
        report.changed = self.drain()
        if self.tables.record.options.inline:  # what was written while triggers had to queue is still to come
            self.backend.settle(self.engine)
            report.changed += self.drain()
        markers = read(self.engine, self.backend, lambda c: self.backend.markers(c, self.tables))
        if compare or markers or not triggers:
            found = self.reconcile()
            report.compared, report.repaired = found
            write(self.engine, self.backend, lambda c: self.backend.remove_markers(c, self.tables, markers))
        return report

    def _require_source(self, connection: Connection) -> None:
        options = self.tables.record.options
        source = self.backend.describe(connection, options.table, options.schema)
        if (problem := source_problem(self.backend, self.tables, source)) is not None:
            raise StatementRejected(
                f"index {self.tables.record.name!r} cannot follow table {options.table!r}: {problem}"
            )

    # ── triggers ──
    def restore_triggers(self) -> list[str]:
        """Install missing triggers; what happened without them is found by a comparison."""
        missing = read(self.engine, self.backend, lambda c: self.backend.missing_triggers(c, self.tables))
        if missing:
            write(self.engine, self.backend, self._install)
        return missing

    def _install(self, connection: Connection) -> None:
        self.backend.create_triggers(connection, self.tables)
        connection.execute(insert(self.tables.queue).values({}))

    def restore_surface(self) -> list[str]:
        """Create missing views and functions again."""
        missing = read(self.engine, self.backend, lambda c: self.backend.missing_surface(c, self.tables))
        if missing:
            write(self.engine, self.backend, lambda c: show(c, self.backend, self.tables))
        return missing

    # ── first filling ──
    def fill(self) -> int:
        """Rows in primary key order; the last row stored is the place to go on from."""
        if read(self.engine, self.backend, self._is_ready):
            return 0
        start, total = self._count(self.tables.signatures), self._count(self.tables.source)
        filled = 0
        while step := self._fill_batch():
            filled += step
            self.progress("reading", start + filled, max(total, start + filled))
        self._build_indexes()
        return filled

    def _fill_batch(self) -> int:
        rehearsal = Rehearsal(self.signer)
        if self.backend.writers_wait:
            rehearsal = read(self.engine, self.backend, lambda c: Rehearsal(self.signer, self._next_rows(c)))
        return write(self.engine, self.backend, lambda c: self.fill_step(c, rehearsal))

    def fill_step(self, connection: Connection, signer: Rehearsal) -> int:
        """Sign and store the next rows; 0 when there are no more."""
        if self._is_ready(connection, lock=True):
            return 0
        models.require(connection, self.tables, self.signer)
        done = 0
        for batch in self._next_rows(connection):
            store(connection, self.backend, self.tables, batch, signer.sign(batch))
            done += len(batch)
        return done

    def _next_rows(self, connection: Connection) -> Iterator[Texts]:
        columns = key_columns(self.tables.source, self.tables)
        last = self._last_filled(connection)
        # rows whose key is NULL, which SQLite allows, cannot be referred to
        start = [column.is_not(None) for column in columns] + ([after(columns, last)] if last else [])
        query = source_rows(self.backend, self.tables).where(*start).order_by(*columns).limit(self.backend.fill_batch)
        return texts(connection, self.backend, self.tables, query)

    def _is_ready(self, connection: Connection, *, lock: bool = False) -> bool:
        return catalogue.load(connection, self.tables.record.name, lock=lock).ready

    def _last_filled(self, connection: Connection) -> Key | None:
        columns = key_columns(self.tables.signatures, self.tables)
        row = connection.execute(select(*columns).order_by(*(column.desc() for column in columns)).limit(1)).first()
        return None if row is None else tuple(row)

    def _build_indexes(self) -> None:
        """After the rows, which is faster than with each row; one a transaction, so that a kill loses only one."""
        indexes = self.tables.indexes()
        for number, index in enumerate(indexes):
            self.progress("building indexes", number, len(indexes))
            write(self.engine, self.backend, partial(self._build, index=index))
        write(self.engine, self.backend, self._open)
        self.progress("building indexes", len(indexes), len(indexes))

    def _build(self, connection: Connection, index: CreateIndex) -> None:
        if not self._is_ready(connection, lock=True):
            connection.execute(index)

    def _open(self, connection: Connection) -> None:
        if not self._is_ready(connection, lock=True):
            self.backend.finish_filling(connection, self.tables)
            catalogue.set_state(connection, self.tables.record.name, catalogue.READY)

    # ── queue ──
    def drain(self) -> int:
        """Until the queue is empty."""
        changed, total = 0, self._count(self.tables.queue)
        while step := self._drain_batch():
            changed += step
            self.progress("changes", changed, max(changed, total))
        return changed

    def _drain_batch(self) -> int:
        rehearsal = Rehearsal(self.signer)
        if self.backend.writers_wait:
            rehearsal = read(self.engine, self.backend, self._rehearse)
        return write(self.engine, self.backend, lambda c: self.step(c, rehearsal))

    def _rehearse(self, connection: Connection) -> Rehearsal:
        keys = self.backend.pending(connection, self.tables, self.backend.queue_batch)
        return rehearse(connection, self.backend, self.tables, self.signer, keys)

    def step(self, connection: Connection, signer: Rehearsal | None = None) -> int:
        """Claim a batch, lock its documents, read the truth, write, all in the caller's transaction."""
        keys = self.backend.claim(connection, self.tables, self.backend.queue_batch)
        if keys:
            refresh(connection, self.backend, self.tables, signer or Rehearsal(self.signer), keys)
        return len(keys)

    # ── comparison ──
    def reconcile(self) -> tuple[int, int]:
        """Compare content fingerprints of all rows and repair what differs; needs no triggers."""
        walk = Comparison(self.engine, self.backend, self.tables, self.signer, fingerprints_only=True)
        walk.progress = lambda done, total: self.progress("comparing", done, total)
        found = walk.all(repair=True)
        return found.compared, found.repaired

    def _count(self, table: FromClause) -> int:
        return read(self.engine, self.backend, lambda c: c.scalar(select(func.count()).select_from(table))) or 0

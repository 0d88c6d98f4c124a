"""Keep an index in step with its table: fill, then the queue, one transaction a batch; change generations.

Every change in the queue reaches all generations of the index, so that each is as fresh as the one that is searched.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection, Engine, func, insert, select

from dbsim.errors import DatabaseUnavailable
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions
from dbsim.store import catalogue
from dbsim.store.backend import Backend
from dbsim.store.compare import Comparison
from dbsim.store.definition import drop_table, run
from dbsim.store.filling import Filling, Progress, target
from dbsim.store.refresh import refresh, rehearse
from dbsim.store.rehearsal import Rehearsal
from dbsim.store.schema import alone
from dbsim.store.tables import IndexTables
from dbsim.store.transactions import read, write

KEEP = 600.0  # seconds a replaced generation stays, for searches that have begun and selectables built before
DROP_LOCK = "200ms"  # how long searches may queue behind a DROP TABLE


@dataclass
class SyncReport:
    """What a run did."""

    filled: int = 0
    changed: int = 0
    compared: int = 0
    repaired: int = 0
    triggers_restored: list[str] = field(default_factory=list)
    generation: int = 1
    switched: bool = False  # whether a new generation is searched now


@dataclass
class Worker:
    """Everything a run needs; any number of them may work on one index at once."""

    engine: Engine
    backend: Backend
    tables: IndexTables
    signer: Signer
    progress: Progress = lambda stage, done, total: None
    keep: float = KEEP
    _signers: dict[tuple[object, ...], Signer] = field(default_factory=dict)

    def run(self, *, compare: bool = False) -> SyncReport:
        """Restore triggers, fill, work off the queue; with `compare` also look at every row of the table."""
        report = SyncReport()
        triggers = self.tables.record.options.triggers
        if triggers and not compare:
            report.triggers_restored = self.restore_triggers()
        report.filled, report.switched = self.build()
        report.changed = self.drain()
        markers = read(self.engine, self.backend, lambda c: self.backend.markers(c, self.tables))
        if compare or markers or not triggers:
            report.compared, report.repaired = self.reconcile()
            write(self.engine, self.backend, lambda c: self.backend.remove_markers(c, self.tables, markers))
        report.generation = read(self.engine, self.backend, lambda c: catalogue.load(c, self._name)).generation
        self.tidy()
        return report

    @property
    def _name(self) -> str:
        return self.tables.record.name

    def generations(self, connection: Connection) -> list[tuple[IndexTables, Signer]]:
        """All of them, the one that is searched first."""
        found = catalogue.generations(connection, self._name)
        return [(IndexTables(record), self._signer_of(record)) for record in found]

    def _signer_of(self, record: catalogue.IndexRecord) -> Signer:
        mine = self.tables.record
        if (record.options, record.secret) == (mine.options, mine.secret):
            return self.signer
        key = (record.options, record.secret)
        if key not in self._signers:
            self._signers[key] = record.options.signer(record.secret)
        return self._signers[key]

    # ── triggers ──
    def restore_triggers(self) -> list[str]:
        """Install missing triggers; what happened without them is found by a comparison."""
        missing = read(self.engine, self.backend, lambda c: self.backend.missing_triggers(c, self.tables))
        if missing:
            write(self.engine, self.backend, self._install)
        return missing

    def _install(self, connection: Connection) -> None:
        alone(connection)
        if not self.backend.missing_triggers(connection, self.tables):  # another worker was quicker
            return
        run(connection, self.backend.create_triggers(self.tables))
        connection.execute(insert(self.tables.queue).values({}))

    # ── generations ──
    def build(self) -> tuple[int, bool]:
        """Fill the generation that is asked for, then search it: (rows read, whether it was a new one)."""
        filled, switched = 0, False
        while (record := read(self.engine, self.backend, self._unfinished)) is not None:
            tables, signer = IndexTables(record), self._signer_of(record)
            filled += self._filling(tables, signer).run()
            switched |= write(self.engine, self.backend, self.switch)
        return filled, switched

    def _filling(self, tables: IndexTables, signer: Signer) -> Filling:
        return Filling(self.engine, self.backend, tables, signer, self.progress, self._drain_batch)

    def fill_step(self, connection: Connection, signer: Rehearsal) -> int:
        """One batch of the first filling, in the caller's transaction; 0 when there are no more rows."""
        return self._filling(self.tables, self.signer).step(connection, signer)

    def _unfinished(self, connection: Connection) -> catalogue.IndexRecord | None:
        found = catalogue.generations(connection, self._name)
        record = target(found)
        return None if record is None or (record is found[0] and record.ready) else record

    def switch(self, connection: Connection) -> bool:
        """Searches go over to the generation asked for, once it is built."""
        found = catalogue.generations(connection, self._name, lock=True)
        record = target(found)
        if record is None or record is found[0] or not record.ready:
            return False
        catalogue.switch(connection, found[0], record, int(time.time()))
        return True

    def tidy(self) -> None:
        """Drop generations that are no longer needed; one that is still being read waits for the next run."""
        for record in read(self.engine, self.backend, lambda c: self._not_needed(catalogue.generations(c, self._name))):
            try:
                write(self.engine, self.backend, partial(self._drop, generation=record.generation), patience=0)
            except DatabaseUnavailable:
                continue

    def _not_needed(self, found: list[catalogue.IndexRecord]) -> list[catalogue.IndexRecord]:
        others = [record for record in found[1:] if record is not target(found)]
        return [record for record in others if not record.ready or self._age(record) >= self.keep]

    def _age(self, record: catalogue.IndexRecord) -> float:
        return time.time() - (record.retired_at or 0)

    def _drop(self, connection: Connection, generation: int) -> None:
        self.backend.limit_lock_wait(connection, DROP_LOCK)
        for record in self._not_needed(catalogue.generations(connection, self._name, lock=True)):
            if record.generation == generation:
                run(connection, [drop_table(IndexTables(record).signatures.name)])
                catalogue.remove_generation(connection, record)

    # ── queue ──
    def drain(self) -> int:
        """Until the queue is empty."""
        total = read(self.engine, self.backend, lambda c: c.scalar(select(func.count()).select_from(self.tables.queue)))
        changed = 0
        while step := self._drain_batch():
            changed += step
            self.progress("changes", changed, max(changed, total or 0))
        return changed

    def _drain_batch(self) -> int:
        rehearsals: dict[IndexOptions, Rehearsal] = {}
        if self.backend.writers_wait:
            rehearsals = read(self.engine, self.backend, self._rehearse)
        return write(self.engine, self.backend, lambda c: self.step(c, rehearsals))

    def _rehearse(self, connection: Connection) -> dict[IndexOptions, Rehearsal]:
        keys = self.backend.pending(connection, self.tables, self.backend.queue_batch)
        if not keys:
            return {}
        return {
            tables.record.options: rehearse(connection, self.backend, tables, signer, keys)
            for tables, signer in self.generations(connection)
        }

    def step(self, connection: Connection, rehearsals: dict[IndexOptions, Rehearsal] | None = None) -> int:
        """Claim a batch, lock its documents, read the truth, write, all in the caller's transaction."""
        keys = self.backend.claim(connection, self.tables, self.backend.queue_batch)
        if keys:
            # read after the claim: a generation that appears later reads these rows itself
            for tables, signer in self.generations(connection):
                rehearsal = (rehearsals or {}).get(tables.record.options) or Rehearsal(signer)
                refresh(connection, self.backend, tables, rehearsal, keys)
        return len(keys)

    # ── comparison ──
    def reconcile(self) -> tuple[int, int]:
        """Compare content fingerprints of all rows and repair what differs; needs no triggers."""
        compared = repaired = 0
        for tables, signer in read(self.engine, self.backend, self.generations):
            walk = Comparison(self.engine, self.backend, tables, signer, fingerprints_only=True)
            walk.progress = lambda done, total: self.progress("comparing", done, total)
            found = walk.all(repair=True)
            compared, repaired = max(compared, found.compared), repaired + found.repaired
        return compared, repaired

"""Keep an index in step with its table: fill, then the queue, one transaction a batch; change generations.

Every change in the queue reaches all generations of the index, so that each is as fresh as the one that is searched.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, Engine, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from dbsim.engines.backend import Backend
from dbsim.engines.execute import run
from dbsim.engines.transactions import read, write
from dbsim.errors import DatabaseUnavailable, DbsimError, StatementRejected
from dbsim.hashing.signer import Signer
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.create import LOCK_WAIT, show
from dbsim.lifecycle.retire import retire
from dbsim.lifecycle.status import source_problem
from dbsim.progress import Progress, quiet
from dbsim.sync import models
from dbsim.sync.compare import Comparison
from dbsim.sync.fill import Filling
from dbsim.sync.presign import Rehearsal
from dbsim.sync.refresh import refresh, rehearse
from dbsim.tables import catalogue
from dbsim.tables.catalogue import target
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables

KEEP = 600.0  # seconds a replaced generation stays, for searches that have begun and selectables built before
SWITCH_PATIENCE = 5.0  # seconds to wait for those who read what a switch replaces; the next run tries again
GRACE = 5.0  # the same where nothing can keep it in step: inline indexes, which have no worker


@dataclass
class SyncReport:
    """What a run did."""

    filled: int = 0
    changed: int = 0
    compared: int = 0
    repaired: int = 0
    triggers_restored: list[str] = field(default_factory=list)
    views_restored: list[str] = field(default_factory=list)
    generation: int = 1
    switched: bool = False  # whether a new generation is searched now


@dataclass
class Worker:
    """Everything a run needs; any number of them may work on one index at once."""

    engine: Engine
    backend: Backend
    tables: IndexTables
    signer: Signer
    progress: Progress = quiet
    keep: float = KEEP
    _signers: dict[tuple[object, ...], Signer] = field(default_factory=dict)

    def run(self, *, compare: bool = False) -> SyncReport:
        """Restore triggers, fill, work off the queue; with `compare` also look at every row of the table.

        Again when somebody else changed what the index consists of, so that a table in use was not there any more.
        """
        while True:
            before = read(self.engine, self.backend, self._layout)
            try:
                return self._run(compare=compare)
            except (DbsimError, SQLAlchemyError):
                if read(self.engine, self.backend, self._layout) == before:
                    raise

    def _layout(self, connection: Connection) -> list[tuple[int, str]]:
        """What changes when the index gets or loses a generation or is made anew; UnknownName without the index."""
        catalogue.load(connection, self._name)
        return [(record.generation, record.stamp) for record in catalogue.generations(connection, self._name)]

    def _run(self, *, compare: bool) -> SyncReport:
        report = SyncReport()
        self._use(read(self.engine, self.backend, lambda c: catalogue.load(c, self._name)))
        self._adopt()
        read(self.engine, self.backend, self._require_source)
        restored = self.restore_surface()
        report.views_restored = restored if self.tables.record.ready else []  # a migration leaves them to the first run
        triggers = self.tables.record.options.triggers
        if triggers and not compare:
            report.triggers_restored = self.restore_triggers()
        built = self.build()
        if built is None:
            return report  # nothing to learn from and nothing to sign: changes wait in the queue
        report.filled, report.switched = built
        report.generation = self.tables.record.generation
        report.changed = self.drain()
        if self.tables.record.options.inline:  # what was written while triggers had to queue is still to come
            self.resume_inline()
            self.backend.settle(self.engine)
            report.changed += self.drain()
        markers = read(self.engine, self.backend, lambda c: self.backend.markers(c, self.tables))
        if compare or markers or not triggers:
            report.compared, report.repaired = self.reconcile()
            write(self.engine, self.backend, lambda c: self.backend.remove_markers(c, self.tables, markers))
        self.tidy()
        return report

    @property
    def _name(self) -> str:
        return self.tables.record.name

    def _use(self, record: catalogue.IndexRecord) -> None:
        """The generation that is searched, from now on."""
        self.signer, self.tables = self._signer_of(record), IndexTables(record)

    def _adopt(self) -> None:
        """A migration may leave the table's schema open and writes the key's types by hand: ask the database.

        Functions that run under a search path of their own need the one, comparisons with the table the other.
        """

        def work(connection: Connection) -> None:
            found = catalogue.generations(connection, self._name, lock=True)
            options = found[0].options
            source = self.backend.describe(connection, options.table, options.schema)
            stored = self.backend.describe(connection, self.tables.signatures.name, None)
            if source is None or stored is None or [name for name, _ in source.primary_key] != self.tables.key_names:
                return
            if any(record.options.schema != source.schema for record in found):
                catalogue.set_schema(connection, found, source.schema)
            if self.backend.typed_keys and found[0].primary_key != source.primary_key == stored.primary_key:
                catalogue.set_primary_key(connection, self._name, source.primary_key)

        if read(self.engine, self.backend, self._incomplete):
            write(self.engine, self.backend, work)
            self._use(read(self.engine, self.backend, lambda c: catalogue.load(c, self._name)))

    def _incomplete(self, connection: Connection) -> bool:
        found = catalogue.generations(connection, self._name)
        return self.backend.typed_keys and any(not record.ready or record.options.schema is None for record in found)

    def _require_source(self, connection: Connection) -> None:
        options = self.tables.record.options
        source = self.backend.describe(connection, options.table, options.schema)
        if (problem := source_problem(self.backend, self.tables, source)) is not None:
            raise StatementRejected(
                f"index {self.tables.record.name!r} cannot follow table {options.table!r}: {problem}"
            )

    def generations(self, connection: Connection) -> list[tuple[IndexTables, Signer]]:
        """All of them, the one that is searched first."""
        found = catalogue.generations(connection, self._name)
        return [(IndexTables(record), self._signer_of(record)) for record in found]

    def _signer_of(self, record: catalogue.IndexRecord) -> Signer:
        """One a generation: it keeps the words and the model it has seen."""

        def identity(some: catalogue.IndexRecord) -> tuple[object, ...]:
            return some.generation, replace(some.options, inline=False), some.secret

        self._signers.setdefault(identity(self.tables.record), self.signer)
        if identity(record) not in self._signers:
            self._signers[identity(record)] = record.options.signer(record.secret)
        return self._signers[identity(record)]

    # ── triggers ──
    def restore_triggers(self) -> list[str]:
        """Install missing triggers; what happened without them is found by a comparison."""
        missing = read(self.engine, self.backend, lambda c: self.backend.missing_triggers(c, self.tables))
        if missing:
            write(self.engine, self.backend, self._install)
        return missing

    def _install(self, connection: Connection) -> None:
        self.backend.alone(connection)
        if not self.backend.missing_triggers(connection, self.tables):  # another worker was quicker
            return
        connection.execute(insert(self.tables.queue).values({}))
        run(connection, self.backend.create_triggers(self.tables, connection))

    def restore_surface(self) -> list[str]:
        """Create missing views and functions again."""
        missing = read(self.engine, self.backend, lambda c: self.backend.missing_surface(c, self.tables))
        if missing:
            write(self.engine, self.backend, self._show)
        return missing

    def _show(self, connection: Connection) -> None:
        self.backend.limit_lock_wait(connection, LOCK_WAIT)
        show(connection, self.backend, self.tables)

    # ── generations ──
    def build(self) -> tuple[int, bool] | None:
        """Fill the generation that is asked for, then search it: (rows read, whether it was a new one).

        None when the family has nothing to learn from.
        """
        filled, switched = 0, False
        while (record := read(self.engine, self.backend, self._unfinished)) is not None:
            tables, signer = IndexTables(record), self._signer_of(record)
            if not models.ensure(self.engine, self.backend, tables, signer):
                return None
            if record.options.inline:  # triggers that have not seen yet that they must queue
                self.backend.settle(self.engine)
            filled += self._filling(tables, signer).run()
            try:
                switched |= write(self.engine, self.backend, self.switch, SWITCH_PATIENCE)
            except DatabaseUnavailable:  # somebody reads what must be replaced: the old generation is kept in step
                break
        self._use(read(self.engine, self.backend, lambda c: catalogue.load(c, self._name)))
        models.ensure(self.engine, self.backend, self.tables, self.signer)
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
        self.backend.change(connection, self._name)
        self.backend.limit_lock_wait(connection, LOCK_WAIT)
        found = catalogue.generations(connection, self._name, lock=True)
        record = target(found)
        if record is None or record is found[0] or not record.ready:
            return False
        catalogue.switch(connection, found[0], record, int(time.time()))
        searched = IndexTables(catalogue.load(connection, self._name))
        stored_groups.drop(connection, GroupTables(searched))  # they hold the old generation's keys
        show(connection, self.backend, searched)
        if searched.record.options.inline:
            run(connection, self.backend.create_triggers(searched, connection))
        return True

    def resume_inline(self) -> None:
        """After a change of generation triggers have queued: they go on signing when only one generation is left."""
        record = read(self.engine, self.backend, lambda c: catalogue.load(c, self._name))
        if record.wanted is None:
            return
        time.sleep(GRACE)  # nobody but this run feeds the old generation, so it cannot be kept for long
        self.tidy(keep=0.0)
        write(self.engine, self.backend, self._settle_wanted)

    def _settle_wanted(self, connection: Connection) -> None:
        found = catalogue.generations(connection, self._name, lock=True)
        if len(found) == 1 and found[0].wanted == found[0].generation:
            catalogue.settle_wanted(connection, self._name)

    def tidy(self, keep: float | None = None) -> None:
        """Drop generations that are no longer needed; one that is still being read waits for the next run."""
        retire(self.engine, self.backend, self._name, self.keep if keep is None else keep)

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
        rehearsals: dict[int, Rehearsal] = {}
        if self.backend.writers_wait:
            rehearsals = read(self.engine, self.backend, self._rehearse)
        return write(self.engine, self.backend, lambda c: self.step(c, rehearsals))

    def _rehearse(self, connection: Connection) -> dict[int, Rehearsal]:
        keys = self.backend.pending(connection, self.tables, self.backend.queue_batch)
        if not keys:
            return {}
        found = {}
        for tables, signer in self.generations(connection):
            models.current(connection, tables, signer)
            if signer.model is not None:
                rehearsal = rehearse(connection, self.backend, tables, signer, keys)
                found[tables.record.generation] = rehearsal
        return found

    def step(self, connection: Connection, rehearsals: dict[int, Rehearsal] | None = None) -> int:
        """Claim a batch, lock its documents, read the truth, write, all in the caller's transaction."""
        self.backend.share(connection, self._name)
        if not catalogue.exists(connection, self._name):
            return 0
        keys = self.backend.claim(connection, self.tables, self.backend.queue_batch)
        if keys:
            # read after the claim: a generation that appears later reads these rows itself
            for tables, signer in self.generations(connection):
                models.current(connection, tables, signer)
                if signer.model is None:  # nothing is stored yet, and the filling will read it all
                    continue
                rehearsal = (rehearsals or {}).get(tables.record.generation) or Rehearsal(signer)
                refresh(connection, self.backend, tables, rehearsal, keys)
        return len(keys)

    # ── comparison ──
    def reconcile(self) -> tuple[int, int]:
        """Compare content fingerprints of all rows and repair what differs; needs no triggers."""
        compared = repaired = 0
        for tables, signer in read(self.engine, self.backend, self.generations):
            if not models.ensure(self.engine, self.backend, tables, signer):
                continue
            walk = Comparison(self.engine, self.backend, tables, signer, fingerprints_only=True)
            walk.progress = lambda done, total: self.progress("comparing", done, total)
            found = walk.all(repair=True)
            compared, repaired = max(compared, found.compared), repaired + found.repaired
        return compared, repaired

"""One index, as users hold it: its parts by subject, and what keeps it in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from dbsim.dedupe.run import Deduplication
from dbsim.engines.callers import Caller, connection_of
from dbsim.engines.transactions import outlasting, persistently
from dbsim.errors import InvalidOption
from dbsim.index.changing import Changing
from dbsim.index.deciding import Deciding
from dbsim.index.door import AtTheDoor
from dbsim.index.keeping_up import KeepingUp
from dbsim.index.linking import Linked
from dbsim.index.measuring import Measuring
from dbsim.index.merging import Uniting
from dbsim.lifecycle import status
from dbsim.options import describe_columns, require_positive
from dbsim.progress import Progress, quiet
from dbsim.sync import models
from dbsim.sync.compare import Comparison, Differences
from dbsim.sync.given import refresh_given
from dbsim.sync.slicing.checking import SliceCheck
from dbsim.sync.worker import SyncReport, Worker
from dbsim.sync.worklog import WorkLog
from dbsim.tables.index_tables import IndexTables


class Index(Deciding, Uniting, Measuring, Changing, AtTheDoor, Linked):
    """Near-duplicate search over one table. Made by `Database.create_index` or `Database.index`."""

    def sync(
        self,
        *,
        reconcile: bool = False,
        workers: int | None = None,
        gentle: bool = False,
        progress: Progress = quiet,
    ) -> SyncReport:
        """Bring the index, and the groups if they are stored, up to date; `reconcile` compares every row.

        A first filling takes `workers` processes: by default the machine's cores, at most 4, if the table is large
        (on SQLite its texts as well) and the engine is dbsim's own; give a number to have processes connect by the
        URL of an engine of yours. On SQLite `gentle` fills the B-trees with the rows: slower, but no write of the
        application waits for long.
        """
        require_positive(workers=workers)

        def keep_up() -> int:
            return self._deduplicated(progress, Deduplication.keep_up)

        worker = self._worker(progress, workers, gentle)
        if worker.backend.writers_wait:
            worker.after = KeepingUp(keep_up)
        report = worker.run(compare=reconcile)
        if not report.idle or self._deduplicated(progress, Deduplication.look):
            keep_up()
        return report

    def follow(
        self, *, stop: Callable[[], bool] = lambda: False, poll: float = 5.0, progress: Progress = quiet
    ) -> None:
        """Keep up until `stop()`; PostgreSQL wakes it at once, otherwise it looks after `poll` seconds at most.

        A database that is away or busy for long is waited for; whatever else goes wrong is raised. What it does is told
        to the logger `dbsim`, a line a minute at most.
        """
        backend, told = self._context.backend, WorkLog(self.name)

        def wait() -> None:
            backend.wait(self._context.engine, self._tables, poll)

        try:
            outlasting(backend, lambda: told.add(self.sync(progress=progress)), stop)
            while not stop():
                outlasting(backend, lambda: persistently(backend, wait), stop)
                outlasting(backend, lambda: told.add(self.sync(progress=progress)), stop)
        finally:
            told.tell()

    def _worker(self, progress: Progress = quiet, workers: int | None = None, gentle: bool = False) -> Worker:
        return Worker(self._search.context, progress=progress, workers=workers, gentle=gentle)

    def refresh(self, keys: Sequence[Any], *, connection: Caller = None) -> int:
        """Sign these rows now; in the caller's transaction they are found before it commits, and rolled back with it.

        The queue keeps them for the next `sync`, which finds nothing left to do. Until the transaction ends, workers
        wait for these rows, and other callers of `refresh` may. An inline index has signed them already.
        """
        wanted = [self.key(key) for key in keys]
        return refresh_given(self._worker(), wanted, connection_of(connection))

    def check(self, *, sample: int | None = None, repair: bool = False, progress: Progress = quiet) -> Differences:
        """Recompute signatures and compare, all rows or a sample; rows still in the queue are not differences."""
        if sample is not None and sample < 1:
            raise InvalidOption(f"a sample of {sample} rows is not possible: use 1 or more")
        if repair:
            self._worker(progress).build()
        self._current.look()
        if not models.ensure(self._search.context):
            return Differences()  # nothing is stored before there is something to learn from
        walk = Comparison(self._search.context)
        walk.progress = lambda done, total: progress("checking", done, total)
        found = walk.all(repair=repair) if sample is None else walk.sample(sample, repair=repair)
        wrong = SliceCheck(self._search.context).run(repair=repair) if sample is None else []
        if repair or not (found or wrong):
            found.different += [key for key in wrong if key not in {*found.keys}]
            return found
        # look again at what differed: it may have changed, or been indexed, while the comparison ran
        again = replace(walk.unexplained(found.keys), compared=found.compared)
        again.different += [key for key in wrong if key not in {*again.keys}]
        return again

    def status(self) -> status.Status:
        """Rows, queue, quarantine, fill of the filters, and what needs attention."""

        def work(connection: Connection) -> status.Status:
            tables = IndexTables(self._context.load(connection, self.name))
            return status.status(
                connection, self._context.backend, tables, describe_columns(tables.record.options.fields)
            )

        return self._context.read(work)

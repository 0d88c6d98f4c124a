"""Fill the generation that is asked for, let searches go over to it, drop those nobody needs any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from dbsim.engines.context import IndexContext
from dbsim.engines.execute import run
from dbsim.errors import DatabaseUnavailable
from dbsim.lifecycle import decisions
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.create import LOCK_WAIT, show
from dbsim.lifecycle.retire import retire
from dbsim.progress import Progress
from dbsim.sync import models
from dbsim.sync.filling.fill import Filling
from dbsim.sync.generations import Generations
from dbsim.tables import catalogue
from dbsim.tables.catalogue import target
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables

KEEP = 600.0  # seconds a replaced generation stays, for searches that have begun and selectables built before
SWITCH_PATIENCE = 5.0  # seconds to wait for those who read what a switch replaces; the next run tries again
GRACE = 5.0  # the same where nothing can keep it in step: inline indexes, which have no worker


@dataclass(frozen=True)
class Built:
    """How many rows were read, whether a new generation is searched now, and which ones there are."""

    filled: int
    switched: bool
    found: list[catalogue.IndexRecord]


def _unfinished(found: list[catalogue.IndexRecord]) -> catalogue.IndexRecord | None:
    record = target(found)
    return None if record is None or (record is found[0] and record.ready) else record


@dataclass
class Build:
    """Changes of generation; `meanwhile` keeps the one that is searched in step."""

    index: Generations
    progress: Progress
    meanwhile: Callable[[], object]
    keep: float = KEEP
    workers: int | None = None
    gentle: bool = False

    def run(self, found: list[catalogue.IndexRecord]) -> Built | None:
        """From what the catalogue said a moment ago; None when the family has nothing to learn from."""
        filled, switched = 0, False
        while (record := _unfinished(found)) is not None:
            context = self.index.context.of(record, self.index.signer_of(record))
            if not models.ensure(context):
                return None
            if record.options.inline:  # triggers that have not seen yet that they must queue
                self.index.backend.settle(context.engine)
            filled += self.filling(context).run()
            try:
                switched |= record is not found[0] and self.index.write(self.switch, SWITCH_PATIENCE)
            except DatabaseUnavailable:  # somebody reads what must be replaced: the old generation is kept in step
                break
            found = self.index.read(self.index.there)
        self.index.use(found[0])
        models.ensure(self.index.context)
        return Built(filled, switched, found)

    def filling(self, context: IndexContext) -> Filling:
        return Filling(context, self.progress, self.meanwhile, self.workers, self.gentle)

    def switch(self, connection: Connection) -> bool:
        """Searches go over to the generation asked for, once it is built."""
        backend = self.index.backend
        backend.change(connection, self.index.name)
        backend.limit_lock_wait(connection, LOCK_WAIT)
        found = catalogue.generations(connection, self.index.name, lock=True)
        record = target(found)
        if record is None or record is found[0] or not record.ready:
            return False
        catalogue.switch(connection, found[0], record, int(time.time()))
        if decisions.exist(connection, self.index.backend, self.index.tables):
            decisions.carry_over(connection, self.index.backend, IndexTables(found[0]), IndexTables(record))
        searched = IndexTables(catalogue.load(connection, self.index.name))
        # stored pairs and groups hold the old generation's keys
        stored_groups.renew(connection, backend, GroupTables(searched), self.index.context.after_create_table)
        show(connection, backend, searched)
        if searched.record.options.inline:
            run(connection, backend.create_triggers(searched, connection))
        return True

    def resume_inline(self) -> None:
        """After a change of generation triggers have queued: they go on signing when only one generation is left."""
        if self.index.read(lambda c: catalogue.load(c, self.index.name)).wanted is None:
            return
        time.sleep(GRACE)  # nobody but this run feeds the old generation, so it cannot be kept for long
        self.tidy(keep=0.0)
        self.index.write(self._settle_wanted)

    def _settle_wanted(self, connection: Connection) -> None:
        found = catalogue.generations(connection, self.index.name, lock=True)
        if len(found) == 1 and found[0].wanted == found[0].generation:
            catalogue.settle_wanted(connection, self.index.name)

    def tidy(self, keep: float | None = None) -> None:
        """Drop generations that are no longer needed; one that is still being read waits for the next run."""
        context = self.index.context
        retire(context.engine, context.backend, self.index.name, self.keep if keep is None else keep)

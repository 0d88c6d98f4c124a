"""Before anything is signed: does the table still fit, and are the triggers, views and functions there?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection, insert, literal, select

from dbsim.engines.backend import Defects
from dbsim.engines.execute import run
from dbsim.lifecycle import decisions
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.create import LOCK_WAIT, show
from dbsim.lifecycle.fit import widened
from dbsim.lifecycle.rename import Renames, rename
from dbsim.lifecycle.words import slices
from dbsim.sync.generations import Generations
from dbsim.tables import catalogue
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables

NONE = Defects()


@dataclass(frozen=True)
class Survey:
    """What one look at an index found: its generations, and what of the one that is searched is not in order."""

    found: list[catalogue.IndexRecord]
    unadopted: bool = False  # a migration left questions open; nothing more was looked at …
    widened: bool = False  # … nor when the key has another type now
    surface: Defects = NONE
    triggers: Defects = NONE

    @property
    def in_order(self) -> bool:
        return not (self.unadopted or self.widened or any(self.surface) or any(self.triggers))


@dataclass
class Repair:
    """Each step is safe to repeat and to run from several workers at once."""

    index: Generations

    def look(
        self,
        connection: Connection,
        found: list[catalogue.IndexRecord],
        *,
        adopted: bool = False,
        followed: bool = False,
    ) -> Survey:
        """At everything, on one connection; from now on the worker knows the generation that is searched."""
        self.index.use(found[0])
        if not adopted and self._open_questions(found):
            return Survey(found, unadopted=True)
        if widened(connection, self.index.backend, self.index.tables) and not followed:
            return Survey(found, widened=True)
        surface, triggers = self.index.backend.defects(connection, self.index.tables)
        return Survey(found, surface=surface, triggers=triggers)

    def idle(self, connection: Connection, survey: Survey) -> bool:
        """Whether a run would find nothing to do: everything is in place, one generation, an empty queue."""
        first, tables, backend = survey.found[0], self.index.tables, self.index.backend
        return (
            len(survey.found) == 1
            and first.ready
            and first.wanted is None
            and first.options.triggers
            and survey.in_order
            and connection.execute(select(literal(1)).select_from(tables.queue).limit(1)).first() is None
            and not decisions.incomplete(connection, backend, tables)
            and not slices.due(connection, backend, tables)
        )

    def mend(self, survey: Survey, *, triggers: bool) -> Survey:
        """Put in order what was found, and say how it is now; triggers only if they are asked for."""
        if survey.unadopted:
            self.index.write(self._adopt)
            survey = self._again(adopted=True)
        if survey.widened:
            self.index.write(lambda c: rename(c, self.index.backend, self.index.name, Renames()))
            survey = self._again(adopted=True, followed=True)
        if any(survey.surface):
            self.index.write(self._show)
            if survey.surface.outdated:  # which may have made statistics of a few rows
                self.index.write(lambda c: self.index.backend.finish_filling(c, self.index.tables))
            survey = replace(self._again(adopted=True, followed=True), surface=survey.surface)
        if triggers and any(survey.triggers):
            self.index.write(self._install)
        return survey

    def _again(self, *, adopted: bool, followed: bool = False) -> Survey:
        return self.index.read(lambda c: self.look(c, self.index.there(c), adopted=adopted, followed=followed))

    def complete_decisions(self) -> None:
        """Those written from SQL are about the texts that are indexed now; without its rows a decision goes."""

        def work(connection: Connection) -> None:
            """Another generation may be searched since the last look: stored groups have the keys of that one."""
            self.index.backend.lock_all(connection, self.index.tables)
            searched = IndexTables(catalogue.load(connection, self.index.name))
            decisions.complete(connection, self.index.backend, searched)

        self.index.write(work)

    def _open_questions(self, found: list[catalogue.IndexRecord]) -> bool:
        typed = self.index.backend.typed_keys
        return typed and any(not record.ready or record.options.schema is None for record in found)

    def _adopt(self, connection: Connection) -> None:
        """A migration may leave the table's schema open and writes the key's types by hand: ask the database.

        Functions that run under a search path of their own need the one, comparisons with the table the other.
        """
        backend, tables = self.index.backend, self.index.tables
        found = self.index.there(connection, lock=True)
        options = found[0].options
        source = backend.describe(connection, options.table, options.schema)
        stored = backend.describe(connection, tables.signatures.name, None)
        if source is None or stored is None or [name for name, _ in source.primary_key] != tables.key_names:
            return
        if any(record.options.schema != source.schema for record in found):
            catalogue.set_schema(connection, found, source.schema)
        if backend.typed_keys and found[0].primary_key != source.primary_key == stored.primary_key:
            catalogue.set_primary_key(connection, self.index.name, source.primary_key)

    def _install(self, connection: Connection) -> None:
        """What happened without a trigger is found by a comparison; those of an earlier dbsim have missed nothing."""
        backend, tables = self.index.backend, self.index.tables
        backend.alone(connection)
        backend.share(connection, self.index.name)
        catalogue.require_unchanged(connection, tables.record)
        _, triggers = backend.defects(connection, tables)
        if not any(triggers):  # another worker was quicker
            return
        if triggers.missing:
            connection.execute(insert(tables.queue).values({}))
        run(connection, backend.create_triggers(tables, connection))

    def _show(self, connection: Connection) -> None:
        """An index of version 0002 has no table of decisions yet, into which people may write from SQL."""
        backend, tables = self.index.backend, self.index.tables
        backend.change(connection, self.index.name)
        catalogue.require_unchanged(connection, tables.record)
        backend.limit_lock_wait(connection, LOCK_WAIT)
        decisions.create(connection, backend, tables, self.index.context.after_create_table)
        slices.without_btree(connection, tables)
        show(connection, backend, tables, self.index.context.after_create_table)
        stored_groups.complete_views(connection, backend, GroupTables(tables))

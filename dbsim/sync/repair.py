"""Before anything is signed: does the table still fit, and are the triggers, views and functions there?"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, insert, literal, select

from dbsim.engines.execute import run
from dbsim.errors import StatementRejected
from dbsim.lifecycle import decisions
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.create import LOCK_WAIT, outdated, show
from dbsim.lifecycle.fit import source_problem, widened
from dbsim.lifecycle.rename import Renames, rename
from dbsim.lifecycle.words import slices
from dbsim.sync.generations import Generations
from dbsim.tables import catalogue
from dbsim.tables.group_tables import GroupTables


@dataclass
class Repair:
    """Each step is safe to repeat and to run from several workers at once."""

    index: Generations

    def idle(self, connection: Connection, found: list[catalogue.IndexRecord]) -> bool:
        """Whether a run would find nothing to do: everything is in place, one generation, an empty queue."""
        if len(found) > 1 or not found[0].ready or found[0].wanted is not None or self._open_questions(found):
            return False
        self.index.use(found[0])
        self.require_source(connection)
        if self._widened(connection):
            return False
        tables, backend = self.index.tables, self.index.backend
        return (
            tables.record.options.triggers
            and not backend.missing_triggers(connection, tables)
            and not backend.missing_surface(connection, tables)
            and not outdated(connection, backend, tables)
            and connection.execute(select(literal(1)).select_from(tables.queue).limit(1)).first() is None
            and not decisions.incomplete(connection, backend, tables)
            and not slices.due(connection, backend, tables)
        )

    def complete_decisions(self) -> None:
        """Those written from SQL are about the texts that are indexed now; without its rows a decision goes."""
        tables, backend = self.index.tables, self.index.backend
        if self.index.read(lambda c: decisions.incomplete(c, backend, tables)):
            self.index.write(lambda c: decisions.complete(c, backend, tables))

    def adopt(self) -> None:
        """A migration may leave the table's schema open and writes the key's types by hand: ask the database.

        Functions that run under a search path of their own need the one, comparisons with the table the other.
        """
        found = self.index.read(lambda c: catalogue.generations(c, self.index.name))
        if self._open_questions(found):
            self.index.write(self._adopt)
            self.index.look()
        if self.index.read(self._widened):
            self.index.write(lambda c: rename(c, self.index.backend, self.index.name, Renames()))
            self.index.look()

    def _widened(self, connection: Connection) -> bool:
        """Whether the key has a type now that holds the same values and more: dbsim's own tables follow."""
        tables = self.index.tables
        source = self.index.backend.describe(connection, tables.record.options.table, tables.record.options.schema)
        return widened(self.index.backend, tables, source) is not None

    def _open_questions(self, found: list[catalogue.IndexRecord]) -> bool:
        typed = self.index.backend.typed_keys
        return typed and any(not record.ready or record.options.schema is None for record in found)

    def _adopt(self, connection: Connection) -> None:
        backend, tables = self.index.backend, self.index.tables
        found = catalogue.generations(connection, self.index.name, lock=True)
        options = found[0].options
        source = backend.describe(connection, options.table, options.schema)
        stored = backend.describe(connection, tables.signatures.name, None)
        if source is None or stored is None or [name for name, _ in source.primary_key] != tables.key_names:
            return
        if any(record.options.schema != source.schema for record in found):
            catalogue.set_schema(connection, found, source.schema)
        if backend.typed_keys and found[0].primary_key != source.primary_key == stored.primary_key:
            catalogue.set_primary_key(connection, self.index.name, source.primary_key)

    def require_source(self, connection: Connection) -> None:
        options = self.index.tables.record.options
        source = self.index.backend.describe(connection, options.table, options.schema)
        if (problem := source_problem(connection, self.index.backend, self.index.tables, source)) is not None:
            raise StatementRejected(f"index {options.name!r} cannot follow table {options.table!r}: {problem}")

    def restore_triggers(self) -> tuple[list[str], bool]:
        """Install missing triggers, and those of an earlier dbsim anew; `_install` says what becomes of changes.

        (those that were missing, whether others were of an earlier dbsim)
        """
        backend, tables = self.index.backend, self.index.tables
        missing, old = self.index.read(
            lambda c: (backend.missing_triggers(c, tables), backend.outdated_triggers(c, tables))
        )
        if missing or old:
            self.index.write(self._install)
        return missing, old

    def _install(self, connection: Connection) -> None:
        """What happened without a trigger is found by a comparison; those of an earlier dbsim have missed nothing."""
        backend, tables = self.index.backend, self.index.tables
        backend.alone(connection)
        backend.share(connection, self.index.name)
        catalogue.require_unchanged(connection, tables.record)
        missing = backend.missing_triggers(connection, tables)
        if not missing and not backend.outdated_triggers(connection, tables):  # another worker was quicker
            return
        if missing:
            connection.execute(insert(tables.queue).values({}))
        run(connection, backend.create_triggers(tables, connection))

    def restore_surface(self) -> tuple[list[str], bool]:
        """Create missing views and functions again, and those of an earlier dbsim anew; the same of them."""
        backend, tables = self.index.backend, self.index.tables
        missing, old = self.index.read(
            lambda c: (backend.missing_surface(c, tables), backend.outdated_surface(c, tables))
        )
        if missing or old:
            self.index.write(self._show)
        if old:  # which may have made statistics of a few rows
            self.index.write(lambda c: backend.finish_filling(c, tables))
        return missing, old

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

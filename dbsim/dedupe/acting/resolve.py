"""Act on all but one row of each group of a stored result, in one transaction: Ranking → Resolution.

What is done to the rows is a subclass's: `delete.py`, `mark.py`; `merge.py` acts group by group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Select, column, func, literal_column, select, table, tuple_

from dbsim.dedupe.acting.keep import Ranking
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.execute import run
from dbsim.engines.transactions import read, write_enforced
from dbsim.errors import DbsimError, IndexBehind, NoPrimaryKey, UnknownName
from dbsim.tables import catalogue, group_results, group_state
from dbsim.tables.names import quote, raw_sql
from dbsim.tables.source import Source

PLAN = "_dbsim_resolution"  # a temporary table; `dbsim_resolution` is that of an index called resolution


@dataclass(frozen=True)
class Resolution:
    """How many groups have more than one row, and how many rows of them go; `done` is False for a dry run.

    By table: rows that go with them (ON DELETE CASCADE), references that become empty (SET NULL or DEFAULT), and rows
    that forbid it; references that follow to the row that stays (merge). `other_values` counts rows whose column to
    mark holds something else, `left` groups that were not merged, because their rows had changed.
    """

    groups: int
    removed: int
    done: bool = False
    cascaded: Mapping[str, int] = field(default_factory=dict)
    emptied: Mapping[str, int] = field(default_factory=dict)
    blocked: Mapping[str, int] = field(default_factory=dict)
    other_values: int = 0
    moved: Mapping[str, int] = field(default_factory=dict)
    left: int = 0

    def same(self, other: Resolution) -> bool:
        """Whether the same would be done."""
        return replace(self, done=False) == replace(other, done=False)

    def consequences(self) -> str:
        """What happens elsewhere, in words; '' for nothing."""
        said = [f"{count} rows of {name} go with them" for name, count in self.cascaded.items()]
        said += [f"{count} references of {name} become empty" for name, count in self.emptied.items()]
        said += [f"{count} references of {name} follow" for name, count in self.moved.items()]
        return "; ".join(said)


@dataclass(frozen=True)
class Acting(ABC):
    """The frame around an action: what is planned, counted, refused and done in one transaction."""

    ranking: Ranking

    def run(self, expected: Resolution | None, *, even_if_behind: bool, dry_run: bool) -> Resolution:
        """Nothing if the counts are not as expected."""

        def count(connection: Connection) -> Resolution:
            self.require_table(connection)
            self.ranking.check(connection)
            plan = self._plan(connection)
            found = self.counted(connection, plan, _summary(connection, plan))
            connection.exec_driver_sql(f"DROP TABLE {PLAN}")
            connection.rollback()
            return found

        def work(connection: Connection) -> Resolution:
            self.require_table(connection)
            self.ranking.check(connection)
            self._lock(connection)
            if not even_if_behind:
                self.require_current(connection)
            plan = self._plan(connection)
            found = self.counted(connection, plan, _summary(connection, plan))
            if expected is not None and not found.same(expected):
                raise IndexBehind("the groups have changed since they were counted: nothing was done, look again")
            self.refuse(found)
            self.act(connection, plan)
            self.require_done(connection, plan)
            connection.exec_driver_sql(f"DROP TABLE {PLAN}")
            return replace(found, done=True)

        context = self.place.context
        if dry_run:
            return read(context.engine, context.backend, count)
        return write_enforced(context.engine, context.backend, work)

    # ── what a subclass says ──
    def counted(self, connection: Connection, plan: Any, found: Resolution) -> Resolution:
        """With what would happen beside."""
        return found

    @abstractmethod
    def refuse(self, found: Resolution) -> None:
        """Raise if it must not be done."""

    @abstractmethod
    def act(self, connection: Connection, plan: Any) -> None:
        """Do it."""

    @abstractmethod
    def undone(self, connection: Connection, plan: Any) -> int:
        """The rows that are as they were, although it was done."""

    def require_done(self, connection: Connection, plan: Any) -> None:
        """All of it or nothing: a trigger, a rule or a policy of the host's may let a statement pass without effect."""
        left = self.undone(connection, plan)
        if left:
            table = self.place.tables.record.options.table
            raise DbsimError(
                f"a trigger, a rule or a policy of table {table!r} left {left} rows as they were: nothing was done; "
                f"let it allow this role to change them, or act on the groups yourself"
            )

    # ── pieces ──
    @property
    def place(self) -> Workplace:
        return self.ranking.place

    def key(self, selectable: Any) -> Any:
        keys = self.ranking.keys(selectable)
        return keys[0] if len(keys) == 1 else tuple_(*keys)

    def _lock(self, connection: Connection) -> None:
        """What the application changed before is in the queue after this; what it changes later waits."""
        source = self.place.tables.source
        if self.place.tables.record.options.distributed:  # rows of several nodes cannot be locked one by one
            name = quote(source.schema, source.name)
            run(connection, [f"LOCK TABLE {name} IN SHARE ROW EXCLUSIVE MODE"])
            return
        members = select(*self.ranking.keys(self.ranking.view))
        rows: Select[Any] = select(literal_column("1")).select_from(source).where(self.key(source).in_(members))
        connection.execute(rows.with_for_update()).close()

    def _plan(self, connection: Connection) -> Any:
        """The decision as a temporary table, so that it is made once."""
        query = self.ranking.ranked()
        names = [made.name for made in query.selected_columns]
        statement = raw_sql(query, connection.dialect)
        keys = ", ".join(name for name in names if name.startswith("dbsim_key"))
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {PLAN}")
        run(
            connection,
            [f"CREATE TEMPORARY TABLE {PLAN} AS {statement}", f"CREATE INDEX {PLAN}_key ON {PLAN} ({keys})"],
        )
        return table(PLAN, *(column(name) for name in names))

    # ── refusals ──
    def require_table(self, connection: Connection) -> Source:
        options = self.place.tables.record.options
        found: Source | None = self.place.backend.describe(connection, options.table, options.schema)
        if found is None:
            raise UnknownName("table", options.table, self.place.backend.table_names(connection))
        if not found.is_table:
            raise DbsimError(f"{options.table!r} is a view: delete or mark rows of the table it reads from")
        if not found.primary_key:
            raise NoPrimaryKey(options.table)
        if [name for name, _ in found.primary_key] != self.place.tables.key_names:
            raise DbsimError(
                f"the primary key of {options.table!r} is no longer {', '.join(self.place.tables.key_names)}: "
                f"drop the index and create it again"
            )
        return found

    def require_current(self, connection: Connection) -> None:
        reason = self._behind(connection)
        if reason:
            raise IndexBehind(
                f"{reason}, so rows that are no longer duplicates might go: run `dbsim sync` and look again, "
                f"or proceed with --even-if-behind"
            )

    def _behind(self, connection: Connection) -> str:
        tables, groups = self.place.tables, self.place.groups
        result = group_results.find(connection, groups, self.ranking.result)
        state = None if result is None else group_state.load(connection, groups, result.pairing)
        queued = connection.scalar(select(func.count()).select_from(tables.queue))
        if state is None or not catalogue.load(connection, tables.record.name).ready or not state.paired:
            return "the index is not complete"
        if queued:
            return f"{queued} changes of the table are not in the index yet"
        if group_state.pending(connection, groups, state.id) or not state.settled:
            return "the groups do not reflect the latest changes yet"
        if not tables.record.options.triggers:
            return "an index without triggers cannot tell whether it is behind the table"
        if self.place.backend.missing_triggers(connection, tables):
            return "triggers are missing and changes may have gone unnoticed"
        return ""


def _summary(connection: Connection, ranked: Any) -> Resolution:
    several = ranked.c.dbsim_rows > 1
    kept = func.count().filter(several, ranked.c.dbsim_place == 1)
    removed = func.count().filter(several, ranked.c.dbsim_place > 1)
    groups, rows = connection.execute(select(kept, removed).select_from(ranked)).one()
    return Resolution(groups, rows)

"""Delete or mark all but one row of each stored group, in one transaction: Ranking → Resolution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    Select,
    Table,
    and_,
    case,
    cast,
    column,
    delete,
    false,
    func,
    literal_column,
    null,
    select,
    table,
    true,
    tuple_,
    update,
)
from sqlalchemy.types import NullType

from dbsim.dedupe.keep import Ranking
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.execute import run
from dbsim.errors import DbsimError, IndexBehind, InvalidOption, NoPrimaryKey, UnknownName
from dbsim.tables import catalogue, group_state
from dbsim.tables.index_tables import PlainType
from dbsim.tables.names import raw_sql
from dbsim.tables.source import Source

PLAN = "dbsim_resolution"  # a temporary table
Action = Callable[[Connection, Any], None]


@dataclass(frozen=True)
class Resolution:
    """How many groups have more than one row, and how many rows of them go; `done` is False for a dry run."""

    groups: int
    removed: int
    done: bool = False


@dataclass(frozen=True)
class Resolver:
    """Acts on the stored groups of one index."""

    ranking: Ranking

    def count(self) -> Resolution:
        """A dry run."""

        def work(connection: Connection) -> Resolution:
            self.ranking.check(connection)
            return _summary(connection, self.ranking.ranked().subquery("ranked"))

        return self.place.read(work)

    def delete(self, expected: Resolution | None = None, *, even_if_behind: bool = False) -> Resolution:
        """Delete all but one row of each group; nothing if the counts are not as expected."""

        def act(connection: Connection, plan: Any) -> None:
            source = self.place.tables.source
            chosen = select(*self.ranking.ranked_keys(plan)).where(plan.c.dbsim_place > 1)
            connection.execute(delete(source).where(self._key(source).in_(chosen)))

        return self._act(act, expected, even_if_behind)

    def mark(self, name: str, expected: Resolution | None = None, *, even_if_behind: bool = False) -> Resolution:
        """Set a column instead: true where it is boolean, else the key of the row that stays; cleared for that one."""

        def act(connection: Connection, plan: Any) -> None:
            stays, goes = self._values(connection, name, plan)
            own = [Column(key, PlainType(type_)) for key, type_ in self.place.tables.record.primary_key]
            options = self.place.tables.record.options
            target = Table(options.table, MetaData(), *own, Column(name, NullType()), schema=options.schema)
            pairs = zip(self.ranking.ranked_keys(plan), self.ranking.keys(target), strict=True)
            value = select(case((plan.c.dbsim_place > 1, goes), else_=stays)).where(and_(*(a == b for a, b in pairs)))
            members = select(*self.ranking.ranked_keys(plan)).where(plan.c.dbsim_rows > 1)
            statement = update(target).values({name: value.scalar_subquery()})
            connection.execute(statement.where(self._key(target).in_(members)))

        return self._act(act, expected, even_if_behind)

    @property
    def place(self) -> Workplace:
        return self.ranking.place

    def _key(self, selectable: Any) -> Any:
        keys = self.ranking.keys(selectable)
        return keys[0] if len(keys) == 1 else tuple_(*keys)

    def _act(self, act: Action, expected: Resolution | None, even_if_behind: bool) -> Resolution:
        def work(connection: Connection) -> Resolution:
            self._require_table(connection)
            self.ranking.check(connection)
            self._lock(connection)
            if not even_if_behind:
                self._require_current(connection)
            plan = self._plan(connection)
            found = _summary(connection, plan)
            if expected is not None and (found.groups, found.removed) != (expected.groups, expected.removed):
                raise IndexBehind("the groups have changed since they were counted: nothing was done, look again")
            act(connection, plan)
            connection.exec_driver_sql(f"DROP TABLE {PLAN}")
            return Resolution(found.groups, found.removed, done=True)

        return self.place.write(work)

    def _lock(self, connection: Connection) -> None:
        """What the application changed before is in the queue after this; what it changes later waits."""
        source = self.place.tables.source
        members = select(*self.ranking.keys(self.place.groups.groups))
        rows: Select[Any] = select(literal_column("1")).select_from(source).where(self._key(source).in_(members))
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
    def _require_table(self, connection: Connection) -> Source:
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

    def _require_current(self, connection: Connection) -> None:
        reason = self._behind(connection)
        if reason:
            raise IndexBehind(
                f"{reason}, so rows that are no longer duplicates might go: run `dbsim sync` and look again, "
                f"or proceed with --even-if-behind"
            )

    def _behind(self, connection: Connection) -> str:
        tables, groups = self.place.tables, self.place.groups
        state = group_state.load(connection, groups)
        queued = connection.scalar(select(func.count()).select_from(tables.queue))
        if not catalogue.load(connection, tables.record.name).ready or not state.paired:
            return "the index is not complete"
        if queued:
            return f"{queued} changes of the table are not in the index yet"
        if group_state.pending(connection, groups) or not state.settled:
            return "the groups do not reflect the latest changes yet"
        if not tables.record.options.triggers:
            return "an index without triggers cannot tell whether it is behind the table"
        if self.place.backend.missing_triggers(connection, tables):
            return "triggers are missing and changes may have gone unnoticed"
        return ""

    def _values(self, connection: Connection, name: str, plan: Any) -> tuple[Any, Any]:
        """The column's values for a row that stays and for one that goes."""
        source = self._require_table(connection)
        if name not in source.columns:
            raise UnknownName(f"column of table {source.table!r} named", name, source.columns)
        if name in (*self.place.tables.key_names, *self.place.tables.record.options.columns):
            raise InvalidOption(f"column {name!r} is part of the key or of the indexed text: mark another one")
        if source.columns[name].lower() in ("boolean", "bool"):
            return false(), true()
        if len(self.place.tables.key_names) > 1:
            raise InvalidOption(f"a key of several parts does not fit into column {name!r}: mark a boolean column")
        return null(), cast(plan.c.dbsim_kept0, PlainType(source.columns[name] or "text"))


def _summary(connection: Connection, ranked: Any) -> Resolution:
    several = ranked.c.dbsim_rows > 1
    kept = func.count().filter(several, ranked.c.dbsim_place == 1)
    removed = func.count().filter(several, ranked.c.dbsim_place > 1)
    groups, rows = connection.execute(select(kept, removed).select_from(ranked)).one()
    return Resolution(groups, rows)

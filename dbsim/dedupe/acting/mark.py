"""Write into a column which rows of each group could go: Ranking → Resolution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Column, Connection, MetaData, Table, and_, case, cast, false, func, null, select, true, update
from sqlalchemy.types import NullType

from dbsim.dedupe.acting.resolve import Acting, Resolution
from dbsim.errors import InvalidOption, UnknownName
from dbsim.tables.index_tables import PlainType


@dataclass(frozen=True)
class Marking(Acting):
    """True where the column is boolean, else the key of the row that stays; cleared for that one."""

    column: str
    overwrite: bool = False

    def counted(self, connection: Connection, plan: Any, found: Resolution) -> Resolution:
        stays, goes = self._values(connection, plan)
        target = self._target()
        pairs = zip(self.ranking.ranked_keys(plan), self.ranking.keys(target), strict=True)
        joined = target.join(plan, and_(*(a == b for a, b in pairs)))
        held = target.c[self.column]
        wanted = case((plan.c.dbsim_place > 1, goes), else_=stays)
        other = held.is_not(None) & held.is_distinct_from(wanted) & (plan.c.dbsim_rows > 1)
        if stays is not None and isinstance(stays, type(false())):
            other &= held != false()  # false stands in every row of a column that begins so
        query = select(func.count()).select_from(joined).where(other)
        return replace(found, other_values=connection.scalar(query) or 0)

    def refuse(self, found: Resolution) -> None:
        if found.other_values and not self.overwrite:
            raise InvalidOption(
                f"column {self.column!r} holds other values in {found.other_values} rows of these groups: nothing was "
                f"marked; name another column, or say overwrite (--overwrite) to replace them"
            )

    def act(self, connection: Connection, plan: Any) -> None:
        stays, goes = self._values(connection, plan)
        target = self._target()
        pairs = zip(self.ranking.ranked_keys(plan), self.ranking.keys(target), strict=True)
        value = select(case((plan.c.dbsim_place > 1, goes), else_=stays)).where(and_(*(a == b for a, b in pairs)))
        members = select(*self.ranking.ranked_keys(plan)).where(plan.c.dbsim_rows > 1)
        statement = update(target).values({self.column: value.scalar_subquery()})
        connection.execute(statement.where(self.key(target).in_(members)))

    def _target(self) -> Table:
        own = [Column(key, PlainType(type_)) for key, type_ in self.place.tables.record.primary_key]
        options = self.place.tables.record.options
        return Table(options.table, MetaData(), *own, Column(self.column, NullType()), schema=options.schema)

    def _values(self, connection: Connection, plan: Any) -> tuple[Any, Any]:
        """The column's values for a row that stays and for one that goes."""
        source, name = self.require_table(connection), self.column
        if name not in source.columns:
            raise UnknownName(f"column of table {source.table!r} named", name, source.columns)
        if name in (*self.place.tables.key_names, *self.place.tables.record.options.columns):
            raise InvalidOption(f"column {name!r} is part of the key or of the indexed text: mark another one")
        if source.columns[name].lower() in ("boolean", "bool"):
            return false(), true()
        if len(self.place.tables.key_names) > 1:
            raise InvalidOption(f"a key of several parts does not fit into column {name!r}: mark a boolean column")
        return null(), cast(plan.c.dbsim_kept0, PlainType(source.columns[name] or "text"))

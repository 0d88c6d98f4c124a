"""Write into a column which rows of each group could go: Ranking → Resolution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    MetaData,
    Table,
    Text,
    and_,
    case,
    cast,
    false,
    func,
    null,
    select,
    true,
    update,
)
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
        stays, _ = self._values(connection, plan)
        self._require_room(connection, plan)
        held = self._target.c[self.column]
        other: ColumnElement[bool] = held.is_not(None)
        if stays is not None and isinstance(stays, type(false())):
            other &= held != false()  # false stands in every row of a column that begins so
        return replace(found, other_values=self._differing(connection, plan, other))

    def undone(self, connection: Connection, plan: Any) -> int:
        return self._differing(connection, plan, true())

    def _differing(self, connection: Connection, plan: Any, also: ColumnElement[bool]) -> int:
        """Rows of groups whose column does not hold what it is to hold."""
        stays, goes = self._values(connection, plan)
        target = self._target
        pairs = zip(self.ranking.ranked_keys(plan), self.ranking.keys(target), strict=True)
        joined = target.join(plan, and_(*(a == b for a, b in pairs)))
        wanted = case((plan.c.dbsim_place > 1, goes), else_=stays)
        differs = target.c[self.column].is_distinct_from(wanted) & (plan.c.dbsim_rows > 1)
        return connection.scalar(select(func.count()).select_from(joined).where(differs & also)) or 0

    def _require_room(self, connection: Connection, plan: Any) -> None:
        """A key that is another one in the column's type ('12345' in a varchar(2), 'a' in an INTEGER) marks nothing."""
        stays, goes = self._values(connection, plan)
        if isinstance(stays, type(false())):
            return
        key, type_ = plan.c.dbsim_kept0, self.place.tables.record.primary_key[0][1]
        lossy = cast(goes, PlainType(type_ or "text")).is_distinct_from(key)
        lossy &= cast(goes, Text).is_distinct_from(cast(key, Text)) & (plan.c.dbsim_place > 1)
        if connection.scalar(select(func.count()).select_from(plan).where(lossy)):
            raise InvalidOption(
                f"keys of the rows that stay do not fit into column {self.column!r}: mark a boolean column, or one "
                f"of the key's type ({type_})"
            )

    def refuse(self, found: Resolution) -> None:
        if found.other_values and not self.overwrite:
            raise InvalidOption(
                f"column {self.column!r} holds other values in {found.other_values} rows of these groups: nothing was "
                f"marked; name another column, or say overwrite (--overwrite) to replace them"
            )

    def act(self, connection: Connection, plan: Any) -> None:
        stays, goes = self._values(connection, plan)
        target = self._target
        pairs = zip(self.ranking.ranked_keys(plan), self.ranking.keys(target), strict=True)
        value = select(case((plan.c.dbsim_place > 1, goes), else_=stays)).where(and_(*(a == b for a, b in pairs)))
        members = select(*self.ranking.ranked_keys(plan)).where(plan.c.dbsim_rows > 1)
        statement = update(target).values({self.column: value.scalar_subquery()})
        connection.execute(statement.where(self.key(target).in_(members)))

    @cached_property
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

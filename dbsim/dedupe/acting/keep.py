"""Which row of each stored group stays: first, last, longest or a SQL expression → a ranking inside the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, Select, and_, bindparam, func, literal_column, select
from sqlalchemy.exc import DBAPIError

from dbsim.dedupe.store_pairs import Workplace
from dbsim.errors import InvalidOption
from dbsim.tables.group_tables import PUBLISHED
from dbsim.tables.key_conditions import key_columns
from dbsim.tables.names import literal, quote
from dbsim.tables.source import Key

CHOICES = ("first", "last", "longest")


@dataclass(frozen=True)
class Ranking:
    """`keep` is one of CHOICES, or a SQL expression of which the highest value stays (ties: the first row)."""

    place: Workplace
    result: str = PUBLISHED
    keep: str = "first"

    def ranked(self, groups: Sequence[int] | BindParameter[Any] | None = None) -> Select[Any]:
        """Each row of a group with its place (1 stays), the group's number of rows and the key of the one that stays.

        The expression is evaluated in a scope of its own, where only the source's columns are known.
        """
        view = self.view
        group = view.c[self.place.groups.shown[0]]
        source = self.place.tables.source
        own = key_columns(source, self.place.tables)
        rows = select(*own, self._value().label("dbsim_value")).select_from(source).subquery("dbsim_source")
        keys = self.keys(rows)
        window: dict[str, Any] = {"partition_by": group, "order_by": self._order(rows.c.dbsim_value, keys)}
        query = select(
            *(key.label(f"dbsim_key{i}") for i, key in enumerate(keys)),
            func.row_number().over(**window).label("dbsim_place"),
            func.count().over(partition_by=group).label("dbsim_rows"),
            *(func.first_value(key).over(**window).label(f"dbsim_kept{i}") for i, key in enumerate(keys)),
        ).join_from(view, rows, and_(*(a == b for a, b in zip(self.keys(view), keys, strict=True))))
        return query if groups is None else query.where(group.in_(groups))

    @property
    def view(self) -> Any:
        """The rows of the result's groups."""
        view = self.place.groups.saved_groups
        mine = view.c[self.place.groups.result_name] == literal_column(literal(self.result))
        return (
            select(*(view.c[name] for name in (*self.place.tables.key_names, *self.place.groups.shown)))
            .where(mine)
            .subquery("dbsim_members")
        )

    def keys(self, selectable: Any) -> list[ColumnElement[Any]]:
        return [selectable.c[name] for name in self.place.tables.key_names]

    def ranked_keys(self, ranked: Any) -> list[ColumnElement[Any]]:
        return [ranked.c[f"dbsim_key{i}"] for i in range(len(self.place.tables.key_names))]

    def kept(self, connection: Connection, groups: Sequence[int]) -> set[Key]:
        """Keys of the rows that stay, of some groups."""
        self.check(connection)
        known, name = self.place.tables.companions, f"kept {self.keep} {self.result}"
        if name not in known or self.keep not in CHOICES:
            ranked = self.ranked(bindparam("groups", expanding=True)).subquery("ranked")
            known[name] = select(*self.ranked_keys(ranked)).where(ranked.c.dbsim_place == 1)
        return {tuple(row) for row in connection.execute(known[name], {"groups": list(groups)})}

    def check(self, connection: Connection) -> None:
        """Refuse an expression that the database does not understand."""
        if self.keep in CHOICES:
            return
        try:
            connection.execute(select(self._value()).select_from(self.place.tables.source).limit(1)).all()
        except DBAPIError as error:
            detail = str(error.orig).strip().split("\n")[0]
            raise InvalidOption(
                f"rows are kept by {', '.join(CHOICES)} or a SQL expression, but {self.keep!r} is none: {detail}"
            ) from error

    def _order(self, value: ColumnElement[Any], keys: list[ColumnElement[Any]]) -> list[ColumnElement[Any]]:
        if self.keep == "first":
            return keys
        if self.keep == "last":
            return [key.desc() for key in keys]
        return [value.is_(None), value.desc(), *keys]

    def _value(self) -> ColumnElement[Any]:
        if self.keep in ("first", "last"):
            return literal_column("0")
        if self.keep == "longest":
            lengths = [f"coalesce(length({quote(name)}), 0)" for name in self.place.tables.record.options.columns]
            return literal_column(" + ".join(lengths))
        return literal_column(f"({self.keep})")

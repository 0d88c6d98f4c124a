"""Stored groups for people, a page at a time, filtered and ordered by the database: Filter → Summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, Select, Subquery, bindparam, func, select, tuple_

from dbsim.dedupe.people.histogram import bars, counted
from dbsim.dedupe.people.result_view import ResultView
from dbsim.tables.source import Key, public_key

SORTS = {"size": ("rows", True), "diameter": ("diameter", True), "score": ("lowest", False)}  # descending?
SMALLEST = 2  # rows of a group


@dataclass(frozen=True)
class Filter:
    """Which groups: the lowest score of a member with its representative, the number of rows, or these groups only."""

    low: float = 0.0
    high: float = 1.0
    rows: int = SMALLEST
    among: tuple[int, ...] | None = None

    @property
    def conditions(self) -> tuple[str, ...]:
        """Those that say something; one that every group fulfils would only lead to another index than the order's."""
        said = {
            "low": self.low > 0,
            "high": self.high < 1,
            "rows": self.rows > SMALLEST,
            "among": self.among is not None,
        }
        return tuple(name for name, here in said.items() if here)

    @property
    def values(self) -> dict[str, Any]:
        """Of the parameters in those conditions."""
        return {"low": self.low, "high": self.high, "rows": self.rows, "among": list(self.among or ())}


@dataclass(frozen=True)
class Summary:
    """A group without its members."""

    id: int
    rows: int
    diameter: float
    lowest: float
    representative: Any


class GroupPages(ResultView):
    """Groups of the result, their members and their figures."""

    def _summaries(self, *, named: bool = False) -> Subquery:
        """Figures of a group stand with its representative; the indexes of `GroupTables` put them in order."""
        contents, results = self.groups.contents, self.groups.results
        mine = select(results.c.generation).where(results.c.name == self.result).scalar_subquery()
        representative = [contents.c[name].label(f"r{i}") for i, name in enumerate(self.groups.representative)]
        figures = (contents.c.group_rows.label("rows"), contents.c.diameter, contents.c.lowest)
        query = select(contents.c.group_id.label("id"), *figures, *representative)
        leads = contents.c.group_rows + 0 if named else contents.c.group_rows  # a few are looked up, not met on a walk
        return query.where(contents.c.generation == mine, leads.is_not(None)).subquery("summaries")

    def page(
        self,
        connection: Connection,
        wanted: Filter,
        sort: str,
        after: tuple[float, int] | None,
        size: int,
        *,
        few: bool = False,
    ) -> list[Summary]:
        """The next groups behind (value, group) in this order.

        `few` fulfil the filter: then the database may look for all of them and sort, instead of walking in the order.
        """
        conditions, later = wanted.conditions, after is not None
        name = ("page", sort, later, conditions, few)
        query = self._statement(name, lambda: self._page(sort, later, conditions, few=few))
        value, number = after or (0, 0)
        whole = SORTS[sort][0] == "rows"  # a fraction would be compared with all of them, not looked up
        values = {"value": int(value) if whole else value, "number": number, "size": size}
        names = self.tables.key_names
        return [
            Summary(row[0], row[1], row[2], row[3], public_key(names, tuple(row[4:])))
            for row in connection.execute(query, values | wanted.values)
        ]

    def _page(self, sort: str, later: bool, conditions: Sequence[str], *, few: bool) -> Select[Any]:
        named = "among" in conditions
        found = self._summaries(named=named)
        name, descending = SORTS[sort]
        order = (found.c[name] + 0 if named else found.c[name], found.c.id)
        query = self._filtered(select(found), found, conditions, "" if few else name)
        query = query.order_by(*(one.desc() if descending else one for one in order))
        query = query.limit(bindparam("size", type_=Integer))
        if later:
            last = tuple_(bindparam("value", type_=order[0].type), bindparam("number", type_=order[1].type))
            query = query.where(tuple_(*order) < last if descending else tuple_(*order) > last)
        return query

    def _filtered(self, query: Any, found: Subquery, conditions: Sequence[str], order: str = "") -> Select[Any]:
        """In an order no index may lead to another figure, and a sum has none: all it finds would have to be sorted."""
        lowest, rows = (found.c[name] if order in ("", name) else found.c[name] + 0 for name in ("lowest", "rows"))
        made = {
            "low": lowest >= bindparam("low"),
            "high": lowest <= bindparam("high"),
            "rows": rows >= bindparam("rows"),
            "among": found.c.id.in_(bindparam("among", expanding=True)),
        }
        filtered: Select[Any] = query.where(*(made[name] for name in conditions))
        return filtered

    def count(self, connection: Connection, wanted: Filter) -> tuple[int, int]:
        """Groups, and rows in them."""
        found = self._summaries()
        query = select(func.count(), func.coalesce(func.sum(found.c.rows), 0)).select_from(found)
        filtered = self._filtered(query, found, wanted.conditions)
        groups, rows = connection.execute(filtered, wanted.values).one()
        return int(groups), int(rows)

    def histogram(self, connection: Connection, wanted: Filter) -> list[int]:
        """How many groups have their lowest score in each of BARS equal parts of 0 … 1."""
        found, whole = self._summaries(), Filter(rows=wanted.rows, among=wanted.among)
        query = self._filtered(counted(found.c.lowest), found, whole.conditions)
        return bars(connection.execute(query, whole.values))

    def sizes(self, connection: Connection) -> list[tuple[int, int]]:
        """(rows of a group, groups that have so many)"""
        found = self._summaries()
        query = select(found.c.rows, func.count()).group_by(found.c.rows).order_by(found.c.rows)
        return [(int(rows), int(number)) for rows, number in connection.execute(query)]

    def of_rows(self, connection: Connection, keys: Sequence[Key]) -> tuple[int, ...]:
        """The groups that these rows belong to."""
        view = self._view
        columns = [view.c[name] for name in self.tables.key_names]
        mine = columns[0].in_([key[0] for key in keys]) if len(columns) == 1 else tuple_(*columns).in_(list(keys))
        query = select(view.c[self.groups.shown[0]]).where(mine).distinct()
        return tuple(connection.execute(query).scalars())

    def members(self, connection: Connection, group: int, limit: int) -> list[tuple[Any, float]]:
        """(key, score with the representative) of a group's first rows."""
        query = self._statement("members", self._members)
        names, values = self.tables.key_names, {"number": group, "size": limit}
        return [(public_key(names, tuple(row[:-1])), row[-1]) for row in connection.execute(query, values)]

    def _members(self) -> Select[Any]:
        view = self._view
        keys = [view.c[name] for name in self.tables.key_names]
        number, score = (view.c[name] for name in self.groups.shown[:2])
        mine = number == bindparam("number", type_=BigInteger)
        found = select(*keys, score).where(mine).order_by(score.desc(), *keys)
        return found.limit(bindparam("size", type_=Integer))

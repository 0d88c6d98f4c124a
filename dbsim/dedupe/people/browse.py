"""Stored groups and pairs for people, a page at a time, filtered and ordered by the database: → Summary, Doubtful."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Select,
    Subquery,
    bindparam,
    case,
    cast,
    func,
    select,
    tuple_,
)

from dbsim.context import Stage
from dbsim.dedupe.contents import firsts
from dbsim.dedupe.people.decisions import Book
from dbsim.lifecycle import groups as stored_groups
from dbsim.tables.group_tables import PUBLISHED, GroupTables
from dbsim.tables.source import Key, public_key

BARS = 40  # of a histogram of scores from 0 to 1
SORTS = {"size": ("rows", True), "diameter": ("diameter", True), "score": ("lowest", False)}  # descending?
SMALLEST = 2  # rows of a group
OUTDATED = 50  # decisions asked again before the next are sought
Place = tuple[float, int, int]  # in the order of pairs: score and both contents


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


@dataclass(frozen=True)
class Doubtful:
    """Two rows to be judged; `place` is where to go on from, None for a pair that is asked again."""

    a: Any
    b: Any
    score: float
    place: Place | None


@dataclass
class Browser(Stage):
    """Reads only, of one result."""

    result: str = PUBLISHED
    _known: dict[Hashable, Select[Any]] = field(default_factory=dict)
    _exist: bool = False

    def _statement(self, name: Hashable, make: Callable[[], Select[Any]]) -> Select[Any]:
        """The same for the same kind of question: making one takes longer than a short answer to it."""
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    @cached_property
    def groups(self) -> GroupTables:
        return GroupTables(self.tables)

    @cached_property
    def _view(self) -> Any:
        """The rows of the result's groups."""
        view = self.groups.saved_groups
        names = (*self.tables.key_names, *self.groups.shown)
        mine = view.c[self.groups.result_name] == self.result
        return select(*(view.c[name] for name in names)).where(mine).subquery("shown")

    @cached_property
    def _edges(self) -> Any:
        """The pairs that the result groups."""
        edges, results = self.groups.edges, self.groups.results
        mine = select(results.c.pairing).where(results.c.name == self.result).scalar_subquery()
        return select(edges.c.a, edges.c.b, edges.c.score).where(edges.c.pairing == mine).subquery("edges")

    def exist(self) -> bool:
        """Whether groups are stored; once they are, they stay as long as this generation of the index."""
        if not self._exist:
            self._exist = self.read(lambda c: stored_groups.exist(c, self.backend, self.groups))
        return self._exist

    # ── groups ──
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
        found = self._summaries()
        bar = _bar(found.c.lowest)
        whole = Filter(rows=wanted.rows, among=wanted.among)
        query = self._filtered(select(bar, func.count()), found, whole.conditions)
        bars = [0] * BARS
        for place, number in connection.execute(query.group_by(bar), whole.values):
            bars[min(max(int(place), 0), BARS - 1)] += number
        return bars

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

    # ── pairs ──
    def scores(self, connection: Connection) -> list[int]:
        """How many stored pairs have their score in each of BARS equal parts of 0 … 1."""
        edges = self._edges
        bar = _bar(edges.c.score)
        bars = [0] * BARS
        for place, number in connection.execute(select(bar, func.count()).group_by(bar)):
            bars[min(max(int(place), 0), BARS - 1)] += number
        return bars

    def pairs(self, connection: Connection) -> int:
        return connection.scalar(select(func.count()).select_from(self._edges)) or 0

    def doubtful(self, connection: Connection, after: Place | None, size: int) -> tuple[list[Doubtful], Place | None]:
        """Those of the next pairs that nobody decided yet, the least similar, which are the most doubtful, first.

        And where the next pairs begin; None behind the last.
        """
        query = self._statement(("doubtful", after is not None), lambda: self._doubtful(after is not None))
        score, a, b = after or (0.0, 0, 0)
        rows = connection.execute(query, {"size": size, "score": score, "a": a, "b": b}).all()
        pairs = [(row[0], row[1], row[2]) for row in rows]
        return (self._undecided(connection, pairs) if pairs else []), (pairs[-1] if len(pairs) == size else None)

    def _doubtful(self, later: bool) -> Select[Any]:
        edges = self._edges
        order = (edges.c.score, edges.c.a, edges.c.b)
        query = select(*order).order_by(*order)
        if later:
            query = query.where(tuple_(*order) > tuple_(*(bindparam(one.name, type_=one.type) for one in order)))
        return query.limit(bindparam("size", type_=Integer))

    def _undecided(self, connection: Connection, pairs: list[Place]) -> list[Doubtful]:
        wanted = np.unique(np.array([number for _, *ends in pairs for number in ends], np.int64))
        rows = {first.fingerprint: first.key for first in firsts(connection, self.backend, self.tables, wanted)}
        book = Book(self.context)
        decided = {frozenset((a, b)) for a, b, d in book.of(connection, list(rows.values())) if not d.outdated}
        names = self.tables.key_names
        return [
            Doubtful(public_key(names, rows[a]), public_key(names, rows[b]), score, (score, a, b))
            for score, a, b in pairs
            if a in rows and b in rows and frozenset((rows[a], rows[b])) not in decided
        ]

    def outdated(self, connection: Connection) -> list[tuple[Key, Key]]:
        """Some pairs whose decision was about other texts; all decisions are looked at."""
        book, width = Book(self.context), len(self.tables.key_names)
        return [(key[:width], key[width:]) for key, _ in book.outdated(connection, OUTDATED)]

    def again(self, connection: Connection, pairs: Sequence[tuple[Key, Key]]) -> list[Doubtful]:
        """Those of them that are outdated still, to be asked again."""
        keys = list(dict.fromkeys(key for pair in pairs for key in pair))
        still = {(a, b) for a, b, d in Book(self.context).of(connection, keys) if d.outdated}
        names = self.tables.key_names
        return [Doubtful(public_key(names, a), public_key(names, b), 0.0, None) for a, b in pairs if (a, b) in still]

    def buckets(self, connection: Connection) -> list[tuple[int, int]]:
        """(rows of a bucket, buckets of so many) of the first key."""
        key = self.tables.signatures.c[self.tables.names.keys[0]]
        sizes = select(func.count().label("rows")).where(key.is_not(None)).group_by(key).subquery("sizes")
        query = select(sizes.c.rows, func.count()).group_by(sizes.c.rows).order_by(sizes.c.rows)
        return [(int(rows), int(number)) for rows, number in connection.execute(query)]


def _bar(value: ColumnElement[float]) -> ColumnElement[int]:
    """Which of BARS equal parts of 0 … 1; of a number cast to a whole one SQLite keeps less, PostgreSQL the nearest."""
    whole = cast(value * BARS, Integer)
    return (whole - case((whole > value * BARS, 1), else_=0)).label("bar")

"""Stored groups and pairs for people, a page at a time, filtered and ordered by the database: → Summary, Doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import Connection, Integer, Select, Subquery, cast, func, select, tuple_

from dbsim.context import Stage
from dbsim.dedupe.contents import firsts
from dbsim.dedupe.people.decisions import Book
from dbsim.lifecycle import groups as stored_groups
from dbsim.tables.group_tables import PUBLISHED, GroupTables
from dbsim.tables.source import Key, public_key

BARS = 40  # of a histogram of scores from 0 to 1
SORTS = {"size": ("rows", True), "diameter": ("diameter", True), "score": ("lowest", False)}  # descending?
SMALLEST = 2  # rows of a group
LOOKED_AT, MOST_LOOKED_AT = 12, 1000  # pairs read at once in the search for one that is undecided


@dataclass(frozen=True)
class Filter:
    """Which groups: the lowest score of a member with its representative, the number of rows, or these groups only."""

    low: float = 0.0
    high: float = 1.0
    rows: int = SMALLEST
    among: tuple[int, ...] | None = None


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
    place: tuple[float, int, int] | None


@dataclass
class Browser(Stage):
    """Reads only, of one result."""

    result: str = PUBLISHED

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

    def exist(self, connection: Connection) -> bool:
        return stored_groups.exist(connection, self.backend, self.groups)

    # ── groups ──
    def _summaries(self) -> Subquery:
        """Figures of a group stand with its representative; the indexes of `GroupTables` put them in order."""
        contents, results = self.groups.contents, self.groups.results
        mine = select(results.c.generation).where(results.c.name == self.result).scalar_subquery()
        representative = [contents.c[name].label(f"r{i}") for i, name in enumerate(self.groups.representative)]
        figures = (contents.c.group_rows.label("rows"), contents.c.diameter, contents.c.lowest)
        query = select(contents.c.group_id.label("id"), *figures, *representative)
        return query.where(contents.c.generation == mine, contents.c.group_rows.is_not(None)).subquery("summaries")

    def page(
        self, connection: Connection, wanted: Filter, sort: str, after: tuple[float, int] | None, size: int
    ) -> list[Summary]:
        """The next groups behind (value, group) in this order."""
        found = self._summaries()
        name, descending = SORTS[sort]
        column = found.c[name]
        query = self._filtered(select(found), found, wanted).limit(size)
        order = (column, found.c.id)
        query = query.order_by(*(one.desc() if descending else one for one in order))
        if after is not None:
            query = query.where(tuple_(*order) < after if descending else tuple_(*order) > after)
        names = self.tables.key_names
        return [
            Summary(row[0], row[1], row[2], row[3], public_key(names, tuple(row[4:])))
            for row in connection.execute(query)
        ]

    def _filtered(self, query: Any, found: Subquery, wanted: Filter) -> Select[Any]:
        """Conditions that every group fulfils would only lead to another index than that of the order."""
        conditions = [
            *([found.c.lowest >= wanted.low] if wanted.low > 0 else []),
            *([found.c.lowest <= wanted.high] if wanted.high < 1 else []),
            *([found.c.rows >= wanted.rows] if wanted.rows > SMALLEST else []),
            *([found.c.id.in_(wanted.among)] if wanted.among is not None else []),
        ]
        filtered: Select[Any] = query.where(*conditions)
        return filtered

    def count(self, connection: Connection, wanted: Filter) -> tuple[int, int]:
        """Groups, and rows in them."""
        found = self._summaries()
        query = select(func.count(), func.coalesce(func.sum(found.c.rows), 0)).select_from(found)
        groups, rows = connection.execute(self._filtered(query, found, wanted)).one()
        return int(groups), int(rows)

    def histogram(self, connection: Connection, wanted: Filter) -> list[int]:
        """How many groups have their lowest score in each of BARS equal parts of 0 … 1."""
        found = self._summaries()
        bar = cast(found.c.lowest * BARS - 0.5, Integer).label("bar")
        query = self._filtered(select(bar, func.count()), found, Filter(rows=wanted.rows, among=wanted.among))
        bars = [0] * BARS
        for place, number in connection.execute(query.group_by(bar)):
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
        view = self._view
        keys = [view.c[name] for name in self.tables.key_names]
        number, score = (view.c[name] for name in self.groups.shown[:2])
        query = select(*keys, score).where(number == group).order_by(score.desc(), *keys).limit(limit)
        names = self.tables.key_names
        return [(public_key(names, tuple(row[:-1])), row[-1]) for row in connection.execute(query)]

    # ── pairs ──
    def scores(self, connection: Connection) -> list[int]:
        """How many stored pairs have their score in each of BARS equal parts of 0 … 1."""
        edges = self._edges
        bar = cast(edges.c.score * BARS - 0.5, Integer).label("bar")
        bars = [0] * BARS
        for place, number in connection.execute(select(bar, func.count()).group_by(bar)):
            bars[min(max(int(place), 0), BARS - 1)] += number
        return bars

    def pairs(self, connection: Connection) -> int:
        return connection.scalar(select(func.count()).select_from(self._edges)) or 0

    def doubtful(
        self, connection: Connection, threshold: float, after: tuple[float, int, int] | None
    ) -> list[Doubtful]:
        """Pairs that nobody decided yet, the least similar, which are the most doubtful, first."""
        edges = self._edges
        order = (edges.c.score, edges.c.a, edges.c.b)
        query, size = select(*order).where(edges.c.score >= threshold).order_by(*order), LOOKED_AT
        while True:
            page = query if after is None else query.where(tuple_(*order) > after)
            rows = connection.execute(page.limit(size)).all()
            if not rows:
                return []
            found = self._undecided(connection, [(row[0], row[1], row[2]) for row in rows])
            if found:
                return found
            after, size = tuple(rows[-1]), min(size * 4, MOST_LOOKED_AT)

    def _undecided(self, connection: Connection, pairs: list[tuple[float, int, int]]) -> list[Doubtful]:
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

    def outdated(self, connection: Connection, limit: int = 50) -> list[tuple[Key, Key]]:
        """Pairs whose decision was about other texts: to be asked again, before all others."""
        book, width = Book(self.context), len(self.tables.key_names)
        return [(key[:width], key[width:]) for key, _ in book.outdated(connection, limit)]

    def buckets(self, connection: Connection) -> list[tuple[int, int]]:
        """(rows of a bucket, buckets of so many) of the first key."""
        key = self.tables.signatures.c[self.tables.names.keys[0]]
        sizes = select(func.count().label("rows")).where(key.is_not(None)).group_by(key).subquery("sizes")
        query = select(sizes.c.rows, func.count()).group_by(sizes.c.rows).order_by(sizes.c.rows)
        return [(int(rows), int(number)) for rows, number in connection.execute(query)]

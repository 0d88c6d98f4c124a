"""Contents, that is distinct fingerprints, and the rows that have them: fingerprints → First; pages of edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, func, select, tuple_

from dbsim.engines.backend import Backend
from dbsim.engines.context import IndexContext
from dbsim.engines.signature_rows import Numbers, json_numbers
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key

PAGE = 20_000  # edges read at once


@dataclass(frozen=True)
class First:
    """A content: how many rows have it, and the first of them in key order."""

    fingerprint: int
    copies: int
    key: Key


@dataclass(frozen=True)
class Edges:
    """Pairs of fingerprints with their scores, and whether these are exact."""

    a: Numbers
    b: Numbers
    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]

    @staticmethod
    def of(rows: Any) -> Edges:
        found = [tuple(row) for row in rows]
        numbers = np.array([row[:2] for row in found], np.int64).reshape(-1, 2)
        scores, exact = (np.array([row[place] for row in found]) for place in (2, 3))
        return Edges(numbers[:, 0], numbers[:, 1], scores.astype(np.float64), exact.astype(bool))

    def where(self, chosen: NDArray[np.bool_] | slice | Numbers) -> Edges:
        return Edges(self.a[chosen], self.b[chosen], self.scores[chosen], self.exact[chosen])

    @staticmethod
    def concatenate(parts: list[Edges]) -> Edges:
        parts = [Edges.of([]), *parts]
        columns = zip(*((p.a, p.b, p.scores, p.exact) for p in parts), strict=True)
        return Edges(*(np.concatenate(column) for column in columns))

    def __len__(self) -> int:
        return len(self.a)


def firsts(connection: Connection, backend: Backend, tables: IndexTables, wanted: Numbers) -> list[First]:
    """The contents among these that are stored, in the order of their first rows."""
    if "firsts" not in tables.companions:  # making the statement takes longer than a short answer to it
        tables.companions["firsts"] = _firsts(backend, tables)
    rows = connection.execute(tables.companions["firsts"], {"wanted": json_numbers(wanted)})
    return [First(row[0], row[1], tuple(row[2:])) for row in rows]


def _firsts(backend: Backend, tables: IndexTables) -> Select[Any]:
    stored = tables.signatures
    fingerprint = stored.c[tables.names.fingerprint].label("dbsim_fingerprint")
    keys = tables.stored_key
    listed = backend.json_rows("wanted", ["number"])
    place = func.row_number().over(partition_by=fingerprint, order_by=keys).label("dbsim_place")
    copies = func.count().over(partition_by=fingerprint).label("dbsim_copies")
    numbered = select(fingerprint, copies, place, *keys).join(listed, listed.c.number == fingerprint).subquery("n")
    own_keys = [numbered.c[name] for name in tables.key_names]
    return (
        select(numbered.c.dbsim_fingerprint, numbered.c.dbsim_copies, *own_keys)
        .where(numbered.c.dbsim_place == 1)
        .order_by(*own_keys)
    )


def incident(connection: Connection, backend: Backend, groups: GroupTables, pairing: int, wanted: Numbers) -> Edges:
    """Every stored pair with one of these contents; a pair of two of them comes twice."""
    asked = {"wanted": json_numbers(wanted)}
    queries = (_edges(groups, pairing).where(end) for end in touching(groups, backend))
    return Edges.concatenate([Edges.of(connection.execute(query, asked)) for query in queries])


def edge_pages(context: IndexContext, groups: GroupTables, pairing: int, threshold: float) -> Iterator[Edges]:
    """All pairs of a pairing that reach the threshold, a page at a time, so that nobody waits for a long read."""
    last: tuple[int, int] | None = None
    while True:
        page = Edges.of(context.read(lambda c: c.execute(_page(groups, pairing, last)).all()))  # noqa: B023
        if not len(page):
            return
        last = (int(page.a[-1]), int(page.b[-1]))
        yield page.where(page.scores >= threshold)


def _edges(groups: GroupTables, pairing: int) -> Select[Any]:
    edges = groups.edges
    return select(edges.c.a, edges.c.b, edges.c.score, edges.c.exact).where(edges.c.pairing == pairing)


def _page(groups: GroupTables, pairing: int, last: tuple[int, int] | None) -> Select[Any]:
    edges = groups.edges
    query = _edges(groups, pairing).order_by(edges.c.a, edges.c.b).limit(PAGE)
    return query if last is None else query.where(tuple_(edges.c.a, edges.c.b) > last)


def touching(groups: GroupTables, backend: Backend) -> list[Any]:
    """Conditions on edges, for a statement each: that end is among the numbers bound as `wanted`."""
    known = groups.tables.companions
    if "touching" not in known:
        # not a join, which SQLite would do the other way round: every pair of the pairing against every number
        listed = select(backend.json_rows("wanted", ["number"]).c.number)
        known["touching"] = [end.in_(listed) for end in (groups.edges.c.a, groups.edges.c.b)]
    return list(known["touching"])

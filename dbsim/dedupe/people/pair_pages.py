"""Stored pairs for people, the most doubtful first: a place in their order → Doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Integer, Select, bindparam, func, select, tuple_

from dbsim.dedupe.contents import firsts
from dbsim.dedupe.people.decisions import Book
from dbsim.dedupe.people.histogram import bars, counted
from dbsim.dedupe.people.result_view import ResultView
from dbsim.tables.source import Key, public_key

OUTDATED = 50  # decisions asked again before the next are sought
Place = tuple[float, int, int]  # in the order of pairs: score and both contents


@dataclass(frozen=True)
class Doubtful:
    """Two rows to be judged; `place` is where to go on from, None for a pair that is asked again."""

    a: Any
    b: Any
    score: float
    place: Place | None


class PairPages(ResultView):
    """Pairs of the result that nobody decided about, or about other texts."""

    def scores(self, connection: Connection) -> list[int]:
        """How many stored pairs have their score in each of BARS equal parts of 0 … 1."""
        return bars(connection.execute(counted(self._edges.c.score)))

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

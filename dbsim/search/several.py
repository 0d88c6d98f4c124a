"""A batch of questions in one statement: signed questions → Results of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from sqlalchemy import Connection

from dbsim.search.asking import Asker, Found
from dbsim.search.deciding.texts import Cut, Decided, Ranked, compared, cut_of, decide
from dbsim.search.limits import Bounds, Where
from dbsim.search.query import Query
from dbsim.search.results import Results
from dbsim.search.statements.parameters import many_parameters

BATCH = 200  # queries in one statement


class Several(Asker):
    """What one statement cannot settle is asked once more, one by one."""

    def search_many(
        self, queries: Sequence[Query | None], bounds: Bounds, where: Where, connection: Connection | None
    ) -> list[Results]:
        with self.context.searching(connection) as own:
            # neighbours in key order are one scan a query and tree; a condition is one subquery a statement
            if self.signer.family.nearest or where is not None:
                return [self._run(query, bounds, where, own) for query in queries]
            found: list[Results] = []
            for start in range(0, len(queries), BATCH):
                found += self._some(own, queries[start : start + BATCH], bounds)
            return found

    def _some(self, own: Connection, queries: Sequence[Query | None], bounds: Bounds) -> list[Results]:
        """One statement; what it could not settle is asked once more, one by one."""
        width = next((query.width for query in queries if query is not None), 1)
        look = self._look(own, bounds)
        compiled = self._compiled.get(own, ("many", width, look), lambda: self.statements.search_many(width, look))
        cuts = [None if query is None else cut_of(self.options, query.counts, bounds) for query in queries]
        hits = bounds.rounds[0]
        values: dict[str, Any] = {"dbsim_hits": hits, "dbsim_ranked": bounds.max_candidates}
        values["queries"] = many_parameters(self.options, queries, cuts)
        found = [Found() for _ in queries]
        for row in compiled.rows(own, values):
            found[row[0]].candidates = row[1]
            found[row[0]].rows.append(self._ranked(row, 2, cuts[row[0]]))
        exact = self._compare_many(queries, cuts, found)
        results, complete = [], self._is_complete(own)
        for number, (query, cut, one) in enumerate(zip(queries, cuts, found, strict=True)):
            if query is None or cut is None:
                results.append(Results())
                continue
            rated = decide(one.rows, query, cut, bounds, partial(exact, number), self.tables.key_names)
            if one.candidates > bounds.max_candidates or self._unsettled(rated, one, cut, bounds, hits):
                results.append(self._run(query, bounds, None, own))
            else:
                results.append(self._results(rated, one, bounds, complete=complete))
        return results

    def _compare_many(
        self, queries: Sequence[Query | None], cuts: Sequence[Cut | None], found: Sequence[Found]
    ) -> Callable[[int, Sequence[Ranked]], Sequence[Decided]]:
        """The doubtful rows of all queries are compared at once; what `decide` asks for is looked up."""
        pairs = [
            (number, row)
            for number, (one, cut) in enumerate(zip(found, cuts, strict=True))
            for row in one.rows
            if cut is not None and row.there and cut.doubtful(row.score)
        ]
        asked = sorted({number for number, _ in pairs})
        if not asked:
            return lambda number, rows: []
        columns = list(zip(*(cast(Query, queries[number]).texts for number in asked), strict=True))
        places = [asked.index(number) for number, _ in pairs]
        decided = compared(self.signer, self.signer.comparable(columns), places, [row for _, row in pairs])
        known = {(number, row.key): one for (number, row), one in zip(pairs, decided, strict=True)}
        return lambda number, rows: [known[number, row.key] for row in rows]

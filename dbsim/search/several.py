"""A batch of questions in one statement: signed questions → Results of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy import Connection

from dbsim.hashing.documents import Documents
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
        asked = [query for query in queries if query is not None]
        if not asked:
            return [Results() for _ in queries]
        cuts = [cut_of(self.options, query.counts, bounds) for query in asked]
        found = self._found_many(own, asked, cuts, bounds)
        if found is None:
            return [self._run(query, bounds, None, own) for query in queries]
        exact = self._compare_many(asked, cuts, found)
        hits, complete, names = bounds.rounds[0], self._is_complete(own), self.tables.key_names
        results = []
        for number, (query, cut, one) in enumerate(zip(asked, cuts, found, strict=True)):
            rated = decide(one.rows, query, cut, bounds, partial(exact, number), names)
            if one.candidates > bounds.max_candidates or self._unsettled(rated, one, cut, bounds, hits):
                results.append(self._run(query, bounds, None, own))
            else:
                results.append(self._results(rated, one, bounds, complete=complete))
        answers = iter(results)
        return [Results() if query is None else next(answers) for query in queries]

    def _found_many(
        self, own: Connection, asked: Sequence[Query], cuts: Sequence[Cut], bounds: Bounds
    ) -> list[Found] | None:
        """None when candidates were left out: some question has more than its share, and others perhaps too few."""
        width, look = asked[0].width, self._look(own, bounds)
        compiled = self._compiled.get(own, ("many", width, look), lambda: self.statements.search_many(width, look))
        values = many_parameters(self.backend, self.options, self.statements.asked(width), asked, cuts)
        pool = bounds.max_candidates * len(asked) + 1
        rows = compiled.rows(own, values | {"dbsim_hits": bounds.rounds[0], "dbsim_pool": pool})
        found = [Found() for _ in asked]
        for row in rows:
            one = found[row[0]]
            one.candidates = row[1]
            one.rows.append(self._ranked(row, 2, cuts[row[0]]))
        return found if sum(one.candidates for one in found) < pool else None

    def _compare_many(
        self, queries: Sequence[Query], cuts: Sequence[Cut], found: Sequence[Found]
    ) -> Callable[[int, Sequence[Ranked]], Sequence[Decided]]:
        """The doubtful rows of all queries are compared at once; what `decide` asks for is looked up."""
        pairs = [
            (number, row)
            for number, (one, cut) in enumerate(zip(found, cuts, strict=True))
            for row in one.rows
            if row.there and cut.doubtful(row.score)
        ]
        asked = sorted({number for number, _ in pairs})
        if not asked:
            return lambda number, rows: []
        documents = queries[asked[0]].documents
        if documents is not None and self.signer.family.measure == "jaccard" and self._of_one_batch(queries, documents):
            places = [queries[number].place for number, _ in pairs]
        else:
            documents = self.signer.comparable(list(zip(*(queries[number].texts for number in asked), strict=True)))
            places = [asked.index(number) for number, _ in pairs]
        decided = compared(self.signer, documents, places, [row for _, row in pairs])
        known = {(number, row.key): one for (number, row), one in zip(pairs, decided, strict=True)}
        return lambda number, rows: [known[number, row.key] for row in rows]

    def _of_one_batch(self, queries: Sequence[Query], documents: Documents) -> bool:
        """What was made of them to be signed is still there."""
        return all(query.documents is documents for query in queries)

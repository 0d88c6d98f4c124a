"""Ask the database and decide what it found: signed questions → Results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection

from dbsim.engines.callers import is_own
from dbsim.engines.context import Stage
from dbsim.engines.source_rows import field_places, read_fields, source_rows, texts
from dbsim.hashing.records.family import Records
from dbsim.hashing.records.learning import Learned
from dbsim.options import IndexOptions
from dbsim.search.deciding.texts import Cut, Decided, Ranked, compared, compared_single, cut_of, decide
from dbsim.search.limits import Bounds, Where, below_threshold
from dbsim.search.query import Query
from dbsim.search.results import Hit, Results
from dbsim.search.statements.compiled import CompiledStatements
from dbsim.search.statements.parameters import many_parameters, parameters, self_parameters
from dbsim.search.statements.statement import Look, Statements, about_row
from dbsim.tables.catalogue import is_ready
from dbsim.tables.decision_tables import DecisionTables
from dbsim.tables.key_conditions import key_columns, listed, listing
from dbsim.tables.source import Key, Texts, Unindexable

BATCH = 200  # queries in one statement
CONVERTING = ("asyncpg",)  # drivers that take filters as objects of their own, which SQLAlchemy makes


@dataclass
class Found:
    """What a statement returned for one query: the best rows, also below the threshold, and how many were ranked."""

    rows: list[Ranked] = field(default_factory=list)
    candidates: int = 0


@dataclass
class Asker(Stage):
    """Runs the statements of one index, which are compiled once."""

    _compiled: CompiledStatements = field(default_factory=CompiledStatements)
    _filled: bool = False
    _readable: dict[str, bool] = field(default_factory=dict)
    _decisions: bool = False

    @property
    def options(self) -> IndexOptions:
        return self.context.options

    @property
    def statements(self) -> Statements:
        return Statements(self.backend, self.tables, self.learned)

    @property
    def learned(self) -> Learned | None:
        """What is known of the persons in the table, once the model is there."""
        family = self.signer.family
        return family.learned(self.signer.fitted) if isinstance(family, Records) else None

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
        results = []
        for number, (query, cut, one) in enumerate(zip(queries, cuts, found, strict=True)):
            if query is None or cut is None:
                results.append(Results())
                continue
            rated = decide(one.rows, query, cut, bounds, partial(exact, number), self.tables.key_names)
            more = one.candidates > bounds.max_candidates or self._unsettled(rated, one, cut, bounds, hits)
            results.append(self._run(query, bounds, None, own) if more else self._results(own, rated, one, bounds))
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

    def _run(
        self,
        query: Query | None,
        bounds: Bounds,
        where: Where,
        connection: Connection | None,
        key: Key | None = None,
        marked: ColumnElement[bool] | None = None,
    ) -> Results:
        if query is None:
            return Results()
        cut = cut_of(self.options, query.counts, bounds)
        with self.context.searching(connection) as own:
            shape = {"without_key": key is not None, "width": query.width, "look": self._look(own, bounds)}
            ask = partial(self._ask, own, query, cut, bounds, shape, key, marked)
            exact = partial(self._exact, own, query, key)
            for hits in bounds.rounds:
                found = ask(where, hits)
                rated = decide(found.rows, query, cut, bounds, exact, self.tables.key_names)
                if not self._unsettled(rated, found, cut, bounds, hits):
                    break
            else:
                if where is None and not all(row.there for row in found.rows):
                    found = ask("1 = 1", hits)  # a condition is one on rows that are there
                    rated = decide(found.rows, query, cut, bounds, exact, self.tables.key_names)
            return self._results(own, rated, found, bounds)

    def _ask(
        self,
        connection: Connection,
        query: Query,
        cut: Cut,
        bounds: Bounds,
        shape: dict[str, Any],
        key: Key | None,
        marked: ColumnElement[bool] | None,
        where: Where,
        hits: int,
    ) -> Found:
        """The common statement ranks one row more than allowed; only when it finds as many the best are chosen."""
        values = self._values(query, cut, bounds, hits) | (self_parameters(key) if key else {})
        values["dbsim_ranked"] += 1
        found = self._execute(connection, where, {**shape, "marked": marked}, values, cut)
        if found.candidates > bounds.max_candidates and not self.options.hashing.nearest:
            values["dbsim_ranked"] -= 1
            total = found.candidates
            found = self._execute(connection, where, {**shape, "marked": marked, "alike": True}, values, cut)
            found.candidates = total
        return found

    def _execute(
        self, connection: Connection, where: Where, shape: dict[str, Any], values: dict[str, Any], cut: Cut
    ) -> Found:
        plain = shape["marked"] is None and (where is None or isinstance(where, str))
        if plain and connection.dialect.driver not in CONVERTING:
            known = self._compiled.get(
                connection, (where, *shape.values()), lambda: self.statements.search(where, **shape)
            )
            rows = known.rows(connection, values)
        else:
            rows = connection.execute(self.statements.search(where, **shape), values).all()
        ranked = [self._ranked(row, 1, cut) for row in rows if row[1] is not None]
        return Found(ranked, rows[0][0] if rows else 0)

    def _ranked(self, row: Sequence[Any], start: int, cut: Cut | None) -> Ranked:
        """From score, fingerprint, key, whether it is there, whether it waits, and the texts of a doubtful row."""
        end = start + 2 + self._width
        score, there = row[start], row[end]
        doubtful = cut is not None and there and len(row) > end + 2 and cut.doubtful(score)
        texts = self._texts(row[end + 2 :]) if doubtful else None
        return Ranked(tuple(row[start + 2 : end]), score, row[start + 1], bool(there), bool(row[end + 1]), texts)

    @cached_property
    def _width(self) -> int:
        """Columns of the primary key."""
        return len(self.tables.key_names)

    def _texts(self, values: Sequence[Any]) -> Sequence[str]:
        try:
            return read_fields(self.backend, values, self._places)
        except Unindexable:
            return ("",) * len(self.options.fields)

    @cached_property
    def _places(self) -> list[list[slice]]:
        return field_places(self.backend, self.tables, 0)

    def _exact(
        self, connection: Connection, query: Query, key: Key | None, rows: Sequence[Ranked]
    ) -> list[Decided] | None:
        found = compared_single(self.signer, query.shingles, rows) if query.shingles is not None else None
        if found is not None:
            return found
        texts: Sequence[str] | None = query.texts
        if not texts and key is not None:
            texts = next((one for _, one in self._source_rows(connection, [key])), None)
        if not texts:
            return None
        return compared(self.signer, self.signer.comparable([[text] for text in texts]), [0] * len(rows), rows)

    def _source_rows(self, connection: Connection, keys: Sequence[Key]) -> Iterator[tuple[Key, tuple[str, ...]]]:
        for batch in self.source_texts(connection, keys):
            yield from zip(batch.keys, zip(*batch.columns, strict=True), strict=True)

    def _unsettled(self, rated: Sequence[Hit], found: Found, cut: Cut, bounds: Bounds, asked: int) -> bool:
        """Whether rows that were not looked at may be hits, and there is room for them."""
        hits = sum(hit.score >= bounds.threshold for hit in rated)
        return hits < bounds.limit and len(found.rows) >= asked and found.rows[-1].score >= cut.lowest

    def knows_decisions(self, connection: Connection) -> bool:
        """Whether people may have decided something, and the caller may know it."""
        name = DecisionTables.of(self.tables).decisions.name
        self._decisions = self._decisions or self.backend.has_table(connection, name)
        return self._decisions and self._can_read(connection, name)

    def verdicts(self, connection: Connection, values: dict[str, Any]) -> list[Sequence[Any]]:
        """(other row's key …, verdict) of the decisions in force about the row of these `self_parameters`."""
        decided = DecisionTables.of(self.tables)
        if connection.dialect.driver in CONVERTING:
            return [tuple(row) for row in connection.execute(about_row(decided), values)]
        compiled = self._compiled.get(connection, "decided", lambda: about_row(decided))
        return [tuple(row) for row in compiled.rows(connection, values)]

    def _look(self, connection: Connection, bounds: Bounds) -> Look:
        return Look(texts=bounds.verify is not False, queue=self._can_read(connection, self.tables.queue.name))

    def _can_read(self, connection: Connection, table: str) -> bool:
        """Asked once on connections of dbsim's own; a caller's may have other rights."""
        if not is_own(connection):
            return self.backend.can_read(connection, table)
        if table not in self._readable:
            self._readable[table] = self.backend.can_read(connection, table)
        return self._readable[table]

    def _values(self, query: Query, cut: Cut, bounds: Bounds, hits: int) -> dict[str, Any]:
        return parameters(self.backend, self.options, query, cut, hits=hits, max_candidates=bounds.max_candidates)

    def _results(self, connection: Connection, rated: Sequence[Hit], found: Found, bounds: Bounds) -> Results:
        results = Results([hit for hit in rated if hit.score >= bounds.threshold][: bounds.limit])
        results.closest = rated[0] if rated and not results else None
        results.candidates = min(found.candidates, bounds.max_candidates)
        results.cut = found.candidates > bounds.max_candidates
        results.complete = self._is_complete(connection)
        warning = below_threshold(self.options, bounds.threshold)
        results.warnings = (warning,) if warning else ()
        return results

    def _is_complete(self, connection: Connection) -> bool:
        """Whether the first filling is over; once it is, it stays so and is not asked again."""
        self._filled = self._filled or is_ready(connection, self.tables.record.name)
        return self._filled

    def source_texts(self, connection: Connection, keys: Sequence[Key]) -> Iterator[Texts]:
        known = self.tables.companions
        if "source_texts" not in known:  # making the statement takes longer than a short answer to it
            rows = source_rows(self.backend, self.tables)
            known["source_texts"] = rows.where(listed(key_columns(self.tables.source, self.tables)))
        query, values = known["source_texts"], listing(keys)
        return texts(connection, self.backend, self.tables, query, stream=False, values=values)

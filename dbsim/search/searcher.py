"""Run searches on an index: texts or stored keys → Results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BindParameter, ColumnElement, Connection, Select, Subquery, bindparam, select
from sqlalchemy.sql.visitors import replacement_traverse

from dbsim.context import Stage
from dbsim.engines.source_rows import field_places, read_fields, source_rows, texts
from dbsim.errors import InvalidOption, UnknownKey
from dbsim.hashing.error import DEVIATIONS
from dbsim.options import IndexOptions
from dbsim.search.decide import Cut, Decided, Ranked, compared, cut_of, decide
from dbsim.search.explain import Explanation, explain
from dbsim.search.limits import Bounds, below_threshold
from dbsim.search.query import Query, as_lookups
from dbsim.search.results import Hit, Results
from dbsim.search.statements import Look, Statements, Where, many_parameters, parameters, self_parameters
from dbsim.sync import models
from dbsim.tables.catalogue import is_ready
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.source import Key, Texts, Unindexable, public_key

BATCH = 200  # queries in one statement


@dataclass
class Compiled:
    """A statement as the driver takes it: building and compiling costs more than running it."""

    sql: str
    order: list[str] | None
    defaults: dict[str, Any]

    def arguments(self, values: dict[str, Any]) -> Any:
        values = {**self.defaults, **values}
        return values if self.order is None else tuple(values[name] for name in self.order)


@dataclass
class Found:
    """What a statement returned for one query: the best rows, also below the threshold, and how many were ranked."""

    rows: list[Ranked] = field(default_factory=list)
    candidates: int = 0


@dataclass
class SearchEngine(Stage):
    """The searches of one index; statements are compiled once."""

    _compiled: dict[Any, Compiled] = field(default_factory=dict)
    _filled: bool = False
    _queue: bool | None = None

    @property
    def options(self) -> IndexOptions:
        return self.context.options

    @property
    def statements(self) -> Statements:
        return Statements(self.backend, self.tables)

    def sign(
        self, texts: Sequence[str | Sequence[str]], probes: int = 0, connection: Connection | None = None
    ) -> list[Query | None]:
        """Each text belongs to every field, unless it is given field by field."""
        if self.signer.family.learns:
            with self.context.searching(connection) as own:
                models.require(own, self.tables, self.signer)
        fields = len(self.tables.record.options.fields)
        columns = [[text if isinstance(text, str) else text[number] for text in texts] for number in range(fields)]
        return self._queries(columns, probes)

    def _queries(self, columns: Sequence[Sequence[str]], probes: int) -> list[Query | None]:
        found = Query.of(self.signer.sign(columns))
        neighbours = self._neighbours(columns, probes) if probes else None
        return [
            query
            and self._spread(
                replace(query, texts=texts), as_lookups(neighbours[number]) if neighbours is not None else ()
            )
            for number, (query, texts) in enumerate(zip(found, zip(*columns, strict=True), strict=True))
        ]

    def _neighbours(self, columns: Sequence[Sequence[str]], probes: int) -> NDArray[np.int64]:
        try:
            return self.signer.probes(columns, probes)
        except ValueError as error:
            raise InvalidOption(str(error)) from error

    def _spread(self, query: Query, lookups: tuple[tuple[int, ...], ...] = ()) -> Query:
        """With every value to look up, where that is more than the keys."""
        if not lookups and self.signer.family.radius is not None:
            lookups = as_lookups(self.signer.family.spread(np.array([query.keys]), self.signer.plan)[0])
        return replace(query, lookups=lookups) if lookups else query

    def search(
        self,
        query: Query | None,
        bounds: Bounds,
        where: Where,
        connection: Connection | None,
        marked: ColumnElement[bool] | None = None,
    ) -> Results:
        return self._run(query, bounds, where, connection, marked=marked)

    def similar(self, key: Key, bounds: Bounds, where: Where, connection: Connection | None) -> Results:
        with self.context.searching(connection) as own:
            query = self.query_of(own, key, bounds)
            return self._run(query, bounds, where, own, key)

    def search_many(
        self, queries: Sequence[Query | None], bounds: Bounds, connection: Connection | None
    ) -> list[Results]:
        with self.context.searching(connection) as own:
            if self.signer.family.nearest:  # neighbours in key order are one scan a query and tree
                return [self._run(query, bounds, None, own) for query in queries]
            found: list[Results] = []
            for start in range(0, len(queries), BATCH):
                found += self._some(own, queries[start : start + BATCH], bounds, connection)
            return found

    def _some(
        self, own: Connection, queries: Sequence[Query | None], bounds: Bounds, connection: Connection | None
    ) -> list[Results]:
        """One statement; what it could not settle is asked once more, one by one."""
        width = next((query.width for query in queries if query is not None), 1)
        look = self._look(own, bounds, connection)
        compiled = self._compile(("many", width, look), lambda: self.statements.search_many(width, look))
        cuts = [None if query is None else cut_of(self.options, query.counts, bounds) for query in queries]
        hits = bounds.rounds[0]
        values: dict[str, Any] = {"dbsim_hits": hits, "dbsim_ranked": bounds.max_candidates}
        values["queries"] = many_parameters(self.options, queries, cuts)
        found = [Found() for _ in queries]
        for row in own.exec_driver_sql(compiled.sql, compiled.arguments(values)):
            found[row[0]].candidates = row[1]
            found[row[0]].rows.append(self._ranked(row[2:], cuts[row[0]]))
        exact = self._compare_many(queries, cuts, found, bounds)
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
        self, queries: Sequence[Query | None], cuts: Sequence[Cut | None], found: Sequence[Found], bounds: Bounds
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
        decided = compared(self.signer, self.signer.documents(columns), places, [row for _, row in pairs])
        known = {(number, row.key): one for (number, row), one in zip(pairs, decided, strict=True)}
        return lambda number, rows: [known[number, row.key] for row in rows]

    def match(self, query: Query | None, bounds: Bounds, where: Where) -> Subquery:
        """Key columns, score and standard error as a selectable to join with; cut so low that pairs are not lost."""
        query = query or Query.nothing(self.tables.record.options)
        rows = self.statements.candidates(where, width=query.width).limit(bounds.max_candidates)
        ranked = self.statements.ranked(rows.subquery("candidates"))
        columns = ranked.selected_columns
        best_first = [columns[self.tables.names.score].desc(), *(columns[name] for name in self.tables.key_names)]
        ordered = ranked.order_by(*best_first).limit(bounds.limit)
        cut = cut_of(self.options, query.counts, bounds)
        values = self._values(query, cut, bounds, bounds.limit)
        values["dbsim_error"] = round((bounds.threshold - cut.lowest) / DEVIATIONS, 4)
        return cast(Subquery, replacement_traverse(ordered.subquery(), {}, partial(_bound, values)))

    def query_of(self, connection: Connection, key: Key, bounds: Bounds) -> Query | None:
        """The stored signature of a row; its text where that is needed, or where it is not indexed yet."""
        models.require(connection, self.tables, self.signer)
        table = self.tables.signatures
        width = len(key)
        if not bounds.verify and not bounds.probes:
            row = connection.execute(select(table).where(among(key_columns(table, self.tables), [key]))).first()
            if row is not None:
                return self._stored_query(tuple(row)[width:])
        for batch in self.source_texts(connection, [key]):
            return self._queries(batch.columns, bounds.probes)[0]
        raise self._unknown(key)

    def texts(self, keys: Sequence[Key]) -> list[str | None]:
        """The joined text of rows of the source; None for one that is gone."""
        return [None if row is None else "\n".join(row) for row in self.columns_of(keys)]

    def columns_of(self, keys: Sequence[Key]) -> list[tuple[str, ...] | None]:
        """The text of every field of rows of the source; None for one that is gone."""
        found: dict[Key, tuple[str, ...]] = {}
        with self.context.searching() as own:
            for some in chunks(keys, self.backend.key_batch):
                for batch in self.source_texts(own, some):
                    found |= zip(batch.keys, zip(*batch.columns, strict=True), strict=True)
        return [found.get(key) for key in keys]

    def explain(self, a: Key, b: Key) -> Explanation:
        """What two rows have in common; the signatures are the stored ones."""
        with self.context.searching() as own:
            stored = [self.query_of(own, key, Bounds(threshold=0.0, verify=False)) for key in (a, b)]
            (key_a, texts_a), (key_b, texts_b) = (self._row(own, key) for key in (a, b))
        names = self.tables.key_names
        shown = (public_key(names, key_a), public_key(names, key_b))
        return explain(self.tables.record.options, shown, (texts_a, texts_b), stored)

    def _row(self, connection: Connection, key: Key) -> tuple[Key, list[str]]:
        """The key as the table has it ("42" may have been asked for 42) and the text of every field."""
        for batch in self.source_texts(connection, [key]):
            return batch.keys[0], [column[0] for column in batch.columns]
        raise self._unknown(key)

    def _unknown(self, key: Key) -> UnknownKey:
        shown = public_key(self.tables.key_names, key)
        return UnknownKey(f"table {self.tables.record.options.table!r} has no row with the key {shown!r}")

    def source_texts(self, connection: Connection, keys: Sequence[Key]) -> Iterator[Texts]:
        query = source_rows(self.backend, self.tables).where(among(key_columns(self.tables.source, self.tables), keys))
        return texts(connection, self.backend, self.tables, query, stream=False)

    def _stored_query(self, values: tuple[Any, ...]) -> Query | None:
        query = Query.from_row(values, self.tables.record.options.keys)
        if query is None:
            return None
        bits = tuple(None if value is None else self.backend.read_bits(value) for value in query.bits)
        return self._spread(replace(query, bits=bits))

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
            shape = {"without_key": key is not None, "width": query.width, "look": self._look(own, bounds, connection)}
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
        if shape["marked"] is None and (where is None or isinstance(where, str)):
            compiled = self._compile((where, *shape.values()), lambda: self.statements.search(where, **shape))
            rows = connection.exec_driver_sql(compiled.sql, compiled.arguments(values)).all()
        else:
            rows = connection.execute(self.statements.search(where, **shape), values).all()
        ranked = [self._ranked(row[1:], cut) for row in rows if row[1] is not None]
        return Found(ranked, rows[0][0] if rows else 0)

    def _ranked(self, row: Sequence[Any], cut: Cut | None) -> Ranked:
        """From score, fingerprint, key, whether it is there, whether it waits, and the texts of a doubtful row."""
        end = 2 + len(self.tables.key_names)
        score, fingerprint = row[:2]
        doubtful = cut is not None and len(row) > end + 2 and row[end] and cut.doubtful(score)
        texts = self._texts(row[end + 2 :]) if doubtful else None
        return Ranked(tuple(row[2:end]), score, fingerprint, bool(row[end]), bool(row[end + 1]), texts)

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
        texts: Sequence[str] | None = query.texts
        if not texts and key is not None:
            texts = next((one for _, one in self._source_rows(connection, [key])), None)
        if not texts:
            return None
        return compared(self.signer, self.signer.documents([[text] for text in texts]), [0] * len(rows), rows)

    def _source_rows(self, connection: Connection, keys: Sequence[Key]) -> Iterator[tuple[Key, tuple[str, ...]]]:
        for batch in self.source_texts(connection, keys):
            yield from zip(batch.keys, zip(*batch.columns, strict=True), strict=True)

    def _unsettled(self, rated: Sequence[Hit], found: Found, cut: Cut, bounds: Bounds, asked: int) -> bool:
        """Whether rows that were not looked at may be hits, and there is room for them."""
        hits = sum(hit.score >= bounds.threshold for hit in rated)
        return hits < bounds.limit and len(found.rows) >= asked and found.rows[-1].score >= cut.lowest

    def _look(self, own: Connection, bounds: Bounds, connection: Connection | None) -> Look:
        """A caller's connection may have other rights than dbsim's own."""
        if self._queue is None or connection is not None:
            queue = self.backend.can_read(own, self.tables.queue.name)
            self._queue = queue if connection is None else self._queue
        else:
            queue = self._queue
        return Look(texts=bounds.verify is not False, queue=queue)

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

    def _compile(self, shape: Any, build: Any) -> Compiled:
        found = self._compiled.get(shape)
        if found is None:
            statement: Select[Any] = build()
            compiled = statement.compile(dialect=self.context.engine.dialect)
            order = list(compiled.positiontup) if compiled.positiontup is not None else None
            found = Compiled(str(compiled), order, dict(compiled.params))
            if len(self._compiled) > 100:  # conditions with literals in them
                self._compiled.clear()
            self._compiled[shape] = found
        return found


def _bound(values: dict[str, Any], element: Any, **_: object) -> Any:
    """A parameter with its value and a name of its own, so that several matches can stand in one statement."""
    if isinstance(element, BindParameter) and element.key in values:
        return bindparam(element.key, values[element.key], element.type, unique=True)
    return None

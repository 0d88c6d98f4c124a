"""Run searches on an index: texts or stored keys → Results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BindParameter, ColumnElement, Connection, Select, Subquery, bindparam, select
from sqlalchemy.sql.visitors import replacement_traverse

from dbsim.context import Stage
from dbsim.engines.source_rows import source_rows, texts
from dbsim.engines.stored_keys import stored_key, stored_keys
from dbsim.errors import InvalidOption, UnknownKey
from dbsim.hashing.records.family import Records
from dbsim.hashing.records.learning import Learned
from dbsim.options import IndexOptions
from dbsim.search.explain import Explanation, explain
from dbsim.search.limits import Bounds
from dbsim.search.query import Query, as_lookups
from dbsim.search.results import Hit, Results
from dbsim.search.statements import Statements, Where, bound_parameters, many_parameters, parameters, self_parameters
from dbsim.search.waterfall import Waterfall, waterfalls
from dbsim.sync import models
from dbsim.tables.catalogue import is_ready
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.source import Key, Texts, public_key

BATCH = 200  # queries in one statement
CONVERTING = ("asyncpg",)  # drivers that take filters as objects of their own, which SQLAlchemy makes


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
    """What a statement returned for one query: keys with scores, best first."""

    hits: list[tuple[Key, float]] = field(default_factory=list)
    candidates: int = 0


@dataclass
class SearchEngine(Stage):
    """The searches of one index; statements are compiled once."""

    _compiled: dict[Any, Compiled] = field(default_factory=dict)
    _filled: bool = False

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
            key = stored_key(own, self.backend, self.tables, key)
            query = self.query_of(own, key, bounds)
            return self._run(query, bounds, where, own, key)

    def search_many(
        self, queries: Sequence[Query | None], bounds: Bounds, connection: Connection | None
    ) -> list[Results]:
        if self.signer.family.nearest:  # neighbours in key order are one scan a query and tree
            return [self._run(query, bounds, None, connection) for query in queries]
        found: list[Found] = [Found() for _ in queries]
        width = next((query.width for query in queries if query is not None), 1)
        with self.context.searching(connection) as own:
            complete = self._is_complete(own)
            compiled = self._compile(own, ("many", width), lambda: self.statements.search_many(width))
            for start in range(0, len(queries), BATCH):
                some = queries[start : start + BATCH]
                values = bound_parameters(bounds.estimate, bounds.hits, bounds.max_candidates)
                values["queries"] = many_parameters(self.tables.record.options, some, bounds.estimate)
                for number, candidates, score, *key in own.exec_driver_sql(compiled.sql, compiled.arguments(values)):
                    found[start + number].candidates = candidates
                    if score is not None:
                        found[start + number].hits.append((tuple(key), score))
            return [
                self._results(own, query, result, bounds, complete)
                for query, result in zip(queries, found, strict=True)
            ]

    def match(self, query: Query | None, bounds: Bounds, where: Where) -> Subquery:
        """Key columns and score as a selectable to join with."""
        query = query or Query.nothing(self.tables.record.options)
        rows = self.statements.candidates(where, width=query.width).limit(bounds.max_candidates)
        ranked = self.statements.ranked(rows.subquery("candidates"))
        columns = ranked.selected_columns
        best_first = [columns[self.tables.names.score].desc(), *(columns[name] for name in self.tables.key_names)]
        ordered = ranked.order_by(*best_first).limit(bounds.limit)
        values = self._values(query, bounds)
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
            keys = stored_keys(own, self.backend, self.tables, keys)
            for some in chunks(keys, self.backend.key_batch):
                for batch in self.source_texts(own, some):
                    found |= zip(batch.keys, zip(*batch.columns, strict=True), strict=True)
        return [found.get(key) for key in keys]

    def explain(self, a: Key, b: Key) -> Explanation:
        """What two rows have in common; the signatures are the stored ones."""
        with self.context.searching() as own:
            a, b = stored_keys(own, self.backend, self.tables, [a, b])
            stored = [self.query_of(own, key, Bounds(threshold=0.0)) for key in (a, b)]
            (key_a, texts_a), (key_b, texts_b) = (self._row(own, key) for key in (a, b))
        names = self.tables.key_names
        shown = (public_key(names, key_a), public_key(names, key_b))
        return explain(self.options, shown, (texts_a, texts_b), stored, self._evidence(texts_a, texts_b))

    def _evidence(self, a: Sequence[str], b: Sequence[str]) -> Waterfall | None:
        """Of two records of persons."""
        if self.learned is None:
            return None
        one, two = (self.signer.sign([[text] for text in texts]) for texts in (a, b))
        return waterfalls(self.learned, [field.name for field in self.options.fields], one, two)[0]

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
        options = self.tables.record.options
        query = Query.from_row(values, options.keys, len(options.fields))
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
        values = self._values(query, bounds) | (self_parameters(key) if key else {})
        shape: dict[str, Any] = {"without_key": key is not None, "width": query.width}
        with self.context.searching(connection) as own:
            complete = self._is_complete(own)
            if marked is None and (where is None or isinstance(where, str)) and own.dialect.driver not in CONVERTING:
                compiled = self._compile(own, (where, *shape.values()), lambda: self.statements.search(where, **shape))
                rows = own.exec_driver_sql(compiled.sql, compiled.arguments(values)).all()
            else:
                rows = own.execute(self.statements.search(where, **shape, marked=marked), values).all()
            best = [(tuple(row)[1:-1], row[-1]) for row in rows if row[-1] is not None and row[-1] >= bounds.estimate]
            return self._results(own, query, Found(best, rows[0][0] if rows else 0), bounds, complete)

    def _values(self, query: Query, bounds: Bounds) -> dict[str, Any]:
        return parameters(
            self.backend,
            self.tables.record.options,
            query,
            threshold=bounds.estimate,
            limit=bounds.hits,
            max_candidates=bounds.max_candidates,
        )

    def _results(
        self, connection: Connection, query: Query | None, found: Found, bounds: Bounds, complete: bool
    ) -> Results:
        hits = found.hits
        if bounds.verify and query is not None and hits:
            hits = self._verified(connection, query, hits, bounds)
        results = Results(Hit(public_key(self.tables.key_names, key), score) for key, score in hits)
        results.candidates = min(found.candidates, bounds.max_candidates)
        results.cut = found.candidates >= bounds.max_candidates
        results.complete = complete
        return results

    def _verified(
        self, connection: Connection, query: Query, hits: Sequence[tuple[Key, float]], bounds: Bounds
    ) -> list[tuple[Key, float]]:
        """The exact measure, from the source text of the ranked rows; rows that are gone are left out."""
        question = [[text] for text in query.texts]
        exact: dict[Key, float] = {}
        for some in chunks([key for key, _ in hits], self.backend.key_batch):
            for batch in self.source_texts(connection, some):
                exact |= zip(batch.keys, self.signer.similarity(question, batch.columns)[0].tolist(), strict=True)
        kept = [(key, exact[key]) for key, _ in hits if exact.get(key, -1.0) >= bounds.threshold]
        return sorted(kept, key=lambda hit: -hit[1])[: bounds.limit]

    def _is_complete(self, connection: Connection) -> bool:
        """Whether the first filling is over; once it is, it stays so and is not asked again."""
        self._filled = self._filled or is_ready(connection, self.tables.record.name)
        return self._filled

    def _compile(self, connection: Connection, shape: Any, build: Any) -> Compiled:
        """For the caller's driver, which need not be that of dbsim's own engine."""
        shape = (connection.dialect.driver, shape)
        found = self._compiled.get(shape)
        if found is None:
            statement: Select[Any] = build()
            compiled = statement.compile(dialect=connection.dialect)
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

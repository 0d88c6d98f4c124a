"""Run searches on an index: texts or stored keys → Results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, Select, Subquery, select

from dbsim.errors import InvalidOption, UnknownKey
from dbsim.hashing.signer import Signer
from dbsim.search.candidates import Statements, Where, many_parameters, parameters, self_parameters
from dbsim.search.query import Query, as_lookups
from dbsim.search.results import Hit, Results
from dbsim.store import models
from dbsim.store.backend import Backend
from dbsim.store.catalogue import READY
from dbsim.store.reading import among, chunks, key_columns, source_rows, texts
from dbsim.store.source import Key, Texts, public_key
from dbsim.store.tables import IndexTables
from dbsim.store.transactions import searching

MAX_CANDIDATES = 1000
BATCH = 200  # queries in one statement
MAX_PROBES = 100  # neighbours of a key: each is one more descent in its B-tree
SLACK = 0.1  # an estimate may lie so far below the exact Jaccard similarity: 4 standard errors and more


@dataclass(frozen=True)
class Bounds:
    """How similar, how many, how much work at most, and whether the exact measure decides.

    `measure` says whether the threshold is one of the Jaccard similarity, which the database estimates, or of another
    measure, of which only `verify` knows the value.
    """

    threshold: float
    limit: int = 10
    max_candidates: int = MAX_CANDIDATES
    probes: int = 0
    verify: bool = False
    measure: str = "jaccard"

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise InvalidOption(f"threshold is {self.threshold}, but must lie between 0 and 1")
        if self.limit < 1 or self.max_candidates < 1:
            raise InvalidOption("limit and max_candidates must be at least 1")
        if not 0 <= self.probes <= MAX_PROBES:
            raise InvalidOption(f"{self.probes} probes are not possible: use 0 to {MAX_PROBES}")

    @property
    def estimate(self) -> float:
        """The lowest score that the database may report."""
        if not self.verify:
            return self.threshold
        return max(self.threshold - SLACK, 0.0) if self.measure == "jaccard" else 0.0

    @property
    def hits(self) -> int:
        """How many of them."""
        return self.max_candidates if self.verify else self.limit


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
    complete: bool = True


@dataclass
class SearchEngine:
    """The searches of one index; statements are compiled once."""

    engine: Engine
    backend: Backend
    tables: IndexTables
    signer: Signer
    _compiled: dict[Any, Compiled] = field(default_factory=dict)

    @property
    def statements(self) -> Statements:
        return Statements(self.backend, self.tables)

    def sign(
        self, texts: Sequence[str | Sequence[str]], probes: int = 0, connection: Connection | None = None
    ) -> list[Query | None]:
        """Each text belongs to every field, unless it is given field by field."""
        if self.signer.family.learns:
            with searching(self.engine, self.backend, connection) as own:
                models.current(own, self.tables, self.signer)
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

    def search(self, query: Query | None, bounds: Bounds, where: Where, connection: Connection | None) -> Results:
        return self._run(query, bounds, where, connection, None)

    def similar(self, key: Key, bounds: Bounds, where: Where, connection: Connection | None) -> Results:
        with searching(self.engine, self.backend, connection) as own:
            query = self.query_of(own, key, bounds)
            return self._run(query, bounds, where, own, key)

    def search_many(
        self, queries: Sequence[Query | None], bounds: Bounds, connection: Connection | None
    ) -> list[Results]:
        if self.signer.family.nearest:  # neighbours in key order are one scan a query and tree
            return [self._run(query, bounds, None, connection, None) for query in queries]
        found: list[Found] = [Found() for _ in queries]
        width = next((query.width for query in queries if query is not None), 1)
        compiled = self._compile(("many", width), lambda: self.statements.search_many(width))
        with searching(self.engine, self.backend, connection) as own:
            for start in range(0, len(queries), BATCH):
                some = queries[start : start + BATCH]
                values = {
                    "queries": many_parameters(self.tables.record.options, some, bounds.estimate),
                    "threshold": bounds.estimate,
                    "hits": bounds.hits,
                    "ranked": bounds.max_candidates,
                }
                for number, candidates, score, *key in own.exec_driver_sql(compiled.sql, compiled.arguments(values)):
                    result = found[start + number]
                    result.candidates = candidates
                    if score is not None:
                        result.hits.append((tuple(key), score))
            return [self._results(own, query, result, bounds) for query, result in zip(queries, found, strict=True)]

    def match(self, query: Query | None, bounds: Bounds, where: Where) -> Subquery:
        """Key columns and score as a selectable to join with."""
        query = query or Query.nothing(self.tables.record.options)
        rows = self.statements.candidates(where, width=query.width).limit(bounds.max_candidates)
        ranked = self.statements.ranked(rows.subquery("candidates"))
        ordered = ranked.order_by(ranked.selected_columns[self.tables.names.score].desc()).limit(bounds.limit)
        return ordered.params(self._values(query, bounds)).subquery("dbsim_match")

    def query_of(self, connection: Connection, key: Key, bounds: Bounds) -> Query | None:
        """The stored signature of a row; its text where that is needed, or where it is not indexed yet."""
        models.current(connection, self.tables, self.signer)
        table = self.tables.signatures
        width = len(key)
        if not bounds.verify and not bounds.probes:
            row = connection.execute(select(table).where(among(key_columns(table, self.tables), [key]))).first()
            if row is not None:
                return self._stored_query(tuple(row)[width:])
        for batch in self._source_texts(connection, [key]):
            return self._queries(batch.columns, bounds.probes)[0]
        shown = public_key(self.tables.key_names, key)
        raise UnknownKey(f"table {self.tables.record.options.table!r} has no row with the key {shown!r}")

    def texts(self, keys: Sequence[Key]) -> list[str | None]:
        """The joined text of rows of the source; None for one that is gone."""
        found: dict[Key, str] = {}
        with searching(self.engine, self.backend) as own:
            for some in chunks(keys, self.backend.key_batch):
                for batch in self._source_texts(own, some):
                    found |= zip(batch.keys, map("\n".join, zip(*batch.columns, strict=True)), strict=True)
        return [found.get(key) for key in keys]

    def _source_texts(self, connection: Connection, keys: Sequence[Key]) -> Iterator[Texts]:
        query = source_rows(self.backend, self.tables).where(among(key_columns(self.tables.source, self.tables), keys))
        return texts(connection, self.backend, self.tables, query, stream=False)

    def _stored_query(self, values: tuple[Any, ...]) -> Query | None:
        query = Query.from_row(values, self.tables.record.options.keys)
        if query is None:
            return None
        bits = tuple(None if value is None else self.backend.read_bits(value) for value in query.bits)
        return self._spread(replace(query, bits=bits))

    def _run(
        self, query: Query | None, bounds: Bounds, where: Where, connection: Connection | None, key: Key | None
    ) -> Results:
        if query is None:
            return Results()
        values = self._values(query, bounds) | (self_parameters(key) if key else {})
        shape: dict[str, Any] = {"without_key": key is not None, "width": query.width}
        with searching(self.engine, self.backend, connection) as own:
            if where is None or isinstance(where, str):
                compiled = self._compile((where, *shape.values()), lambda: self.statements.search(where, **shape))
                rows = own.exec_driver_sql(compiled.sql, compiled.arguments(values)).all()
            else:
                rows = own.execute(self.statements.search(where, **shape), values).all()
            width = len(self.tables.key_names)
            found = Found([(tuple(row)[2 : 2 + width], row[-1]) for row in rows if row[-1] is not None])
            if rows:
                found.candidates, found.complete = rows[0][0], rows[0][1] == READY
            return self._results(own, query, found, bounds)

    def _values(self, query: Query, bounds: Bounds) -> dict[str, Any]:
        return parameters(
            self.backend,
            self.tables.record.options,
            query,
            threshold=bounds.estimate,
            limit=bounds.hits,
            max_candidates=bounds.max_candidates,
        )

    def _results(self, connection: Connection, query: Query | None, found: Found, bounds: Bounds) -> Results:
        hits = found.hits
        if bounds.verify and query is not None and hits:
            hits = self._verified(connection, query, hits, bounds)
        results = Results(Hit(public_key(self.tables.key_names, key), score) for key, score in hits)
        results.candidates = min(found.candidates, bounds.max_candidates)
        results.cut = found.candidates >= bounds.max_candidates
        results.complete = found.complete
        return results

    def _verified(
        self, connection: Connection, query: Query, hits: Sequence[tuple[Key, float]], bounds: Bounds
    ) -> list[tuple[Key, float]]:
        """The exact measure, from the source text of the ranked rows; rows that are gone are left out."""
        question = [[text] for text in query.texts]
        exact: dict[Key, float] = {}
        for some in chunks([key for key, _ in hits], self.backend.key_batch):
            for batch in self._source_texts(connection, some):
                exact |= zip(batch.keys, self.signer.similarity(question, batch.columns)[0].tolist(), strict=True)
        kept = [(key, exact[key]) for key, _ in hits if exact.get(key, -1.0) >= bounds.threshold]
        return sorted(kept, key=lambda hit: -hit[1])[: bounds.limit]

    def _compile(self, shape: Any, build: Any) -> Compiled:
        found = self._compiled.get(shape)
        if found is None:
            statement: Select[Any] = build()
            compiled = statement.compile(dialect=self.engine.dialect)
            order = list(compiled.positiontup) if compiled.positiontup is not None else None
            found = Compiled(str(compiled), order, dict(compiled.params))
            if len(self._compiled) > 100:  # conditions with literals in them
                self._compiled.clear()
            self._compiled[shape] = found
        return found

"""Run searches on an index: texts or stored keys → Results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, Select, Subquery, select

from dbsim.errors import IndexChanged, InvalidOption, UnknownKey
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions
from dbsim.search.candidates import Statements, Where, many_parameters, parameters, self_parameters
from dbsim.search.query import Query
from dbsim.search.results import Hit, Results
from dbsim.store.backend import Backend
from dbsim.store.catalogue import READY
from dbsim.store.reading import among, chunks, key_columns, source_rows, texts
from dbsim.store.source import Key, Texts, public_key
from dbsim.store.tables import IndexTables
from dbsim.store.transactions import searching

MAX_CANDIDATES = 1000
BATCH = 200  # queries in one statement


@dataclass(frozen=True)
class Bounds:
    """How similar, how many, and how much work at most."""

    threshold: float
    limit: int = 10
    max_candidates: int = MAX_CANDIDATES

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise InvalidOption(f"threshold is {self.threshold}, but must lie between 0 and 1")
        if self.limit < 1 or self.max_candidates < 1:
            raise InvalidOption("limit and max_candidates must be at least 1")


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
class SearchEngine:
    """The searches of one index; statements are compiled once."""

    engine: Engine
    backend: Backend
    tables: IndexTables
    signer: Signer
    _compiled: dict[Any, Compiled] = field(default_factory=dict)

    @property
    def options(self) -> IndexOptions:
        return self.tables.record.options

    @property
    def statements(self) -> Statements:
        return Statements(self.backend, self.tables)

    def sign(self, texts: Sequence[str | Sequence[str]]) -> list[Query | None]:
        """Each text belongs to every field, unless it is given field by field."""
        fields = len(self.tables.record.options.fields)
        columns = [[text if isinstance(text, str) else text[number] for text in texts] for number in range(fields)]
        return Query.of(self.signer.sign(columns))

    def search(self, query: Query | None, bounds: Bounds, where: Where, connection: Connection | None) -> Results:
        return self._run(query, bounds, where, connection, None)

    def similar(self, key: Key, bounds: Bounds, where: Where, connection: Connection | None) -> Results:
        with searching(self.engine, self.backend, connection) as own:
            query = self.query_of(own, key)
            return self._run(query, bounds, where, own, key)

    def search_many(
        self, queries: Sequence[Query | None], bounds: Bounds, connection: Connection | None
    ) -> list[Results]:
        found = [Results() for _ in queries]
        compiled = self._compile("many", self.statements.search_many)
        with searching(self.engine, self.backend, connection) as own:
            for start in range(0, len(queries), BATCH):
                values = {
                    "queries": many_parameters(
                        self.tables.record.options, queries[start : start + BATCH], bounds.threshold
                    ),
                    "threshold": bounds.threshold,
                    "hits": bounds.limit,
                    "ranked": bounds.max_candidates,
                }
                rows = self._execute(own, compiled, values)
                self._require_current([row[1] for row in rows])
                for _, _, number, candidates, score, *key in rows:
                    if number is None:  # none of the queries has a candidate
                        continue
                    result = found[start + number]
                    result.complete = rows[0][0] == READY
                    result.candidates = min(candidates, bounds.max_candidates)
                    result.cut = candidates > bounds.max_candidates
                    if score is not None:
                        result.append(Hit(public_key(self.tables.key_names, tuple(key)), score))
        return found

    def match(self, query: Query | None, bounds: Bounds, where: Where) -> Subquery:
        """Key columns and score as a selectable to join with."""
        candidates = self.statements.candidates(where).limit(bounds.max_candidates).subquery("candidates")
        ranked = self.statements.ranked(candidates)
        nothing = Query((None,) * self.tables.record.options.keys, (None,), (0,))  # type: ignore[arg-type]
        values = self._values(query or nothing, bounds)
        ordered = ranked.order_by(ranked.selected_columns[self.tables.names.score].desc()).limit(bounds.limit)
        return ordered.params(values).subquery("dbsim_match")

    def query_of(self, connection: Connection, key: Key) -> Query | None:
        """The stored signature of a row; of one not indexed yet, its text."""
        table = self.tables.signatures
        width = len(key)
        row = connection.execute(select(table).where(among(key_columns(table, self.tables), [key]))).first()
        if row is not None:
            return self._stored_query(tuple(row)[width:])
        for batch in self._source_texts(connection, [key]):
            return Query.of(self.signer.sign(batch.columns))[0]
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
        return Query(query.keys, bits, query.counts)

    def _run(
        self, query: Query | None, bounds: Bounds, where: Where, connection: Connection | None, key: Key | None
    ) -> Results:
        if query is None:
            return Results()
        values = self._values(query, bounds) | (self_parameters(key) if key else {})
        without_key = key is not None
        with searching(self.engine, self.backend, connection) as own:
            if where is None or isinstance(where, str):
                compiled = self._compile(
                    (where, without_key), lambda: self.statements.search(where, without_key=without_key)
                )
                rows = self._execute(own, compiled, values)
            else:
                rows = own.execute(self.statements.search(where, without_key=without_key), values).all()
        self._require_current([row[2] for row in rows])
        return self._results([tuple(row) for row in rows], bounds)

    def _execute(self, connection: Connection, compiled: Compiled, values: dict[str, Any]) -> Sequence[Any]:
        return connection.exec_driver_sql(compiled.sql, compiled.arguments(values)).all()

    def _require_current(self, stamps: Sequence[str]) -> None:
        """The stamp was read by the same statement as the hits, so both belong to one state of the database."""
        if not stamps or stamps[0] != self.tables.record.stamp:
            raise IndexChanged(self.tables.record.name)

    def _values(self, query: Query, bounds: Bounds) -> dict[str, Any]:
        return parameters(
            self.backend,
            self.tables.record.options,
            query,
            threshold=bounds.threshold,
            limit=bounds.limit,
            max_candidates=bounds.max_candidates,
        )

    def _results(self, rows: Sequence[tuple[Any, ...]], bounds: Bounds) -> Results:
        width = len(self.tables.key_names)
        results = Results(
            Hit(public_key(self.tables.key_names, row[3 : 3 + width]), row[-1]) for row in rows if row[-1] is not None
        )
        if rows:
            results.candidates = rows[0][0]
            results.cut = results.candidates >= bounds.max_candidates
            results.complete = rows[0][1] == READY
        return results

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

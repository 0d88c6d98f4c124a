"""Run searches on an index: texts or stored keys → Results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from sqlalchemy import BindParameter, Connection, Engine, Select, Subquery, bindparam, select
from sqlalchemy.sql.visitors import replacement_traverse

from dbsim.errors import IndexChanged, InvalidOption, UnknownKey
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions
from dbsim.search.candidates import Statements, Where, bound_parameters, many_parameters, parameters, self_parameters
from dbsim.search.query import Query
from dbsim.search.results import Hit, Results
from dbsim.store.backend import Backend
from dbsim.store.catalogue import READY, is_ready
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
    _filled: bool = False

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
        return self._run(query, bounds, where, connection, stamped=connection is not None)

    def similar(self, key: Key, bounds: Bounds, where: Where, connection: Connection | None) -> Results:
        with searching(self.engine, self.backend, connection) as own:
            query = self.query_of(own, key)
            return self._run(query, bounds, where, own, key, stamped=connection is not None)

    def search_many(
        self, queries: Sequence[Query | None], bounds: Bounds, connection: Connection | None
    ) -> list[Results]:
        found = [Results() for _ in queries]
        compiled = self._compile("many", self.statements.search_many)
        with searching(self.engine, self.backend, connection) as own:
            for start in range(0, len(queries), BATCH):
                some = queries[start : start + BATCH]
                values = bound_parameters(bounds.threshold, bounds.limit, bounds.max_candidates)
                values["queries"] = many_parameters(self.tables.record.options, some, bounds.threshold)
                rows = self._execute(own, compiled, values)
                complete = self._state(rows)
                for result in found[start : start + BATCH]:
                    result.complete = complete
                for _, _, number, candidates, score, *key in rows:
                    if number is None:  # none of the queries has a candidate
                        continue
                    result = found[start + number]
                    result.candidates = min(candidates, bounds.max_candidates)
                    result.cut = candidates >= bounds.max_candidates
                    if score is not None:
                        result.append(Hit(public_key(self.tables.key_names, tuple(key)), score))
        return found

    def match(self, query: Query | None, bounds: Bounds, where: Where) -> Subquery:
        """Key columns and score as a selectable to join with."""
        candidates = self.statements.candidates(where).limit(bounds.max_candidates).subquery("candidates")
        ranked = self.statements.ranked(candidates)
        options, columns = self.tables.record.options, ranked.selected_columns
        fields = len(options.fields)
        nothing = Query((None,) * options.keys, (None,) * fields, (0,) * fields)  # type: ignore[arg-type]
        values = self._values(query or nothing, bounds)
        best_first = [columns[self.tables.names.score].desc(), *(columns[name] for name in self.tables.key_names)]
        ordered = ranked.order_by(*best_first).limit(bounds.limit)
        return cast(Subquery, replacement_traverse(ordered.subquery(), {}, partial(_bound, values)))

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
        self,
        query: Query | None,
        bounds: Bounds,
        where: Where,
        connection: Connection | None,
        key: Key | None = None,
        *,
        stamped: bool,
    ) -> Results:
        if query is None:
            return Results()
        values = self._values(query, bounds) | (self_parameters(key) if key else {})
        build = self.statements.search_stamped if stamped else self.statements.search
        with searching(self.engine, self.backend, connection) as own:
            complete = stamped or self._is_complete(own)
            if where is None or isinstance(where, str):
                shape = (where, key is not None, stamped)
                rows = self._execute(
                    own, self._compile(shape, lambda: build(where, without_key=key is not None)), values
                )
            else:
                rows = own.execute(build(where, without_key=key is not None), values).all()
        if stamped:
            complete = self._state(rows)
            rows = [row[2:] for row in rows if row[2] is not None]
        return self._results([tuple(row) for row in rows], bounds, complete)

    def _execute(self, connection: Connection, compiled: Compiled, values: dict[str, Any]) -> Sequence[Any]:
        return connection.exec_driver_sql(compiled.sql, compiled.arguments(values)).all()

    def _is_complete(self, connection: Connection) -> bool:
        """Whether the first filling is over; once it is, it stays so and is not asked again."""
        self._filled = self._filled or is_ready(connection, self.tables.record.name)
        return self._filled

    def _state(self, rows: Sequence[Any]) -> bool:
        """Whether the index is filled; IndexChanged when it is not the one that these rows were asked for."""
        if not rows or rows[0][1] != self.tables.record.stamp:
            raise IndexChanged(self.tables.record.name)
        return bool(rows[0][0] == READY)

    def _values(self, query: Query, bounds: Bounds) -> dict[str, Any]:
        return parameters(
            self.backend,
            self.tables.record.options,
            query,
            threshold=bounds.threshold,
            limit=bounds.limit,
            max_candidates=bounds.max_candidates,
        )

    def _results(self, rows: Sequence[tuple[Any, ...]], bounds: Bounds, complete: bool) -> Results:
        names = self.tables.key_names
        results = Results(
            Hit(public_key(names, row[1:-1]), row[-1])
            for row in rows
            if row[-1] is not None and row[-1] >= bounds.threshold
        )
        results.complete = complete
        results.candidates = rows[0][0] if rows else 0
        results.cut = results.candidates >= bounds.max_candidates
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


def _bound(values: dict[str, Any], element: Any, **_: object) -> Any:
    """A parameter with its value and a name of its own, so that several matches can stand in one statement."""
    if isinstance(element, BindParameter) and element.key in values:
        return bindparam(element.key, values[element.key], element.type, unique=True)
    return None

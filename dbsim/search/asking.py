"""Ask the database and decide what it found: signed questions → Results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

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
from dbsim.search.statements.parameters import parameters, self_parameters
from dbsim.search.statements.statement import Look, Statements, about_row
from dbsim.tables.catalogue import is_ready
from dbsim.tables.decision_tables import DecisionTables
from dbsim.tables.key_conditions import key_columns, listed, listing
from dbsim.tables.source import Key, Texts, Unindexable

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
    _looks: dict[bool, Look] = field(default_factory=dict)  # of dbsim's own connections, with texts and without

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
        if connection is None and where is None and marked is None and key is None:
            at_once = self._at_once(query, cut, bounds)
            if at_once is not None:
                return at_once
        with self.context.searching(connection) as own:
            look = self._look(own, bounds)
            if connection is None:
                self._looks[look.texts] = look
            shape = {"without_key": key is not None, "width": query.width, "look": look}
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
            return self._results(rated, found, bounds, complete=self._is_complete(own))

    def _at_once(self, query: Query, cut: Cut, bounds: Bounds) -> Results | None:
        """The usual search: one statement, known from before, whose answer needs no second one. None of any other."""
        look = self._looks.get(bounds.verify is not False)
        if look is None or not self._filled or not query.texts:
            return None
        known = self._compiled.known(self.engine.dialect.driver, (None, False, query.width, look, None))
        hits = bounds.rounds[0]
        values = self._values(query, cut, bounds, hits)
        values["dbsim_ranked"] += 1
        rows = self.context.at_once(known.sql, known.arguments(values)) if known is not None else None
        if rows is None or (rows and rows[0][0] > bounds.max_candidates):
            return None
        found = self._found(rows, cut)
        rated = decide(found.rows, query, cut, bounds, partial(self._exact, None, query, None), self.tables.key_names)
        settled = not self._unsettled(rated, found, cut, bounds, hits)
        return self._results(rated, found, bounds, complete=True) if settled else None

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
        return self._found(rows, cut)

    def _found(self, rows: Sequence[Any], cut: Cut) -> Found:
        ranked = [self._ranked(row, 1, cut) for row in rows if row[1] is not None]
        return Found(ranked, rows[0][0] if rows else 0)

    def _ranked(self, row: Sequence[Any], start: int, cut: Cut) -> Ranked:
        """From score, fingerprint, key, whether it is there, whether it waits, and the texts of a doubtful row."""
        end = start + 2 + self._width
        score, there = row[start], row[end]
        doubtful = there and len(row) > end + 2 and cut.doubtful(score)
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
        self, connection: Connection | None, query: Query, key: Key | None, rows: Sequence[Ranked]
    ) -> list[Decided] | None:
        found = compared_single(self.signer, query.shingles, rows) if query.shingles is not None else None
        if found is not None:
            return found
        texts: Sequence[str] | None = query.texts
        if not texts and key is not None and connection is not None:
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

    def _results(self, rated: Sequence[Hit], found: Found, bounds: Bounds, *, complete: bool) -> Results:
        results = Results([hit for hit in rated if hit.score >= bounds.threshold][: bounds.limit])
        results.closest = rated[0] if rated and not results else None
        results.candidates = min(found.candidates, bounds.max_candidates)
        results.cut = found.candidates > bounds.max_candidates
        results.complete = complete
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

"""The search statement: keys of a query → ranked rows, in one SELECT.

candidates: rows that share a bucket key, at most max_candidates of them, filters included
ranked:     their scores, best first
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import (
    Alias,
    BigInteger,
    Boolean,
    ColumnElement,
    Double,
    FromClause,
    Integer,
    Select,
    TableClause,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
    true,
    tuple_,
    union,
)
from sqlalchemy.sql.elements import TextClause

from dbsim.errors import InvalidOption
from dbsim.options import IndexOptions
from dbsim.search.query import Query, key_parameter_names
from dbsim.search.score import Filter, score
from dbsim.store.backend import Backend
from dbsim.store.catalogue import index_table
from dbsim.store.source import Key
from dbsim.store.tables import IndexTables

Condition = str | TextClause | ColumnElement[bool]
Where = Condition | None


@dataclass(frozen=True)
class Statements:
    """Builds the statements of one index."""

    backend: Backend
    tables: IndexTables

    @property
    def options(self) -> IndexOptions:
        return self.tables.record.options

    def candidates(self, where: Where = None, *, without_key: bool = False, width: int = 1) -> Select[Any]:
        """Rows that share a key, can reach the threshold and fulfil the user's condition."""
        stored, names = self.tables.signatures, self.tables.names
        conditions: list[ColumnElement[bool]] = []
        if len(self.options.fields) == 1:
            count = stored.c[names.counts[0]]
            conditions.append(count.between(bindparam("low", type_=Integer), bindparam("high", type_=Integer)))
        if without_key:
            same = [stored.c[name] == bindparam(f"self{i}") for i, name in enumerate(self.tables.key_names)]
            conditions.append(not_(and_(*same)))
        if where is not None:
            conditions.append(self._fulfils(where))
        if self.options.hashing.nearest:
            return self._nearest(conditions)
        wanted = [[bindparam(name, type_=BigInteger) for name in some] for some in self._parameters(width)]
        return select(*self._ranking_columns()).where(self._shared(wanted), *conditions)

    def _parameters(self, width: int) -> Sequence[Sequence[str]]:
        return key_parameter_names(self.options.keys, width)

    def _shared(self, wanted: Sequence[Sequence[ColumnElement[Any]]]) -> ColumnElement[bool]:
        """A key equals its value or one of its neighbours'; codes in pieces must also lie within the radius."""
        columns = [self.tables.signatures.c[name] for name in self.tables.names.keys]
        shared = or_(
            *(
                column == values[0] if len(values) == 1 else column.in_(values)
                for column, values in zip(columns, wanted, strict=True)
            )
        )
        radius = self.options.hashing.radius
        if radius is None:
            return shared
        pieces = [self.backend.hamming(column, values[0]) for column, values in zip(columns, wanted, strict=True)]
        return and_(shared, sum(pieces[1:], start=pieces[0]) <= radius)

    def _nearest(self, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
        """The neighbours in the order of each key, on both sides: they share the longest prefixes with the query."""
        stored = self.tables.signatures
        identity = [stored.c[name] for name in self.tables.key_names]
        sides = []
        for number, name in enumerate(self.tables.names.keys):
            column, value = stored.c[name], bindparam(f"k{number}", type_=BigInteger)
            for side, order in ((column >= value, column.asc()), (column < value, column.desc())):
                scan = select(*identity).where(side, *conditions).order_by(order, *identity)
                sides.append(select(scan.limit(bindparam("near", type_=Integer)).subquery()))
        found = union(*sides)
        same = identity[0] if len(identity) == 1 else tuple_(*identity)
        return select(*self._ranking_columns()).where(same.in_(found))

    def _ranking_columns(self) -> list[ColumnElement[Any]]:
        """Primary key and filters: what is needed of a candidate."""
        stored, names = self.tables.signatures, self.tables.names
        return [stored.c[name] for name in (*self.tables.key_names, *names.bits, *names.counts)]

    def _fulfils(self, where: Condition) -> ColumnElement[bool]:
        """The user's condition on the source row, in its own scope."""
        stored = self.tables.signatures
        # on lines of its own, so that a comment ends; not text(), which would take a colon for a parameter
        condition: Any = literal_column(f"(\n{where}\n)", Boolean) if isinstance(where, str) else where
        source = self._mentioned(condition)
        same_row = [_column(source, name) == stored.c[name] for name in self.tables.key_names]
        return exists(select(literal_column("1")).select_from(source).where(*same_row, condition).correlate(stored))

    def _mentioned(self, condition: ColumnElement[bool]) -> FromClause:
        """The table as the condition names it: beside another object for the same table it would mean any row."""
        found = select(literal_column("1")).where(condition).get_final_froms()
        if not found:
            return self.tables.source
        if len(found) > 1 or not self._is_source(found[0]):
            raise InvalidOption(
                f"where= may use only columns of table {self.options.table!r}: put other tables into a subquery"
            )
        return found[0]

    def _is_source(self, found: FromClause) -> bool:
        table = found.element if isinstance(found, Alias) else found
        source = self.tables.source
        return (
            isinstance(table, TableClause)
            and table.name.lower() == source.name.lower()
            and table.schema in (None, source.schema)
        )

    def ranked(self, candidates: FromClause) -> Select[Any]:
        """Key and score of the candidates that reach the threshold."""
        names, options = self.tables.names, self.options
        left: list[Filter] = [(candidates.c[b], candidates.c[c]) for b, c in zip(names.bits, names.counts, strict=True)]
        right: list[Filter] = [
            (bindparam(f"bits{i}", type_=self.tables.signatures.c[b].type), bindparam(f"count{i}", type_=Integer))
            for i, b in enumerate(names.bits)
        ]
        value = score(self.backend, options, left, right).label(self.tables.names.score)
        scored = select(*(candidates.c[name] for name in self.tables.key_names), value).subquery("scored")
        return select(scored).where(scored.c[self.tables.names.score] >= bindparam("threshold", type_=Double))

    def search(self, where: Where = None, *, without_key: bool = False, width: int = 1) -> Select[Any]:
        """One row a hit, each with the number of candidates and the index's state; one row with NULLs without a hit."""
        rows = self.candidates(where, without_key=without_key, width=width)
        candidates = rows.limit(bindparam("ranked", type_=Integer)).cte("candidates")
        counted = select(func.count().label("dbsim_candidates")).select_from(candidates).subquery("counted")
        state = (
            select(index_table.c.state, index_table.c.generation)
            .where(index_table.c.name == self.tables.record.name)
            .subquery("state")
        )
        ranked = self.ranked(candidates).subquery("ranked")
        best = (
            select(ranked)
            .order_by(ranked.c[self.tables.names.score].desc(), *(ranked.c[name] for name in self.tables.key_names))
            .limit(bindparam("hits", type_=Integer))
            .subquery("best")
        )
        return (
            select(counted.c.dbsim_candidates, state.c.state, best)
            .select_from(counted.join(state, true()).outerjoin(best, true()))
            .order_by(best.c[self.tables.names.score].desc(), *(best.c[name] for name in self.tables.key_names))
        )

    def search_many(self, width: int = 1) -> Select[Any]:
        """The same for a batch: the queries come as one JSON array, so the statement stays the same for any number."""
        stored, names = self.tables.signatures, self.tables.names
        queries = self._queries(width)
        shared = self._shared([[queries.c[f"dbsim_{name}"] for name in some] for some in self._parameters(width)])
        in_range = stored.c[names.counts[0]].between(queries.c.dbsim_low, queries.c.dbsim_high)
        number = func.row_number().over(partition_by=queries.c.dbsim_number).label("dbsim_place")
        candidates = select(*self._ranking_columns(), *queries.c, number).where(shared, in_range).cte("candidates")
        left = [(candidates.c[b], candidates.c[c]) for b, c in zip(names.bits, names.counts, strict=True)]
        right = [(candidates.c[f"dbsim_bits{i}"], candidates.c[f"dbsim_count{i}"]) for i in range(len(names.bits))]
        keys = [candidates.c[name] for name in self.tables.key_names]
        scored = (
            select(
                *keys,
                candidates.c.dbsim_number,
                score(self.backend, self.options, left, right).label(self.tables.names.score),
            )
            .where(candidates.c.dbsim_place <= bindparam("ranked", type_=Integer))
            .subquery("scored")
        )
        order = [scored.c[self.tables.names.score].desc(), *(scored.c[name] for name in self.tables.key_names)]
        place = func.row_number().over(partition_by=scored.c.dbsim_number, order_by=order).label("dbsim_place")
        best = (
            select(scored, place)
            .where(scored.c[self.tables.names.score] >= bindparam("threshold", type_=Double))
            .subquery("best")
        )
        counted = (
            select(candidates.c.dbsim_number, func.count().label("dbsim_candidates"))
            .group_by(candidates.c.dbsim_number)
            .subquery("counted")
        )
        hits = and_(
            best.c.dbsim_number == counted.c.dbsim_number, best.c.dbsim_place <= bindparam("hits", type_=Integer)
        )
        return (
            select(
                counted.c.dbsim_number,
                counted.c.dbsim_candidates,
                best.c[self.tables.names.score],
                *(best.c[n] for n in self.tables.key_names),
            )
            .select_from(counted.outerjoin(best, hits))
            .order_by(counted.c.dbsim_number, best.c.dbsim_place)
        )

    def _queries(self, width: int) -> FromClause:
        fields = range(len(self.options.fields))
        keys = [f"dbsim_{name}" for name in chain.from_iterable(self._parameters(width))]
        numbers = ["dbsim_number", *keys, "dbsim_low", "dbsim_high", *(f"dbsim_count{i}" for i in fields)]
        return self.backend.json_rows("queries", numbers, [f"dbsim_bits{i}" for i in fields])


def _column(table: FromClause, name: str) -> ColumnElement[Any]:
    """By its name in the database, which an application may call otherwise."""
    for column in table.columns:
        if column.name == name:
            return column
    raise InvalidOption(f"where= uses a table object without the key column {name!r}: add that column to it")


def many_parameters(options: IndexOptions, queries: Sequence[Query | None], threshold: float) -> str:
    """The JSON array `search_many` reads."""
    rows = []
    for number, query in enumerate(queries):
        if query is not None:
            low, high = query.count_range(options, threshold)
            row: dict[str, Any] = {"dbsim_number": number, "dbsim_low": low, "dbsim_high": high}
            row.update({f"dbsim_{name}": key for name, key in query.key_parameters().items()})
            row.update({f"dbsim_count{i}": count for i, count in enumerate(query.counts)})
            row.update({f"dbsim_bits{i}": "X" + bits.hex() for i, bits in enumerate(query.bits) if bits is not None})
            rows.append(row)
    return json.dumps(rows)


def parameters(
    backend: Backend, options: IndexOptions, query: Query, *, threshold: float, limit: int, max_candidates: int
) -> dict[str, Any]:
    """The statement's parameters for one query."""
    low, high = query.count_range(options, threshold)
    values: dict[str, Any] = {**query.key_parameters()}
    for number, (bits, count) in enumerate(zip(query.bits, query.counts, strict=True)):
        values[f"bits{number}"] = None if bits is None else backend.stored_bits(bits)
        values[f"count{number}"] = count
    values.update(threshold=threshold, hits=limit, ranked=max_candidates, low=low, high=high)
    if options.hashing.nearest:
        values["near"] = -(-max_candidates // (2 * options.keys))
    return values


def self_parameters(key: Key) -> dict[str, Any]:
    return {f"self{i}": value for i, value in enumerate(key)}

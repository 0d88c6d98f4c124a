"""How filters and keys are compared in SQL on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Double,
    Engine,
    FromClause,
    Integer,
    LargeBinary,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    func,
    literal_column,
    select,
    union,
)
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op
from sqlalchemy.types import TypeEngine

from dbsim.engines.backend import Asked, Backend, FilterColumns, Questions
from dbsim.engines.execute import as_told, unobserved
from dbsim.engines.sqlite.surface.functions import register
from dbsim.hashing.bloom import Reading

_PREPARED = "dbsim_prepared"
_RECORDS = "dbsim_records"
_INTEGER, _REAL = 20, 25  # characters of the longest


class SQLiteScores(Backend):
    """See `Scores` for what each step means."""

    def connect(self, engine: Engine) -> Connection:
        # not AUTOCOMMIT: to switch back SQLAlchemy sends a PRAGMA that expires all prepared statements, 0.3 ms a search
        return engine.connect()

    def at_once(self, engine: Engine, statement: str, arguments: Any) -> Sequence[Any] | None:
        if not unobserved(engine, self.prepare):
            return None
        pooled = engine.raw_connection()
        raw = pooled.dbapi_connection
        try:
            if _PREPARED not in pooled.info or not isinstance(raw, sqlite3.Connection) or raw.in_transaction:
                return None
            rows = raw.execute(statement, arguments).fetchall()
            if raw.in_transaction:  # of a driver that begins one for every statement
                raw.rollback()
            return rows
        except sqlite3.Error as error:
            told = as_told(engine, raw, statement, arguments, error)
            if told is not None:
                raise told from error
            return None
        finally:
            pooled.close()

    def prepare(self, connection: Connection) -> None:
        info = connection.connection.info
        if _PREPARED not in info:
            register(connection.connection.dbapi_connection)
            info[_PREPARED] = True

    def jaccard(self, one: FilterColumns, two: FilterColumns, reading: Reading) -> ColumnElement[float]:
        return func.dbsim_jaccard(one.bits, one.count, two.bits, two.count, *_arguments(reading))

    def level(self, one: FilterColumns, two: FilterColumns, reading: Reading) -> ColumnElement[int]:
        return func.dbsim_level(one.bits, one.count, two.bits, two.count, *_arguments(reading), type_=Integer)

    def larger(self, one: ColumnElement[int], two: ColumnElement[int]) -> ColumnElement[int]:
        return func.max(one, two, type_=BigInteger)

    def hamming(self, key: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[int]:
        return func.dbsim_hamming(key, other, type_=Integer)

    def questions(
        self, asked: Asked, keys: Sequence[ColumnElement[Any]], identity: Sequence[ColumnElement[Any]]
    ) -> Questions:
        """A list of values for each key; all else in records of one length, as bytes.

        json_extract reads an object anew for every value in it: with 10 keys and 2,048 bits the statement took 47 µs a
        question that way, 27 this way.
        """
        looked_up = [
            _looked_up(name, column, identity) for column, names in zip(keys, asked.keys, strict=True) for name in names
        ]
        pairs = union(*looked_up).subquery("pairs")
        number = pairs.c.dbsim_number
        # looked up by what was found, never the other way round: with a sign before it a value has no index
        same_row = and_(*(column == _signed(pairs.c[str(column.key)]) for column in identity))
        columns: dict[str, ColumnElement[Any]] = {"dbsim_number": number}
        for name in chain.from_iterable(asked.keys):
            place = literal_column("'$['").concat(number).concat(literal_column("']'"))
            columns[name] = func.json_extract(bindparam(name, type_=Text), place, type_=BigInteger)
        record = bindparam(_RECORDS, type_=LargeBinary)
        length, offset = _length(asked), 1
        for names, type_, width in _numbers(asked):
            for name in names:
                columns[name] = cast(func.substr(record, number * length + offset, width), type_)
                offset += width
        for name, width in asked.filters.items():
            columns[name] = func.substr(record, number * length + offset, width, type_=LargeBinary)
            offset += width
        return Questions(same_row, columns)

    def asked_values(self, asked: Asked, values: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {name: str(values[name]) for name in chain.from_iterable(asked.keys)}
        names, widths = zip(*((name, width) for some, _, width in _numbers(asked) for name in some), strict=True)
        form = "".join(f"%{width}s" for width in widths)
        records = [(form % row).encode() for row in zip(*(values[name] for name in names), strict=True)]
        filters = [[one or bytes(width) for one in values[name]] for name, width in asked.filters.items()]
        found[_RECORDS] = b"".join(chain.from_iterable(zip(records, *filters, strict=True)))
        return found

    def json_rows(self, parameter: str, integers: Sequence[str]) -> FromClause:
        rows = func.json_each(bindparam(parameter, type_=Text)).table_valued("value", name="json")
        values = [func.json_extract(rows.c.value, f"$.{name}").label(name) for name in integers]
        return self.computed_once(select(*values)).cte(parameter)  # or every use of a value would read the JSON again

    def computed_once(self, query: Select[Any]) -> Select[Any]:
        return query.offset(0)  # what has a limit is not merged into the query around it


def _looked_up(name: str, column: ColumnElement[Any], identity: Sequence[ColumnElement[Any]]) -> Select[Any]:
    """The stored rows with a value of this list, and its place there."""
    values = func.json_each(bindparam(name, type_=Text)).table_valued("key", "value", name="asked")
    return select(values.c.key.label("dbsim_number"), *identity).where(column == values.c.value)


def _signed(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def _numbers(asked: Asked) -> Sequence[tuple[Sequence[str], TypeEngine[Any], int]]:
    return (asked.integers, Integer(), _INTEGER), (asked.reals, Double(), _REAL)


def _length(asked: Asked) -> int:
    """Of the record of one question."""
    return sum(width * len(names) for names, _, width in _numbers(asked)) + sum(asked.filters.values())


def _arguments(reading: Reading) -> list[ColumnElement[Any]]:
    """The length of usual filters; of others also how many bits can be set, and the factor."""
    values = (reading.bits,) if reading.usual else (reading.bits, reading.marks, reading.factor)
    return [literal_column(repr(value)) for value in values]

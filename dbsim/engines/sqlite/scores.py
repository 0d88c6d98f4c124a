"""How filters and keys are compared in SQL on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Integer,
    Select,
    Text,
    bindparam,
    func,
    literal_column,
    select,
)

from dbsim.engines.backend import Backend, FilterColumns
from dbsim.engines.execute import as_told, unobserved
from dbsim.engines.sqlite.surface.functions import register
from dbsim.hashing.bloom import Reading

_PREPARED = "dbsim_prepared"


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

    def json_rows(
        self, parameter: str, integers: Sequence[str], texts: Sequence[str], reals: Sequence[str] = ()
    ) -> FromClause:
        rows = func.json_each(bindparam(parameter, type_=Text)).table_valued("value", name="json")
        values = [func.json_extract(rows.c.value, f"$.{name}").label(name) for name in (*integers, *texts, *reals)]
        return self.computed_once(select(*values)).cte(parameter)  # or every use of a value would read the JSON again

    def computed_once(self, query: Select[Any]) -> Select[Any]:
        return query.offset(0)  # what has a limit is not merged into the query around it


def _arguments(reading: Reading) -> list[ColumnElement[Any]]:
    """The length of usual filters; of others also how many bits can be set, and the factor."""
    values = (reading.bits,) if reading.usual else (reading.bits, reading.marks, reading.factor)
    return [literal_column(repr(value)) for value in values]

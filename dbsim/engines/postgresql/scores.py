"""How filters and keys are compared in SQL on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any

import psycopg
from sqlalchemy import (
    CTE,
    JSON,
    BigInteger,
    ColumnElement,
    Connection,
    Double,
    Engine,
    FromClause,
    Integer,
    Select,
    Text,
    bindparam,
    case,
    cast,
    column,
    func,
    literal_column,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.selectable import TableValuedAlias

from dbsim.engines.backend import Asked, Backend, FilterColumns, Questions, any_equal
from dbsim.engines.callers import OWN
from dbsim.engines.execute import as_told, ask, unobserved
from dbsim.engines.postgresql.wire import drivers
from dbsim.hashing.bloom import ROUNDING, Reading
from dbsim.hashing.records.levels import CUTS, EQUAL
from dbsim.tables.names import quote
from dbsim.tables.types import PostgreSQLBits

# A search allocates some 0.7 MB in the server (27 kB an index scan). In many a connection glibc gives them back to the
# system after every search and fetches them again, 50 page faults and 0.1 ms each time; one larger piece of memory,
# once freed, raises the limit above which it does so.
WARM_UP = "SELECT current_setting('default_transaction_isolation') FROM repeat(' ', 2000000)"
# Statements without a transaction have the session's own level; a serializable search could make the application's
# transactions fail.
LEVELS = {"serializable": "READ COMMITTED", "repeatable read": "READ COMMITTED"}
_LEVEL = "dbsim_level"


class PostgreSQLScores(Backend):
    """See `Scores` for what each step means."""

    def connect(self, engine: Engine) -> Connection:
        # no BEGIN, no ROLLBACK
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT", **{OWN: True})
        if _LEVEL not in connection.info:
            try:
                found = connection.exec_driver_sql(WARM_UP).scalar_one()
                connection.commit()
            except DBAPIError:
                connection.close()
                raise
            connection.info[_LEVEL] = LEVELS.get(found, "AUTOCOMMIT")
        if connection.info[_LEVEL] != "AUTOCOMMIT":
            return connection.execution_options(isolation_level=connection.info[_LEVEL])
        return connection

    def at_once(self, engine: Engine, statement: str, arguments: Any) -> Sequence[Any] | None:
        """Without a transaction, as on the connections of `connect`."""
        if not unobserved(engine, self.prepare):
            return None
        pooled = engine.raw_connection()
        raw = pooled.dbapi_connection
        try:
            if pooled.info.get(_LEVEL) != "AUTOCOMMIT" or not isinstance(raw, psycopg.Connection):
                return None
            before = raw.autocommit
            raw.autocommit = True
            try:
                with raw.cursor() as cursor:
                    return cursor.execute(statement, arguments).fetchall()
            finally:
                raw.autocommit = before
        except psycopg.Error as error:
            told = as_told(engine, raw, statement, arguments, error)
            if told is not None:
                raise told from error
            return None
        finally:
            pooled.close()

    def prepare(self, connection: Connection) -> None:
        """bit_count and ln are there; behind a pooler no statement stays prepared."""
        drivers.unprepared_when_pooled(connection)

    def jaccard(self, one: FilterColumns, two: FilterColumns, reading: Reading) -> ColumnElement[float]:
        both = func.bit_count(one.bits.op("&")(cast(two.bits, PostgreSQLBits(reading.bits))))
        if reading.factor:
            share = cast(both, Double) / cast(one.count + two.count - both, Double)
            return cast(literal_column(f"{reading.factor!r}::float8"), Double) * share
        size = reading.marks
        union = _estimate(one.count + two.count - both, size)
        alone = _estimate(one.count, size) + _estimate(two.count, size)
        return func.greatest((alone - union) / union, 0.0, type_=Double)

    def level(self, one: FilterColumns, two: FilterColumns, reading: Reading) -> ColumnElement[int]:
        cuts: ColumnElement[Any] = literal_column(f"ARRAY[{', '.join(map(repr, CUTS))}]::float8[]")
        alike = func.width_bucket(self.jaccard(one, two, reading), cuts, type_=Integer)
        return case(
            (one.bits == cast(two.bits, PostgreSQLBits(reading.bits)), literal_column(str(EQUAL))), else_=alike + 1
        )

    def larger(self, one: ColumnElement[int], two: ColumnElement[int]) -> ColumnElement[int]:
        return func.greatest(one, two, type_=BigInteger)

    def hamming(self, key: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[int]:
        return func.bit_count(cast(key.op("#")(other), PostgreSQLBits(64)), type_=Integer)

    def one_step(self, query: Select[Any], name: str) -> CTE:
        return query.cte(name).prefix_with("MATERIALIZED")

    def can_read(self, connection: Connection, table: str) -> bool:
        statement = "SELECT has_table_privilege(to_regclass(:name), 'SELECT')"
        return bool(ask(connection, statement, name=quote(table)).scalar())

    def questions(
        self, asked: Asked, keys: Sequence[ColumnElement[Any]], identity: Sequence[ColumnElement[Any]]
    ) -> Questions:
        columns: list[ColumnElement[Any]] = [column(name, BigInteger) for name in _integers(asked)]
        columns += [column(name, Double) for name in asked.reals]
        columns += [column(name, Text) for name in asked.filters]
        rows = _recordset("queries", columns)
        return Questions(any_equal(keys, [[rows.c[name] for name in names] for names in asked.keys]), dict(rows.c))

    def asked_values(self, asked: Asked, values: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        names = [*_integers(asked)[1:], *asked.reals]
        form = ",".join(f'"{name}":%s' for name in ("dbsim_number", *names, *asked.filters))
        filters = [[_json_bits(one) for one in values[name]] for name in asked.filters]
        rows = zip(count(), *(values[name] for name in names), *filters)
        return {"queries": f"[{','.join([f'{{{form % row}}}' for row in rows])}]"}

    def json_rows(self, parameter: str, integers: Sequence[str]) -> FromClause:
        return _recordset(parameter, [column(name, BigInteger) for name in integers])


def _integers(asked: Asked) -> list[str]:
    return ["dbsim_number", *chain.from_iterable(asked.keys), *asked.integers]


def _json_bits(bits: bytes | None) -> str:
    return "null" if bits is None else f'"X{bits.hex()}"'


def _recordset(parameter: str, columns: Sequence[ColumnElement[Any]]) -> TableValuedAlias:
    rows = func.json_to_recordset(cast(bindparam(parameter, type_=Text), JSON))
    return rows.table_valued(*columns, name=parameter).render_derived(with_types=True)


def _estimate(count: ColumnElement[Any], size: int) -> ColumnElement[Any]:
    """`dbsim.hashing.bloom.cardinality` in SQL, equal to the last bit."""

    def number(value: float) -> ColumnElement[Any]:
        return literal_column(f"{value!r}::float8", Double)

    filled = func.least(cast(count, Double), number(size - 0.5), type_=Double) / number(float(size))
    scaled = number(-float(size) * ROUNDING) * func.ln(number(1.0) - filled, type_=Double)
    return func.round(scaled, type_=Double) / number(float(ROUNDING))

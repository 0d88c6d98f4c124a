"""The oracle: what an index stores, and what a build from scratch would store: Index → Dump.

`assert_converged` compares with a build in another database, in a form that is equal on every engine; `assert_in_step`
with a build beside it, row for row as they are stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import func, select

import dbsim
from dbsim.index import Index
from dbsim.tables.catalogue import READY, IndexRecord, quarantine_table
from dbsim.tables.names import quote

Rows = tuple[tuple[Any, ...], ...]
INTEGERS = ("smallint", "integer", "bigint")
BESIDE = "from scratch"


@dataclass(frozen=True)
class Dump:
    """Everything derived from the source rows; keys are plain integers or texts, bits are bytes, on every engine."""

    signatures: Rows
    quarantine: Rows


def dump(index: Index) -> Dump:
    """The rows of dbsim_<index> in key order and the index's quarantine."""
    worker = index._worker()
    tables, backend = worker.tables, worker.backend
    width, head = len(tables.key_names), len(tables.key_names) + 1 + tables.record.options.keys
    with worker.engine.connect() as connection:
        stored = [tuple(row) for row in connection.execute(select(tables.signatures))]
        held = connection.execute(
            select(quarantine_table.c.source_key, quarantine_table.c.reason)
            .where(quarantine_table.c.index_name == index.name)
            .order_by(quarantine_table.c.source_key)
        )
        quarantine = tuple(tuple(row) for row in held)
    rows = []
    for row in stored:
        tail = [
            backend.read_bits(value) if place % 2 == 0 and value is not None else value
            for place, value in enumerate(row[head:])
        ]
        rows.append((tuple(_plain(part) for part in row[:width]), *row[width:head], *tail))
    return Dump(tuple(sorted(rows, key=lambda row: repr(row[0]))), quarantine)


def from_scratch(index: Index) -> Dump:
    """The same source rows, options and secret, built in a new database in memory."""
    record = replace(index._worker().tables.record, state=READY)
    columns, rows = source_rows(index)
    return _built(record, tuple(columns), tuple(rows))


@lru_cache(maxsize=64)  # the same input gives the same build
def _built(record: IndexRecord, columns: tuple[str, ...], rows: Rows) -> Dump:
    database = dbsim.open("sqlite://", create=True)
    database.upgrade()
    keys = [name for name, _ in record.primary_key]
    table = quote(record.options.table)
    with database.engine.begin() as connection:
        types = [f"{quote(name)} {_sqlite_type(type_)}" for name, type_ in record.primary_key]
        texts = [quote(name) for name in columns[len(keys) :]]
        key = ", ".join(quote(name) for name in keys)
        connection.exec_driver_sql(f"CREATE TABLE {table} ({', '.join(types + texts)}, PRIMARY KEY ({key}))")
        for row in rows:
            places = ", ".join("CAST(? AS TEXT)" if isinstance(value, Raw) else "?" for value in row)
            values = tuple(value.data if isinstance(value, Raw) else value for value in row)
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({places})", values)
    index = build_like(database, record)
    index.sync()
    built = dump(index)
    database.close()
    return built


def build_like(database: dbsim.Database, record: IndexRecord, name: str | None = None, **more: Any) -> Index:
    """An index with the same options and secret, in another database or under another name."""
    options = record.options
    return database.create_index(
        name or options.name,
        table=options.table,
        fields=options.fields,
        family=options.family,
        threshold=options.threshold,
        recall=options.recall,
        rows=options.rows,
        keys=options.keys,
        secret=record.secret,
        **more,
    )


def stored(database: dbsim.Database, name: str) -> list[tuple[Any, ...]]:
    """Every row of the signature table and of the quarantine as the driver gives them; equal content, equal lists."""
    tables = database.index(name)._tables
    held = select(quarantine_table.c.source_key, quarantine_table.c.reason).where(quarantine_table.c.index_name == name)
    with database.engine.connect() as connection:
        raw = {"execution_options": {"no_parameters": True}}  # a percent sign in a name is what it is
        rows = connection.exec_driver_sql(f"SELECT * FROM {quote(tables.signatures.name)}", **raw)
        signatures = [tuple(row) for row in rows]
        poison = [tuple(row) for row in connection.execute(held)]
    return sorted(signatures, key=repr) + sorted(poison, key=repr)


def stored_from_scratch(database: dbsim.Database, name: str) -> list[tuple[Any, ...]]:
    """The same of an index that is built beside it, on the same table."""
    record = database.index(name)._tables.record
    build_like(database, record, BESIDE, schema=record.options.schema, triggers=False).sync()
    found = stored(database, BESIDE)
    database.drop_index(BESIDE)
    return found


def assert_in_step(database: dbsim.Database, name: str) -> None:
    """Incremental state == from-scratch build, and `check` agrees."""
    assert stored(database, name) == stored_from_scratch(database, name)
    found = database.index(name).check()
    assert not found, found


@dataclass(frozen=True)
class Raw:
    """The bytes of a SQLite text, which need not be UTF-8."""

    data: bytes


def source_rows(index: Index) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Columns and rows of the host's table as the index sees it: primary key first, then the indexed texts."""
    tables = index._worker().tables
    keys = tables.key_names
    texts = [name for name in index.options.columns if name not in keys]
    source = quote(index.options.schema, index.options.table)
    order = ", ".join(quote(name) for name in keys)
    sqlite = index._worker().engine.dialect.name == "sqlite"
    wanted = [quote(name) for name in keys]
    for name in texts:
        wanted += [f"CAST({quote(name)} AS BLOB)", f"typeof({quote(name)})"] if sqlite else [quote(name)]
    statement = f"SELECT {', '.join(wanted)} FROM {source} ORDER BY {order}"
    with index._worker().engine.connect() as connection:
        found = [tuple(row) for row in connection.exec_driver_sql(statement, execution_options={"no_parameters": True})]
    if sqlite:
        found = [(*row[: len(keys)], *_typed(row[len(keys) :])) for row in found]
    return [*keys, *texts], [(*(_plain(part) for part in row[: len(keys)]), *row[len(keys) :]) for row in found]


def queued(index: Index) -> int:
    """Changes not worked off yet."""
    worker = index._worker()
    with worker.engine.connect() as connection:
        return connection.scalar(select(func.count()).select_from(worker.tables.queue)) or 0


def assert_converged(index: Index, *, reconcile: bool = False, problem: str | None = None) -> None:
    """Drain, dump, compare with a build from scratch, byte for byte; the index is whole and says so."""
    index.sync(reconcile=reconcile)
    assert_equal_to_scratch(index)
    assert queued(index) == 0
    assert not index.check()
    status = index.status()
    assert status.state == "ready"
    assert all(problem is not None and problem in one for one in status.problems), status.problems


def assert_equal_to_scratch(index: Index) -> None:
    found, expected = dump(index), from_scratch(index)
    assert found.quarantine == expected.quarantine
    assert found.signatures == expected.signatures


def _typed(pairs: tuple[Any, ...]) -> list[Any]:
    return [Raw(data) if kind == "text" else data for data, kind in zip(pairs[::2], pairs[1::2], strict=True)]


def _plain(part: Any) -> Any:
    return part if isinstance(part, int | str | bytes) else str(part)


def _sqlite_type(declared: str) -> str:
    """Types of a PostgreSQL key that SQLite would not know become TEXT; those of SQLite stay."""
    return "INTEGER" if declared.lower() in INTEGERS else "TEXT" if declared.lower() == "uuid" else declared

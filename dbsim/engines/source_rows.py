"""Read rows of the host's table in batches of bounded size: Connection → Iterator[Texts]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Select, select

from dbsim.engines.backend import Backend
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import key_columns
from dbsim.tables.source import Texts, Unindexable

HOLDING = ("asyncpg",)  # drivers whose cursors hold on to the table, so that a migration could not alter it
TEXT_LIMIT = 4_000_000  # characters held at once, whatever the number of rows


def source_rows(backend: Backend, tables: IndexTables) -> Select[Any]:
    """SELECT primary key, texts FROM the host's table."""
    source = tables.source
    expressions = [e for name in tables.record.options.columns for e in backend.text_expressions(source.c[name])]
    return select(*key_columns(source, tables), *(e.label(f"dbsim_{i}") for i, e in enumerate(expressions)))


def texts(
    connection: Connection, backend: Backend, tables: IndexTables, query: Select[Any], *, stream: bool = True
) -> Iterator[Texts]:
    """The rows of a query made from `source_rows`, a bounded amount of text at a time.

    `stream` needs a transaction on PostgreSQL (a cursor on the server); without it the driver holds all rows.
    """
    fields = [_places(backend, tables, field.columns) for field in tables.record.options.fields]
    width = len(tables.key_names)
    batch, size = _empty(len(fields)), 0
    if stream and connection.dialect.driver not in HOLDING:
        query = query.execution_options(yield_per=backend.read_batch)
    with connection.execute(query) as rows:  # closed also when the connection is lost on the way
        for row in rows:
            values = tuple(row)
            key = values[:width]
            try:
                found = ["\n".join(backend.read_text(values[place]) for place in places) for places in fields]
            except Unindexable as failure:
                found = [""] * len(fields)
                batch.failures[key] = str(failure)
            batch.keys.append(key)
            for column, text in zip(batch.columns, found, strict=True):
                column.append(text)
                size += len(text)
            if size > TEXT_LIMIT:
                yield batch
                batch, size = _empty(len(fields)), 0
    if batch.keys:
        yield batch


def _places(backend: Backend, tables: IndexTables, columns: Sequence[str]) -> list[slice]:
    """Where the expressions of a field's columns stand in a row."""
    step = len(backend.text_expressions(next(iter(tables.source.c))))
    start = len(tables.key_names)
    order = tables.record.options.columns
    return [slice(start + order.index(name) * step, start + (order.index(name) + 1) * step) for name in columns]


def _empty(fields: int) -> Texts:
    return Texts([], [[] for _ in range(fields)])

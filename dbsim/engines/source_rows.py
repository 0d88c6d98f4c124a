"""Read rows of the host's table in batches of bounded size: Connection → Iterator[Texts]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, CursorResult, FromClause, Select, select

from dbsim.engines.backend import Backend
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Texts, Unindexable

HOLDING = ("asyncpg",)  # drivers whose cursors hold on to the table, so that a migration could not alter it
TEXT_LIMIT = 4_000_000  # characters held at once, whatever the number of rows


def source_rows(backend: Backend, tables: IndexTables) -> Select[Any]:
    """SELECT primary key, texts FROM the host's table, but for rows whose key no driver can read."""
    known = tables.companions
    if "source_rows" not in known:
        keys, expressions = tables.source_key, text_columns(backend, tables, tables.source)
        query = select(*keys, *(e.label(f"dbsim_{i}") for i, e in enumerate(expressions)))
        known["source_rows"] = query.where(*backend.readable_key(keys))
    found: Select[Any] = known["source_rows"]
    return found


def text_columns(backend: Backend, tables: IndexTables, source: FromClause) -> list[ColumnElement[Any]]:
    """What to select of the host's table so that `read_fields` can read it."""
    return [e for name in tables.record.options.columns for e in backend.text_expressions(source.c[name])]


def read_fields(backend: Backend, values: Sequence[Any], fields: Sequence[Sequence[slice]]) -> list[str]:
    """The text of every field, from a row's `text_columns`; Unindexable when one is no text."""
    read = backend.read_text
    return [
        read(values[places[0]]) if len(places) == 1 else "\n".join([read(values[place]) for place in places])
        for places in fields
    ]


def field_places(backend: Backend, tables: IndexTables, start: int) -> list[list[slice]]:
    """Where the expressions of each field's columns stand in a row that has them from `start` on."""
    step = len(backend.text_expressions(next(iter(tables.source.c))))
    order = tables.record.options.columns
    return [
        [slice(start + order.index(name) * step, start + (order.index(name) + 1) * step) for name in field.columns]
        for field in tables.record.options.fields
    ]


def texts(
    connection: Connection,
    backend: Backend,
    tables: IndexTables,
    query: Select[Any],
    *,
    stream: bool = True,
    values: Mapping[str, Any] | None = None,
) -> Iterator[Texts]:
    """The rows of a query made from `source_rows`, with the `values` it lacks, a bounded amount of text at a time.

    `stream` needs a transaction on PostgreSQL (a cursor on the server); without it the driver holds all rows.
    """
    width = len(tables.key_names)
    fields = field_places(backend, tables, width)
    batch, size = _empty(len(fields)), 0
    if stream and connection.dialect.driver not in HOLDING:
        query = query.execution_options(yield_per=backend.read_batch)
    backend.prepare(connection)  # which may be an application's, with an engine of its own
    with connection.execute(query, values) as rows:  # closed also when the connection is lost on the way
        # the driver's own tuples where they can be had: SQLAlchemy's rows take as long as all the rest
        for some in _pages(rows, stream, backend.read_batch):
            size += _add_page(batch, backend, some, width, fields)
            if size > TEXT_LIMIT:
                yield batch
                batch, size = _empty(len(fields)), 0
    if batch.keys:
        yield batch


def _pages(rows: CursorResult[Any], stream: bool, size: int) -> Iterator[Sequence[tuple[Any, ...]]]:
    if not stream:
        yield rows.cursor.fetchall()
        return
    for page in rows.partitions(size):
        yield [tuple(row) for row in page]


def _add_page(
    batch: Texts, backend: Backend, rows: Sequence[tuple[Any, ...]], width: int, fields: Sequence[Sequence[slice]]
) -> int:
    """Column by column, unless one of the values is no text; how many characters they have."""
    if not rows:
        return 0
    columns = list(zip(*rows, strict=True))
    try:
        found = [_joined([backend.read_texts(columns[place]) for place in places]) for places in fields]
    except Unindexable:
        return sum(_add(batch, backend, row, width, fields) for row in rows)
    batch.keys += zip(*columns[:width], strict=True)
    for column, texts_ in zip(batch.columns, found, strict=True):
        column += texts_
    return sum(sum(map(len, texts_)) for texts_ in found)


def _joined(parts: Sequence[list[str]]) -> list[str]:
    return parts[0] if len(parts) == 1 else list(map("\n".join, zip(*parts, strict=True)))


def held(backend: Backend, tables: IndexTables, rows: Sequence[Sequence[Any]]) -> Texts:
    """The rows of such a query that have been read already."""
    width, known = len(tables.key_names), tables.companions
    if "field_places" not in known:
        known["field_places"] = field_places(backend, tables, width)
    fields = known["field_places"]
    batch = _empty(len(fields))
    _add_page(batch, backend, [tuple(row) for row in rows], width, fields)
    return batch


def _add(batch: Texts, backend: Backend, values: tuple[Any, ...], width: int, fields: Sequence[Sequence[slice]]) -> int:
    """One row more; how many characters it has."""
    try:
        found = read_fields(backend, values, fields)
    except Unindexable as failure:
        found = [""] * len(fields)
        batch.failures[values[:width]] = str(failure)
    batch.keys.append(values[:width])
    size = 0
    for column, text in zip(batch.columns, found, strict=True):
        column.append(text)
        size += len(text)
    return size


def _empty(fields: int) -> Texts:
    return Texts([], [[] for _ in range(fields)])

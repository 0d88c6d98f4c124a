"""The tables of bit slices, made when an index has rows enough for them, and what every change tells them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table, delete, literal, select
from sqlalchemy.schema import CreateTable

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.lifecycle.statements import after_table
from dbsim.tables import slice_tables
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import among
from dbsim.tables.names import identifier, quote
from dbsim.tables.slice_tables import SliceTables
from dbsim.tables.source import Key


def exist(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    sliced = SliceTables.of(tables)
    return sliced.wanted and backend.has_table(connection, sliced.tail.name)


def create(connection: Connection, backend: Backend, tables: IndexTables, hook: TableHook | None = None) -> None:
    """No worker is in the middle of a change meanwhile, so none is missed from here on."""
    backend.lock_all(connection, tables)
    if exist(connection, backend, tables):
        return
    sliced = SliceTables.of(tables)
    for made in sliced.all:
        connection.execute(CreateTable(made, if_not_exists=True))
        run(connection, backend.table_settings([made.name]))
        run(connection, after_table(backend, tables, made, hook))
    connection.execute(sliced.index())


def without_btree(connection: Connection, tables: IndexTables) -> None:
    """The B-tree that questions scanned before there were slices."""
    if not tables.record.options.distributed:
        run(connection, [f"DROP INDEX IF EXISTS {quote(identifier(tables.signatures.name, 'words'))}"])


def complete(connection: Connection, tables: IndexTables) -> bool:
    """Whether every row has a place or is in the tail; the tables exist."""
    slices = SliceTables.of(tables).slices
    mark = select(literal(1)).where(slices.c.slice == slice_tables.COMPLETE)
    return connection.execute(mark).first() is not None


def due(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    """Whether so many rows are not in the slices that a sync should put them there."""
    if not SliceTables.of(tables).wanted:
        return False
    if not exist(connection, backend, tables):
        return _more_than(connection, tables.signatures, slice_tables.TAIL)
    full = _more_than(connection, SliceTables.of(tables).tail, slice_tables.TAIL)
    return full or not complete(connection, tables)


def note(connection: Connection, backend: Backend, tables: IndexTables, keys: Sequence[Key]) -> None:
    """These rows are new or other ones now."""
    if keys and exist(connection, backend, tables):
        backend.insert_rows(connection, SliceTables.of(tables).tail, keys)


def forget(connection: Connection, backend: Backend, tables: IndexTables, keys: Sequence[Key]) -> None:
    """Nothing is to say any more that there are these rows."""
    if exist(connection, backend, tables):
        sliced = SliceTables.of(tables)
        for table in (sliced.places, sliced.tail):
            connection.execute(delete(table).where(among(sliced.keys(table), keys)))


def _more_than(connection: Connection, table: Table, rows: int) -> bool:
    query = select(literal(1)).select_from(table).offset(rows).limit(1)
    return connection.execute(query).first() is not None

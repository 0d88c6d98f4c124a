"""What a deploy needs around its migrations: check at start-up, one deploy at a time, SQLite's table rebuilds."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from alembic.operations import Operations
from sqlalchemy import Connection, Engine, inspect

from dbsim.engines.backend import Backend
from dbsim.engines.registry import backend_of
from dbsim.errors import InvalidOption
from dbsim.lifecycle import schema
from dbsim.lifecycle.create import new_record
from dbsim.migrate.operations import backend_for, emit, offline
from dbsim.options import IndexOptions
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote

PATIENCE = 600.0  # seconds that a deploy waits for another one
log = logging.getLogger("dbsim.migrate")


def check(database: Engine | Connection) -> None:
    """Raise SchemaOutdated, with the migration to paste, unless dbsim's tables are of this code's version."""
    if isinstance(database, Connection):
        schema.require(database, "DB")
        return
    with database.connect() as connection:
        schema.require(connection, database.url.render_as_string(hide_password=True))


@contextmanager
def exclusively(connection: Connection) -> Iterator[None]:
    """One deploy at a time: put it around everything Alembic does with the connection in env.py.

    The others wait, then find nothing left to do. On SQLite all migrations of the deploy become one transaction.
    """
    with backend_of(connection).exclusively(connection, PATIENCE):
        yield


@contextmanager
def suspended(
    op: Operations, table: str, *, indexes: Iterable[tuple[IndexOptions, dict[str, str]]] = ()
) -> Iterator[None]:
    """Around a batch rebuild of `table` on SQLite, which loses triggers: they are dropped before and restored after.

    Rows written in between are found by a comparison, which the next `sync` makes. PostgreSQL changes tables in
    place, so nothing is done there. Offline give `indexes`: the options and the primary key of those on the table.
    """
    backend = backend_for(op)
    if not backend.rebuilds_tables:
        yield
        return
    found = _given(indexes) if offline(op) else _on_table(op.get_bind(), table)
    if offline(op) and not found:
        raise InvalidOption(
            f"without a connection the indexes on {table!r} are not known: write suspended(op, {table!r}, "
            f'indexes=[(options, {{"id": "INTEGER"}})])'
        )
    for tables in found:
        emit(op, backend.drop_triggers(tables.record.name))
    try:
        yield
    finally:
        for tables in found:
            if offline(op) or _fits(op.get_bind(), backend, tables):
                emit(op, backend.create_triggers(tables))
                emit(op, [f"INSERT INTO {quote(tables.queue.name)} DEFAULT VALUES"])


def _given(indexes: Iterable[tuple[IndexOptions, dict[str, str]]]) -> list[IndexTables]:
    return [IndexTables(new_record(options, tuple(key.items()))) for options, key in indexes]


def _on_table(connection: Connection, table: str) -> list[IndexTables]:
    if not inspect(connection).has_table("dbsim_index"):
        return []
    records = [catalogue.load(connection, name) for name in catalogue.names(connection)]
    return [
        IndexTables(record)
        for record in records
        if record.options.triggers and record.options.table.lower() == table.lower()
    ]


def _fits(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    """A trigger that names a missing column would make every write of the application fail."""
    source = backend.describe(connection, tables.record.options.table, tables.record.options.schema)
    if source is not None and set(tables.key_names) <= set(source.columns):
        return True
    log.warning("table %r lost its key: drop dbsim's index %r", tables.record.options.table, tables.record.name)
    return False

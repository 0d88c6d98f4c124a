"""What a deploy needs around its migrations: check at start-up, one deploy at a time, SQLite's table rebuilds."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from alembic.operations import Operations
from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.exc import DBAPIError

from dbsim.engines.backend import Backend, backend_named, backend_of
from dbsim.errors import DatabaseUnavailable, InvalidOption
from dbsim.lifecycle import schema
from dbsim.lifecycle.create import new_record
from dbsim.migrate.operations import emit, offline
from dbsim.options import IndexOptions
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote

LOCK = "hashtext('dbsim deploy')"
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
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_lock({LOCK})")
        connection.commit()  # or Alembic takes the transaction for somebody else's and does not commit; the lock stays
        try:
            yield
        finally:
            connection.rollback()
            connection.exec_driver_sql(f"SELECT pg_advisory_unlock({LOCK})")
            connection.commit()
        return
    _begin(connection, backend_of(connection))
    try:
        yield
        connection.commit()
    finally:
        connection.rollback()


def _begin(connection: Connection, backend: Backend) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return backend.begin(connection)
        except DBAPIError as error:
            if not backend.transient(error) or time.monotonic() > deadline:
                raise backend.explain(error) or DatabaseUnavailable("another deploy does not end") from error
            connection.rollback()
            time.sleep(0.05 + 0.2 * random.random())


@contextmanager
def suspended(
    op: Operations, table: str, *, indexes: Iterable[tuple[IndexOptions, dict[str, str]]] = ()
) -> Iterator[None]:
    """Around a batch rebuild of `table` on SQLite, which loses triggers: they are dropped before and restored after.

    Rows written in between are found by a comparison, which the next `sync` makes. PostgreSQL changes tables in
    place, so nothing is done there. Offline give `indexes`: the options and the primary key of those on the table.
    """
    backend = backend_named(op.get_context().dialect.name)
    if backend.name != "sqlite":
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

"""What a deploy needs around its migrations: check at start-up, one deploy at a time, SQLite's table rebuilds."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from alembic.operations import Operations
from sqlalchemy import Connection, Engine, inspect

from dbsim.engines.backend import Backend
from dbsim.engines.registry import backend_of
from dbsim.engines.urls import shown
from dbsim.errors import InvalidOption, NotInPlace
from dbsim.lifecycle import schema
from dbsim.lifecycle.create import new_record
from dbsim.lifecycle.fit import source_problem
from dbsim.migrate.operations import backend_for, emit, offline
from dbsim.options import IndexOptions
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote

PATIENCE = 600.0  # seconds that a deploy waits for another one
log = logging.getLogger("dbsim.migrate")


def check(database: Engine | Connection) -> None:
    """For start-up: raise SchemaOutdated, with the migration to paste, unless dbsim's tables are of this version,
    and NotInPlace when an index lacks its table, columns, key, triggers or views; filling it is left to `sync`.
    """
    if isinstance(database, Engine):
        with database.connect() as connection:
            check(connection)
        return
    schema.require(database, shown(database.engine))
    backend = backend_of(database)
    found = [(name, _missing(database, backend, name)) for name in catalogue.names(database)]
    if wrong := [f"index {name!r}: {problem}" for name, problem in found if problem]:
        raise NotInPlace("; ".join(wrong))


def _missing(connection: Connection, backend: Backend, name: str) -> str | None:
    tables = IndexTables(catalogue.load(connection, name))
    options = tables.record.options
    source = backend.describe(connection, options.table, options.schema)
    if (problem := source_problem(connection, backend, tables, source)) is not None:
        return problem
    surface, triggers = backend.defects(connection, tables)
    if surface.outdated or triggers.outdated:  # they work, and the next sync makes them anew
        return None
    missing = [f"the trigger {trigger}" for trigger in triggers.missing]
    if tables.record.ready:  # the first sync makes them
        missing += surface.missing
    remedy = f"run `dbsim sync {shlex.quote(shown(connection.engine))} {name}`"
    return f"{missing[0]} is missing: {remedy}" if missing else None


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
                emit(op, backend.create_triggers(tables, None if offline(op) else op.get_bind(), patient=True))
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

"""Drop the generations of an index that nobody needs any more, and empty large ones bit by bit before."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, delete, select

from dbsim.engines.backend import Backend
from dbsim.engines.execute import run
from dbsim.engines.pause import Pace
from dbsim.engines.transactions import read, write
from dbsim.errors import DatabaseUnavailable
from dbsim.lifecycle.statements import drop_table, generation_tables
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables, parts_name
from dbsim.tables.key_conditions import after, key_columns
from dbsim.tables.names import quote
from dbsim.tables.slice_tables import slice_names

MOST_ROWS = 20_000  # deleted at once
FEW_ROWS = 3000  # dropped in a moment
Change = Callable[[Callable[[Connection], Any]], Any]  # in a transaction
Allowed = Callable[[Connection], bool]  # whether the generation may still be emptied
LOCK_WAIT = "200ms"  # how long searches may queue behind a DROP TABLE


def retire(engine: Engine, backend: Backend, name: str, keep: float) -> None:
    """Those replaced `keep` seconds ago or never finished; one that is still being read waits for the next run."""
    change = partial(write, engine, backend, patience=0)
    for record in read(engine, backend, partial(_not_needed, name=name, keep=keep)):
        try:
            if backend.writers_wait:
                empty(change, backend, record, partial(_still_not_needed, record=record))
            change(partial(_drop, backend=backend, record=record))
        except DatabaseUnavailable:
            continue


def _not_needed(connection: Connection, name: str, keep: float) -> list[catalogue.IndexRecord]:
    found = catalogue.generations(connection, name)
    others = [record for record in found[1:] if record is not catalogue.target(found)]
    old = time.time() - keep
    return [one for one in others if not one.ready or _lost(one) or (one.retired_at or 0) <= old]


def _lost(record: catalogue.IndexRecord) -> bool:
    """Replaced, and its secret was taken away: it cannot be kept in step."""
    return record.retired_at is not None and bool(record.options.secret) and not record.secret


def _drop(connection: Connection, backend: Backend, record: catalogue.IndexRecord) -> None:
    backend.change(connection, record.name)
    backend.limit_lock_wait(connection, LOCK_WAIT)
    if _still_not_needed(connection, record):
        parts = parts_name(record.name, record.generation)
        run(connection, map(drop_table, [parts, *generation_tables(record.name, record.generation)]))
        catalogue.remove_generation(connection, record)
        catalogue.forget_secret(connection, record.name)


def _still_not_needed(connection: Connection, record: catalogue.IndexRecord) -> bool:
    catalogue.generations(connection, record.name, lock=True)
    return record.generation in {other.generation for other in _not_needed(connection, record.name, keep=0.0)}


def empty(change: Change, backend: Backend, record: catalogue.IndexRecord, allowed: Allowed) -> None:
    """In short transactions, because every write of the application waits while a large table is dropped.

    Slices and B-trees go first, then rows from the last one on: so a generation that somebody wants again meanwhile, or
    whose end was interrupted, is one whose filling was interrupted.
    """
    tables = IndexTables(record)
    if not change(partial(_large, backend=backend, tables=tables)):
        return
    slices = [drop_table(name) for name in slice_names(record.name, record.generation)]
    indexes = [f"DROP INDEX IF EXISTS {quote(str(index.element.name))}" for index in tables.indexes]
    for statement in [*slices, *indexes]:
        change(partial(_without, record=record, statement=statement, allowed=allowed))
    pace = Pace(MOST_ROWS, writers_wait=True)
    while pace.write(change, partial(_without_last, tables=tables, count=pace.size, allowed=allowed)):
        pass


def _large(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    signatures = tables.signatures
    some = select(1).select_from(signatures).offset(FEW_ROWS).limit(1)
    return backend.has_table(connection, signatures.name) and connection.execute(some).first() is not None


def _without(connection: Connection, record: catalogue.IndexRecord, statement: str, allowed: Allowed) -> None:
    if allowed(connection):
        catalogue.set_unfinished(connection, record)
        run(connection, [statement])


def _without_last(connection: Connection, tables: IndexTables, count: int, allowed: Allowed) -> bool:
    """Whether there may be more."""
    if not allowed(connection):
        return False
    keys = key_columns(tables.signatures, tables)
    backwards = [key.desc() for key in keys]
    left = connection.execute(select(*keys).order_by(*backwards).offset(count).limit(1)).first()
    rest = [] if left is None else [after(keys, tuple(left))]
    connection.execute(delete(tables.signatures).where(*rest))
    return left is not None

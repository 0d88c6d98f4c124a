"""Drop the generations of an index that nobody needs any more."""

from __future__ import annotations

import time
from functools import partial

from sqlalchemy import Connection, Engine

from dbsim.engines.backend import Backend
from dbsim.engines.execute import run
from dbsim.engines.transactions import read, write
from dbsim.errors import DatabaseUnavailable
from dbsim.lifecycle.statements import drop_table
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables, parts_name

LOCK_WAIT = "200ms"  # how long searches may queue behind a DROP TABLE


def retire(engine: Engine, backend: Backend, name: str, keep: float) -> None:
    """Those replaced `keep` seconds ago or never finished; one that is still being read waits for the next run."""
    for record in read(engine, backend, partial(_not_needed, name=name, keep=keep)):
        try:
            write(engine, backend, partial(_drop, backend=backend, record=record), patience=0)
        except DatabaseUnavailable:
            continue


def _not_needed(connection: Connection, name: str, keep: float) -> list[catalogue.IndexRecord]:
    found = catalogue.generations(connection, name)
    others = [record for record in found[1:] if record is not catalogue.target(found)]
    return [record for record in others if not record.ready or time.time() - (record.retired_at or 0) >= keep]


def _drop(connection: Connection, backend: Backend, record: catalogue.IndexRecord) -> None:
    backend.change(connection, record.name)
    backend.limit_lock_wait(connection, LOCK_WAIT)
    catalogue.generations(connection, record.name, lock=True)
    if record.generation in {other.generation for other in _not_needed(connection, record.name, keep=0.0)}:
        parts = parts_name(record.name, record.generation)
        run(connection, [drop_table(parts), drop_table(IndexTables(record).signatures.name)])
        catalogue.remove_generation(connection, record)

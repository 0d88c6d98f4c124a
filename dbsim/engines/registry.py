"""The engines by name: Engine, Connection or dialect → Backend. A new engine is one folder and a line here.

Each is loaded when it is asked for, as commands are: who opens a SQLite file waits for no driver of a server.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Dialect, Engine, event

from dbsim.engines.backend import Backend
from dbsim.errors import DbsimError

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

DRIVERS = {"sqlite": ("pysqlite", "aiosqlite"), "postgresql": ("psycopg", "psycopg2", "asyncpg")}
CLASSES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}  # in the module `backend` of the folder of that name


def backend_of(engine: Engine | Connection) -> Backend:
    """The implementation for an engine's dialect."""
    dialect = engine.dialect
    found = backend_named(dialect.name)
    if dialect.driver not in DRIVERS[dialect.name]:
        raise DbsimError(
            f"dbsim works with the drivers {', '.join(DRIVERS[dialect.name])}, not with {dialect.driver}: "
            f"give it an engine of its own, create_engine('{dialect.name}+{DRIVERS[dialect.name][0]}://…')"
        )
    return found


def register(engine: Engine | AsyncEngine) -> None:
    """Let statements on this engine compute scores (`Index.match` on SQLite); `dbsim.open` does it by itself."""
    synchronous = engine if isinstance(engine, Engine) else engine.sync_engine
    backend = backend_of(synchronous)
    if not event.contains(synchronous, "engine_connect", backend.prepare):
        event.listen(synchronous, "engine_connect", backend.prepare)


def backend_for_dialect(dialect: Dialect) -> Backend:
    """The implementation for statements that are written without a connection."""
    return backend_named(dialect.name)


@cache  # one object each, so that opening the same engine again finds its listener there
def backend_named(dialect: str) -> Backend:
    """The implementation by the dialect's name."""
    if dialect not in CLASSES:
        raise DbsimError(f"dbsim works on SQLite and PostgreSQL, not on {dialect}")
    found: Backend = getattr(import_module(f"dbsim.engines.{dialect}.backend"), CLASSES[dialect])()
    return found

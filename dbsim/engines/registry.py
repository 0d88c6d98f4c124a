"""The engines by name: Engine, Connection or dialect → Backend. A new engine is one folder and a line here."""

from __future__ import annotations

from sqlalchemy import Connection, Dialect, Engine

from dbsim.engines.backend import Backend
from dbsim.engines.postgresql.backend import PostgreSQL
from dbsim.engines.sqlite.backend import SQLite
from dbsim.errors import DbsimError

DRIVERS = {"sqlite": "pysqlite", "postgresql": "psycopg"}
# one object each, so that opening the same engine again finds its listener there
BACKENDS: dict[str, Backend] = {"sqlite": SQLite(), "postgresql": PostgreSQL()}


def backend_of(engine: Engine | Connection) -> Backend:
    """The implementation for an engine's dialect."""
    dialect = engine.dialect
    found = backend_named(dialect.name)
    if dialect.driver != DRIVERS[dialect.name]:
        driver = DRIVERS[dialect.name]
        raise DbsimError(
            f"dbsim works with the driver {driver}, not with {dialect.driver}: "
            f"give it an engine of its own, create_engine('{dialect.name}+{driver}://…')"
        )
    return found


def backend_for_dialect(dialect: Dialect) -> Backend:
    """The implementation for statements that are written without a connection."""
    return backend_named(dialect.name)


def backend_named(dialect: str) -> Backend:
    """The implementation by the dialect's name."""
    if dialect not in BACKENDS:
        raise DbsimError(f"dbsim works on SQLite and PostgreSQL, not on {dialect}")
    return BACKENDS[dialect]

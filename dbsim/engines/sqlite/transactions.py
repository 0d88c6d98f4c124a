"""Transactions, locks and errors on SQLite."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from dbsim.engines.backend import GONE, Backend
from dbsim.engines.pause import pause
from dbsim.errors import DatabaseUnavailable, DbsimError, InvalidOption, StatementRejected
from dbsim.tables.index_tables import IndexTables


class SQLiteTransactions(Backend):
    """See `Transactions` for what each step means."""

    def open(self, engine: Engine) -> Connection:
        connection = engine.connect()
        self.prepare(connection)
        return connection

    def begin(self, connection: Connection) -> None:
        connection.begin()
        # the application's engine may emit a plain BEGIN, which would fail when it comes to write
        if in_transaction(connection):
            connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    @contextmanager
    def enforcing_foreign_keys(self, connection: Connection) -> Iterator[None]:
        """SQLite enforces them only when told so, which works between transactions only."""
        before = connection.exec_driver_sql("PRAGMA foreign_keys").scalar()
        connection.rollback()
        self._switch_foreign_keys(connection, 1)
        try:
            yield
        finally:
            connection.rollback()
            self._switch_foreign_keys(connection, int(before or 0))

    def _switch_foreign_keys(self, connection: Connection, on: int) -> None:
        raw = connection.connection.dbapi_connection
        assert isinstance(raw, sqlite3.Connection)
        if raw.in_transaction:  # begun by the application's engine
            raw.rollback()
        raw.execute(f"PRAGMA foreign_keys = {on}")

    def snapshot(self, connection: Connection) -> None:
        if not in_transaction(connection):
            connection.exec_driver_sql("BEGIN")

    @contextmanager
    def exclusively(self, connection: Connection, patience: float) -> Iterator[None]:
        """All of it becomes one transaction; a deploy that holds the lock is waited for."""
        deadline = time.monotonic() + patience
        while not self._begun(connection):
            if time.monotonic() > deadline:
                raise DatabaseUnavailable("another deploy does not end: wait for it, then try again")
            pause(0.05 + 0.2 * random.random())
        try:
            yield
            connection.commit()
        finally:
            connection.rollback()

    def _begun(self, connection: Connection) -> bool:
        try:
            self.begin(connection)
        except DBAPIError as error:
            if not self.transient(error):
                explained = self.explain(error)
                if explained is None:
                    raise
                raise explained from error
            connection.rollback()
            return False
        return True

    def written(self, connection: Connection) -> object | None:
        """`data_version` tells what other connections have written, `total_changes` what this one has."""
        raw = connection.connection.driver_connection
        versions = "SELECT data_version, schema_version FROM pragma_data_version, pragma_schema_version"
        return raw, raw.total_changes, *connection.exec_driver_sql(versions).one()  # type: ignore[union-attr]

    def lock_buckets(self, connection: Connection, tables: IndexTables, keys: Sequence[int]) -> None:
        """SQLite has one writer: become it, before anything is read, or with a write that changes nothing."""
        if in_transaction(connection):
            connection.exec_driver_sql("UPDATE dbsim_index SET listening = listening WHERE 0")
        else:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    def transient(self, error: BaseException) -> bool:
        code = _code(error)
        return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

    def explain(self, error: BaseException) -> DbsimError | None:
        code = _code(error)
        sentences = {
            sqlite3.SQLITE_BUSY: "the database is locked by another process: try again when it has finished",
            sqlite3.SQLITE_LOCKED: "the database is locked by another connection: try again when it has finished",
            sqlite3.SQLITE_READONLY: "the database is read-only: give write access to the file and its folder",
            sqlite3.SQLITE_FULL: "the disk or the database is full: nothing was lost, free some space and try again",
            sqlite3.SQLITE_NOTADB: "the file is not a SQLite database: check the path",
            sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened: check the path and its permissions",
            sqlite3.SQLITE_CORRUPT: "the database file is damaged: run PRAGMA integrity_check and restore a backup",
            sqlite3.SQLITE_IOERR: "the disk reports an error: nothing was lost, check the disk and try again",
        }
        if code is not None and code & 0xFF in sentences:
            return DatabaseUnavailable(sentences[code & 0xFF])
        return _explain_statement(str(error.orig if isinstance(error, DBAPIError) else error))


def in_transaction(connection: Connection) -> bool:
    """pysqlite's connection and aiosqlite's say so in the same way."""
    return bool(connection.connection.driver_connection.in_transaction)  # type: ignore[union-attr]


def _explain_statement(detail: str) -> DbsimError | None:
    """SQLite has one code for every mistake in a statement."""
    detail = detail.split("\n")[0]
    if detail.startswith("Could not decode to UTF-8"):  # and the rest of it is the user's data
        return DbsimError("a primary key is not valid UTF-8, so its row cannot be referred to: correct it")
    if detail.startswith(("no such table", "no such column")):
        return StatementRejected(GONE.format(detail))
    if detail.startswith(("Error binding parameter", "datatype mismatch")):
        return InvalidOption(f"a value does not fit its column ({detail})")
    if any(part in detail for part in ("syntax error", "unrecognized token", "incomplete input", "null character")):
        return StatementRejected(f"the condition is not SQL that the database understands ({detail})")
    return None


def _code(error: BaseException) -> int | None:
    original = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(original, "sqlite_errorcode", None)
    return code if isinstance(code, int) else None

"""The steps of store and search on SQLite."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Double,
    Engine,
    FromClause,
    Integer,
    LargeBinary,
    Row,
    Table,
    Text,
    bindparam,
    cast,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.exc import DBAPIError

from dbsim.engines.backend import GONE
from dbsim.engines.pause import pause
from dbsim.engines.signature_rows import signature_pages
from dbsim.engines.sqlite.functions import register
from dbsim.engines.sqlite.references import references
from dbsim.engines.sqlite.views import SQLiteSurface, trigger_names
from dbsim.engines.views import MARK, outdated
from dbsim.errors import DatabaseUnavailable, DbsimError, InvalidOption, StatementRejected
from dbsim.hashing.signer import Signatures
from dbsim.resources import sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_forms import sqlite_forms
from dbsim.tables.names import quote
from dbsim.tables.source import Key, Reference, Source, Unindexable

POLL_SECONDS = 0.2
_PREPARED = "dbsim_prepared"
NO_ROLES = (
    "SQLite has no roles: whoever may read the file may read all of it, the secrets of indexes included; "
    "the permissions of the file decide"
)


class SQLite(SQLiteSurface):
    """See `Backend` for what each step means."""

    name = "sqlite"
    dialect: Dialect = SQLiteDialect(paramstyle="named")  # which leaves a percent sign alone
    random_hex = "lower(hex(randomblob(16)))"
    read_batch = 256
    key_batch = 500  # SQLite before 3.32 takes 999 parameters
    fill_batch = 1000
    queue_batch = 500  # the application waits for the write lock meanwhile: keep it well under its busy timeout
    not_text: tuple[str, ...] = ("blob",)
    not_key = r"(?!)"  # any type will do
    typed_keys = False
    errors: tuple[type[Exception], ...] = (DBAPIError, sqlite3.Error)
    errors_abort = False
    writers_wait = True
    refuse_writes = "PRAGMA query_only = ON"
    searches_in_sql = False
    rebuilds_tables = True

    # ── the host's table ──
    def describe(self, connection: Connection, table: str, schema: str | None) -> Source | None:
        if schema is not None:
            return None
        listed = connection.exec_driver_sql(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)", (table,)
        ).first()
        if listed is None:
            return None
        columns = connection.exec_driver_sql(
            "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", (listed.name,)
        ).all()
        in_key = connection.exec_driver_sql(
            "SELECT x.name, x.coll FROM pragma_index_list(?) l, pragma_index_xinfo(l.name) x "
            "WHERE l.origin = 'pk' AND x.key",
            (listed.name,),
        )
        collations = {row.name: row.coll for row in in_key}
        key = sorted((row for row in columns if row.pk), key=lambda row: row.pk)
        return Source(
            schema=None,
            table=listed.name,
            columns={row.name: row.type for row in columns},
            primary_key=tuple((row.name, self._key_type(row.type, collations.get(row.name, "BINARY"))) for row in key),
            is_table=listed.type == "table",
        )

    def _key_type(self, declared: str, collation: str) -> str:
        return declared if collation.upper() == "BINARY" else f"{declared} COLLATE {quote(collation)}".strip()

    def has_table(self, connection: Connection, name: str) -> bool:
        found = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
        return found.first() is not None

    def table_names(self, connection: Connection) -> list[str]:
        return list(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())

    def text_expressions(self, column: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        # as bytes, because the driver raises for the whole result when one value is not UTF-8
        return [cast(column, LargeBinary), func.typeof(column)]

    def read_text(self, values: Sequence[Any]) -> str:
        data, kind = values
        if data is None:
            return ""
        if kind == "blob":
            raise Unindexable("a BLOB, not a text")
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError as error:
            raise Unindexable("not valid UTF-8") from error

    def key_forms(self, connection: Connection, value: Any, declared: str) -> Sequence[Any]:
        return sqlite_forms(value, declared)

    # ── triggers and queue ──
    def create_triggers(
        self, tables: IndexTables, connection: Connection | None, *, patient: bool = False
    ) -> list[str]:
        names = tables.key_names
        trigger = trigger_names(tables.record.name)
        parts = {
            "mark": MARK,
            "insert_trigger": quote(trigger[0]),
            "update_trigger": quote(trigger[1]),
            "delete_trigger": quote(trigger[2]),
            "source": quote(tables.record.options.table),
            "queue": quote(tables.queue.name),
            "key": ", ".join(quote(name) for name in names),
            "new_key": ", ".join(f"NEW.{quote(name)}" for name in names),
            "old_key": ", ".join(f"OLD.{quote(name)}" for name in names),
            "of_watched": self._of_watched(tables, connection),
        }
        statements = sql("sqlite", "triggers").split("END;")[:-1]  # before the names, which may contain END; too
        created = [statement.strip().format(**parts) + "\nEND" for statement in statements]
        return [*self.drop_triggers(tables.record.name), *created]

    def _of_watched(self, tables: IndexTables, connection: Connection | None) -> str:
        """Which columns an UPDATE must name; every UPDATE counts where one is generated, or where nobody can look.

        In a column list a name may vanish with its column. In a WHEN clause it makes the application's own
        ALTER TABLE … DROP COLUMN fail.
        """
        watched = dict.fromkeys((*tables.key_names, *tables.record.options.columns))
        if connection is None:
            return ""
        asked = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)"
        generated = connection.exec_driver_sql(asked, (tables.record.options.table,)).scalars().all()
        return "" if watched.keys() & {*generated} else " OF " + ", ".join(map(quote, watched))

    def written_triggers(self, tables: IndexTables, home: str) -> list[str]:
        return self.create_triggers(tables, None)

    def require_key(self, tables: IndexTables) -> list[str]:
        return []  # a column takes values of any type

    def drop_triggers(self, name: str) -> list[str]:
        return [f"DROP TRIGGER IF EXISTS {quote(trigger)}" for trigger in trigger_names(name)]

    def drop_everything(self, name: str, own: Sequence[str], written: Sequence[str]) -> list[str]:
        return [*self.drop_triggers(name), *own, *written]  # in this order also when it is killed in between

    def missing_triggers(self, connection: Connection, tables: IndexTables) -> list[str]:
        there = self._triggers(connection, tables)
        return [name for name in trigger_names(tables.record.name) if name not in there]

    def outdated_triggers(self, connection: Connection, tables: IndexTables) -> bool:
        return outdated(self._triggers(connection, tables).values())

    def _triggers(self, connection: Connection, tables: IndexTables) -> dict[str, str]:
        """Name → definition of the index's triggers on the table."""
        found = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?)",
            (tables.record.options.table,),
        )
        own = trigger_names(tables.record.name)
        return {name: definition for name, definition in found if name in own}

    def claim(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        queue, rowid, key = self._queue_names(tables)
        rows = self._first_changes(connection, tables, limit)
        if rows:  # the write lock is held, so no row below the last one read can appear in between
            connection.exec_driver_sql(
                f"DELETE FROM {queue} WHERE {rowid} <= ? AND ({key}) IS NOT {self._no_key(tables)}", (rows[-1][0],)
            )
        return [tuple(row[1:]) for row in rows]

    def pending(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        return [tuple(row[1:]) for row in self._first_changes(connection, tables, limit)]

    def _first_changes(self, connection: Connection, tables: IndexTables, limit: int) -> Sequence[Row[Any]]:
        queue, rowid, key = self._queue_names(tables)
        return connection.exec_driver_sql(
            f"SELECT {rowid}, {key} FROM {queue} WHERE ({key}) IS NOT {self._no_key(tables)} ORDER BY 1 LIMIT ?",
            (limit,),
        ).all()

    def markers(self, connection: Connection, tables: IndexTables) -> list[Any]:
        queue, rowid, key = self._queue_names(tables)
        return list(
            connection.exec_driver_sql(f"SELECT {rowid} FROM {queue} WHERE ({key}) IS {self._no_key(tables)}").scalars()
        )

    def remove_markers(self, connection: Connection, tables: IndexTables, markers: Sequence[Any]) -> None:
        queue, rowid, key = self._queue_names(tables)
        for marker in markers:
            connection.exec_driver_sql(
                f"DELETE FROM {queue} WHERE {rowid} = ? AND ({key}) IS {self._no_key(tables)}", (marker,)
            )

    def _queue_names(self, tables: IndexTables) -> tuple[str, str, str]:
        taken = {name.lower() for name in tables.key_names}
        rowid = next(name for name in ("_rowid_", "oid", "rowid") if name not in taken)
        return quote(tables.queue.name), rowid, ", ".join(quote(name) for name in tables.key_names)

    def _no_key(self, tables: IndexTables) -> str:
        return "(" + ", ".join(["NULL"] * len(tables.key_names)) + ")"

    def wait(self, engine: Engine, tables: IndexTables, seconds: float) -> None:
        """Until another connection has committed: a number in the file's header tells, which costs next to nothing."""
        deadline = time.monotonic() + seconds
        with engine.connect() as connection:
            seen = self._version(connection)
            queue = quote(tables.queue.name)
            pending = connection.exec_driver_sql(f"SELECT 1 FROM {queue} LIMIT 1").first()
            while pending is None and self._version(connection) == seen and (left := deadline - time.monotonic()) > 0:
                pause(min(POLL_SECONDS, left))

    def _version(self, connection: Connection) -> Any:
        connection.rollback()  # inside a transaction the number stays what it was
        found = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
        connection.rollback()
        return found

    # ── transactions ──
    def open(self, engine: Engine) -> Connection:
        return engine.connect()

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

    def references(self, connection: Connection, table: str, schema: str | None) -> list[Reference]:
        return references(connection, table)

    def all_rows_visible(self, connection: Connection) -> AbstractContextManager[None]:
        return nullcontext()

    def snapshot(self, connection: Connection) -> None:
        if not in_transaction(connection):
            connection.exec_driver_sql("BEGIN")

    def alone(self, connection: Connection) -> None:
        """The write transaction already sees to that."""

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

    def limit_lock_wait(self, connection: Connection, wait: str) -> None:
        """Readers do not wait for a table to be dropped."""

    def share(self, connection: Connection, name: str) -> None:
        """BEGIN IMMEDIATE already keeps every other writer away."""

    def change(self, connection: Connection, name: str) -> None:
        """BEGIN IMMEDIATE already keeps every other writer away."""

    def lock_keys(self, connection: Connection, tables: IndexTables, keys: Iterable[Key]) -> None:
        """BEGIN IMMEDIATE already keeps every other writer away."""

    def lock_all(self, connection: Connection, tables: IndexTables) -> None:
        """BEGIN IMMEDIATE already keeps every other writer away."""

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

    # ── signatures ──
    def insert(self, connection: Connection, tables: IndexTables, keys: Sequence[Key], rows: Signatures) -> None:
        if not keys:
            return
        values = [(*key, *row) for key, row in zip(keys, self.stored_values(rows), strict=True)]
        statement = f"INSERT INTO {quote(tables.signatures.name)} VALUES ({', '.join('?' * len(values[0]))})"
        connection.exec_driver_sql(statement, values)

    def insert_rows(self, connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        if values := list(rows):
            places = ", ".join("?" * len(table.columns))
            connection.exec_driver_sql(f"INSERT INTO {quote(table.name)} VALUES ({places})", values)

    def signature_blocks(self, engine: Engine, tables: IndexTables) -> Iterator[Signatures]:
        # page by page: a long read would keep the application from committing, unless the file is in WAL mode
        return signature_pages(engine, self, tables)

    def finish_filling(self, connection: Connection, tables: IndexTables) -> None:
        connection.exec_driver_sql(f"ANALYZE {quote(tables.signatures.name)}")

    def stored_bits(self, bits: bytes) -> Any:
        return bits

    def read_bits(self, value: Any) -> bytes:
        return bytes(value)

    # ── scores ──
    def connect(self, engine: Engine) -> Connection:
        # not AUTOCOMMIT: to switch back SQLAlchemy sends a PRAGMA that expires all prepared statements, 0.3 ms a search
        return engine.connect()

    def prepare(self, connection: Connection) -> None:
        info = connection.connection.info
        if _PREPARED not in info:
            register(connection.connection.dbapi_connection)
            info[_PREPARED] = True

    def jaccard(
        self,
        bits: ColumnElement[Any],
        count: ColumnElement[Any],
        other_bits: ColumnElement[Any],
        other_count: ColumnElement[Any],
        size: int,
    ) -> ColumnElement[float]:
        return func.dbsim_jaccard(bits, count, other_bits, other_count, literal_column(str(size)))

    def level(
        self,
        bits: ColumnElement[Any],
        count: ColumnElement[Any],
        other_bits: ColumnElement[Any],
        other_count: ColumnElement[Any],
        size: int,
    ) -> ColumnElement[int]:
        return func.dbsim_level(bits, count, other_bits, other_count, literal_column(str(size)), type_=Integer)

    def probability(self, evidence: ColumnElement[int]) -> ColumnElement[float]:
        return func.dbsim_probability(evidence, type_=Double)

    def hamming(self, key: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[int]:
        return func.dbsim_hamming(key, other, type_=Integer)

    def reads_secrets(self, connection: Connection) -> bool:
        return True

    def grant(self, connection: Connection, tables: IndexTables, role: str) -> list[str]:
        raise InvalidOption(NO_ROLES)

    def sign_in_sql(
        self, connection: Connection, tables: IndexTables, columns: Sequence[Sequence[str]]
    ) -> list[tuple[Any, ...]]:
        raise InvalidOption("SQLite cannot sign texts")

    def can_read(self, connection: Connection, table: str) -> bool:
        return True

    def json_rows(
        self, parameter: str, integers: Sequence[str], texts: Sequence[str], reals: Sequence[str] = ()
    ) -> FromClause:
        rows = func.json_each(bindparam(parameter, type_=Text)).table_valued("value", name="json")
        values = [func.json_extract(rows.c.value, f"$.{name}").label(name) for name in (*integers, *texts, *reals)]
        return select(*values).cte(parameter)


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

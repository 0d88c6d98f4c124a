"""Transactions, locks and errors on PostgreSQL."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
)

from dbsim.engines.backend import GONE, Backend
from dbsim.engines.execute import ask
from dbsim.engines.postgresql.surface import install
from dbsim.engines.postgresql.surface.citus import explain_unsupported
from dbsim.engines.postgresql.surface.roles import explain_denied
from dbsim.engines.postgresql.wire import drivers
from dbsim.engines.postgresql.wire.plain import STRIPES, door_salt, home, send, space
from dbsim.errors import DatabaseUnavailable, DbsimError, InvalidOption, StatementRejected
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import literal
from dbsim.tables.source import Key

READ_ONLY = (
    "the database is read-only (a replica, or default_transaction_read_only is on): connect to the primary, "
    "or with a role that may write"
)
DEPLOY_LOCK = "hashtext('dbsim deploy')"
# Of dbsim's own transactions. A worker that row-level security hides rows from would take them for deleted: it is to
# fail instead. Limits that a role or database has for an application's statements would stop the building of a B-tree,
# or a batch between two statements, again at every attempt; transaction_timeout is there since PostgreSQL 17. A worker
# that was stopped with its transaction open still ends after a minute, if idle transactions are limited at all. NULL in
# an array is no string, and what plpgsql should warn the application's developers of is no error of dbsim's functions.
# Where pg_temp comes first, tables would be made as temporary ones.
OWN_SETTINGS = r"""SELECT
    set_config('row_security', 'off', true),
    set_config('array_nulls', 'on', true),
    set_config('plpgsql.extra_errors', 'none', true),
    set_config('statement_timeout', '0', true),
    CASE WHEN current_setting('search_path') ~ '^\s*"?pg_temp"?\s*,'
        THEN set_config('search_path', regexp_replace(current_setting('search_path'), '^[^,]*,', ''), true) END,
    CASE WHEN current_setting('idle_in_transaction_session_timeout')::interval BETWEEN '1us' AND '60s'
        THEN set_config('idle_in_transaction_session_timeout', '60s', true) END,
    CASE WHEN current_setting('transaction_timeout', true) <> '0'
        THEN set_config('transaction_timeout', '0', true) END,
    current_setting('transaction_read_only')"""


class PostgreSQLTransactions(Backend):
    """See `Transactions` for what each step means."""

    def open(self, engine: Engine) -> Connection:
        # an application's engine may be set to AUTOCOMMIT, in which no transaction would be one
        return engine.connect().execution_options(isolation_level="READ COMMITTED")

    def begin(self, connection: Connection) -> None:
        # set before the transaction's first statement: after a lock is granted the next read must see the newest rows
        send(connection, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        send(connection, "SET LOCAL standard_conforming_strings = on")  # a backslash in a name is a backslash
        if connection.exec_driver_sql(OWN_SETTINGS).one()[-1] == "on":  # a replica, or the role's default
            raise DatabaseUnavailable(READ_ONLY)

    @contextmanager
    def all_rows_visible(self, connection: Connection) -> Iterator[None]:
        before = connection.exec_driver_sql("SELECT current_setting('row_security')").scalar_one()
        send(connection, "SET LOCAL row_security = off")
        yield
        send(connection, f"SET LOCAL row_security = {literal(before)}")

    def snapshot(self, connection: Connection) -> None:
        send(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def alone(self, connection: Connection) -> None:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('dbsim migration'))")

    @contextmanager
    def exclusively(self, connection: Connection, patience: float) -> Iterator[None]:
        raw = drivers.own_psycopg(connection)
        behind_pooler = raw is not None and drivers.pooled(raw)
        connection.rollback()
        if behind_pooler:  # a lock of the session would stay with the server's process, for whoever gets it next
            with connection.engine.connect() as other, other.begin():
                other.exec_driver_sql(f"SELECT pg_advisory_xact_lock({DEPLOY_LOCK})")
                yield
            return
        connection.exec_driver_sql(f"SELECT pg_advisory_lock({DEPLOY_LOCK})")
        connection.commit()  # or Alembic takes the transaction for somebody else's and does not commit; the lock stays
        try:
            yield
        finally:
            connection.rollback()
            connection.exec_driver_sql(f"SELECT pg_advisory_unlock({DEPLOY_LOCK})")
            connection.commit()

    def limit_lock_wait(self, connection: Connection, wait: str) -> None:
        send(connection, f"SET LOCAL lock_timeout = {literal(wait)}")

    def share(self, connection: Connection, name: str) -> None:
        self._hold(connection, name, "pg_advisory_xact_lock_shared")

    def change(self, connection: Connection, name: str) -> None:
        self._hold(connection, name, "pg_advisory_xact_lock")

    def _hold(self, connection: Connection, name: str, function: str) -> None:
        """The lock after the last stripe."""
        ask(connection, f"SELECT {function}(CAST(:space AS int), {STRIPES})", space=self._space(connection, name))

    def lock_keys(self, connection: Connection, tables: IndexTables, keys: Iterable[Key]) -> None:
        install.close_gate(connection, tables.record.name)
        types = [type_ for _, type_ in tables.record.primary_key]
        self._lock_stripes(connection, tables, sorted({stripe(key, types) for key in keys}))

    def lock_all(self, connection: Connection, tables: IndexTables) -> None:
        install.close_gate(connection, tables.record.name)
        self._lock_stripes(connection, tables, list(range(STRIPES)))

    def _lock_stripes(self, connection: Connection, tables: IndexTables, stripes: list[int]) -> None:
        ask(
            connection,
            "SELECT pg_advisory_xact_lock(CAST(:space AS int), stripe) FROM unnest(CAST(:stripes AS int[])) AS stripe",
            space=self._space(connection, tables.record.name),
            stripes=stripes,
        )

    def lock_buckets(self, connection: Connection, tables: IndexTables, keys: Sequence[int]) -> None:
        """A snapshot older than the lock would not show what the other transaction has inserted."""
        if ask(connection, "SELECT current_setting('transaction_isolation')").scalar_one() == "repeatable read":
            raise InvalidOption(
                "at isolation level REPEATABLE READ a twin inserted meanwhile stays unseen: use READ COMMITTED or "
                "SERIALIZABLE for the transaction that adds rows"
            )
        salt = door_salt(home(connection), tables.record.name, tables.record.generation)
        # the locks of other indexes have other numbers; in ascending order, so that nobody waits in a circle
        numbers = sorted({key ^ salt for key in keys})
        ask(
            connection,
            "SELECT pg_advisory_xact_lock(number) FROM unnest(CAST(:numbers AS bigint[])) AS number",
            numbers=numbers,
        )

    def _space(self, connection: Connection, name: str) -> int:
        """Of the advisory locks of an index."""
        return space(home(connection), name)

    def transient(self, error: BaseException) -> bool:
        state = drivers.state(error)
        # serialization failure, deadlock, lock timeout, shutdown and restart, lost connection, and the server's limits
        # for idle transactions (25P03), whole transactions (25P04) and idle sessions (57P05)
        codes = ("40001", "40P01", "55P03", "57P01", "57P02", "57P03", "25P03", "25P04", "57P05")
        return state in codes or (state or "").startswith("08")

    def explain(self, error: BaseException) -> DbsimError | None:
        state, detail = drivers.state(error) or "", drivers.detail(error)
        if state == "55P03":
            return DatabaseUnavailable("a table is locked by long transactions: try again when they have finished")
        if state == "25006" or (state in ("0A000", "55000") and "recovery" in detail):  # locks, LISTEN and others there
            return DatabaseUnavailable(READ_ONLY)
        if state == "42501":
            return explain_denied(detail)
        if state in ("53100", "53200", "53300"):
            return DatabaseUnavailable(f"the server is out of resources ({detail}): nothing was lost, try again later")
        if state in ("28P01", "28000", "3D000") or (state == drivers.CONNECTION_FAILED and "FATAL:" in detail):
            return DatabaseUnavailable(f"the server refuses the connection ({detail}): check the URL")
        if state.startswith(("08", "57P")):
            return DatabaseUnavailable(f"the server cannot be reached ({detail}): check that it runs and try again")
        return _explain_statement(state, detail)


def stripe(key: Key, types: Sequence[str]) -> int:
    """Which lock a document shares with others; keys that are equal in SQL, however they are written, share one."""
    parts = [_one_form(value, type_) for value, type_ in zip(key, types, strict=True)]
    return zlib.crc32(repr(parts).encode("utf-8", "surrogatepass")) % STRIPES


def _one_form(value: Any, type_: str) -> Any:
    """numeric has 1.0 and 1.00; a collation of its own, citext and others may call different texts equal."""
    if isinstance(value, Decimal):
        return value.normalize()
    if isinstance(value, str):
        exact = type_.startswith(("text", "character varying", "uuid")) and " COLLATE " not in type_
        return value if exact else ""
    return value


def _explain_statement(state: str, detail: str) -> DbsimError | None:
    if state in ("42P01", "42703"):
        return StatementRejected(GONE.format(detail))
    if state in ("42883", "42804", "42846") or state.startswith("22"):
        return InvalidOption(f"a value does not fit its column ({detail})")
    if state == "42601":
        return StatementRejected(f"the condition is not SQL that the database understands ({detail})")
    return explain_unsupported(state, detail)

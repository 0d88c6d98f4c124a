"""What the drivers of PostgreSQL do differently: psycopg can COPY and LISTEN, asyncpg has types and errors of its own.

Connection → psycopg's own connection or None; an error of any driver → its SQLSTATE.
"""

from __future__ import annotations

import logging
import selectors
from weakref import WeakSet

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from dbsim.refusals import without_values

CONNECTION_FAILED = "08006"  # drivers give no code for a connection that broke or was refused
POLL_SECONDS = 1.0  # where nothing can wake a sleeping worker: another driver than psycopg, or a pooler
log = logging.getLogger("dbsim")
_told: WeakSet[Engine] = WeakSet()
_KNOWN = "dbsim_pooler"
NOT_SENDABLE = "22000"  # nor for a value that they cannot send: a NUL character, an unknown type
# asyncpg reports a server that cannot be reached with the system's own errors
ERRORS: tuple[type[Exception], ...] = (DBAPIError, psycopg.Error, ConnectionError)


def own_psycopg(connection: Connection) -> psycopg.Connection | None:
    """The driver's connection when it is psycopg's synchronous one: only that is used past SQLAlchemy."""
    raw = connection.connection.dbapi_connection
    return raw if isinstance(raw, psycopg.Connection) else None


def pooled(raw: psycopg.Connection) -> bool:
    """Whether a pooler such as PgBouncer stands between: the process that answers is not the one that was promised."""
    with raw.cursor() as cursor:
        row = cursor.execute("SELECT pg_catalog.pg_backend_pid()", prepare=False).fetchone()
    return row is not None and row[0] != raw.info.backend_pid


def await_notification(raw: psycopg.Connection, seconds: float) -> None:
    """Asleep in the system: psycopg's own way of waiting looks ten times a second whether somebody pressed Ctrl-C."""
    if any(raw.notifies(timeout=0, stop_after=1)):  # it came with the answer to the last statement
        return
    with selectors.DefaultSelector() as selector:
        selector.register(raw.fileno(), selectors.EVENT_READ)
        selector.select(seconds)
    for _ in raw.notifies(timeout=0, stop_after=1):
        break


def say_polling(engine: Engine, why: str) -> None:
    """Once an engine."""
    if engine not in _told:
        _told.add(engine)
        reason = "behind a pooler" if why == "a pooler" else f"with the driver {engine.dialect.driver}"
        log.warning("%s nothing can wake a follower, so it polls every %g s", reason, POLL_SECONDS)


def unprepared_when_pooled(connection: Connection) -> None:
    """In transaction mode the next statement meets another server process, which knows no prepared statement.

    Asked once a connection; psycopg prepares what it has seen five times.
    """
    raw, info = own_psycopg(connection), connection.connection.info
    if raw is None or raw.prepare_threshold is None or _KNOWN in info:
        return
    idle = raw.info.transaction_status == TransactionStatus.IDLE
    if pooled(raw):
        raw.prepare_threshold = None
    if idle and not raw.autocommit:
        raw.rollback()
    info[_KNOWN] = True


def state(error: BaseException) -> str | None:
    """The SQLSTATE, also where the driver has none."""
    if isinstance(error, ConnectionError):
        return CONNECTION_FAILED
    original = error.orig if isinstance(error, DBAPIError) else error
    found = getattr(original, "sqlstate", None) or getattr(original, "pgcode", None)
    if found is None and isinstance(error, DBAPIError) and error.connection_invalidated:
        return CONNECTION_FAILED
    if found is None and isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError):
        return CONNECTION_FAILED
    if found is None and isinstance(error, DBAPIError | psycopg.DataError | psycopg.ProgrammingError):
        return NOT_SENDABLE
    return found if isinstance(found, str) else None


def detail(error: BaseException) -> str:
    """The first line of what the server said, without values of rows; asyncpg's adapter puts the class in front."""
    original = error.orig if isinstance(error, DBAPIError) else error
    line = (str(original).strip().split("\n") or [""])[0]
    line = line.split(">: ", 1)[-1] if line.startswith("<class ") else line
    return without_values(state(error) or "", line)

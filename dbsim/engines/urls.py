"""What a user calls a database: a path or a URL → Engine; the same URL for an asynchronous driver and back."""

from __future__ import annotations

import difflib
import os
import re
import weakref
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from dbsim.errors import DbsimError, UnknownFile

UNREADABLE = "the database URL cannot be read: write postgresql://user@host/name or sqlite:///path"
NO_PATH = re.compile(r"\bpassword\s*=|^postgres(ql)?[:/].*@", re.IGNORECASE)  # and perhaps a password is in it
DATABASE_FILES = re.compile(r"\.(db|db3|sqlite|sqlite3|s3db|sl3)$", re.IGNORECASE)  # worth a suggestion
_MADE: weakref.WeakKeyDictionary[Engine, str] = weakref.WeakKeyDictionary()  # and what they were made from
_NEWEST: weakref.WeakKeyDictionary[Engine, dict[str, int]] = weakref.WeakKeyDictionary()  # generation of each index
_INHERITED: list[Any] = []  # pools of the parent process: collected here, their connections would end for it as well
BUSY_SECONDS = 30  # how long SQLite waits for another writer before dbsim's own retries begin
# compiled statements that an engine remembers: every run of `sync` brings its own, about 80 kB each; and errors that a
# program prints or logs with all that they came from have no values of rows in them
OWN: dict[str, Any] = {"query_cache_size": 200, "hide_parameters": True}
# of drivers that dbsim does not use itself: what psycopg calls them, None for what it has no need of
TRANSLATED = {
    "ssl": "sslmode",
    "prepared_statement_cache_size": None,
    "prepared_statement_name_func": None,
    "statement_cache_size": None,
    "async_fallback": None,
    "timeout": "connect_timeout",
}
NUMBERS = ("prepare_threshold",)  # options of psycopg that are no texts


def engine_for(target: str, *, create: bool) -> Engine:
    """A missing SQLite file is only made with `create`."""
    made = _engine_for(_url(target), create)
    _MADE[made] = target
    return made


def origin(engine: Engine) -> str | None:
    """What it was made from here; None for an engine of the application's, whose URL may not say everything."""
    return _MADE.get(engine)


def _begin_anew() -> None:
    """In a forked child, which must not talk over its parent's connections (gunicorn --preload, multiprocessing)."""
    for engine in list(_MADE):
        if not in_memory(engine.url):  # of which the child has a copy of its own
            _INHERITED.append(engine.pool)
            engine.dispose(close=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def _engine_for(url: URL, create: bool) -> Engine:
    if url.get_backend_name() != "sqlite":
        arguments = {name: _number(name, url.query[name]) for name in NUMBERS if name in url.query}
        plain = url.difference_update_query(NUMBERS)
        made = create_engine(plain, connect_args=arguments, pool_reset_on_return=None, **OWN)
        event.listen(made, "connect", _as_text, insert=True)  # before SQLAlchemy asks for the server's version
        event.listen(made, "reset", partial(_reset, made.dialect.loaded_dbapi.Error))
        return made
    path = Path(url.database or ":memory:")
    if not create and not in_memory(url) and "uri" not in url.query and not path.exists():
        near = [other for other in path.parent.glob("*") if other.is_file() and DATABASE_FILES.search(other.name)]
        raise UnknownFile("database file", path, near)
    return create_engine(url, connect_args={"timeout": BUSY_SECONDS}, **OWN)


def _as_text(connection: Any, _: object) -> None:
    """A database in SQL_ASCII answers in bytes, also what SQLAlchemy asks it; nothing else is told what to speak."""
    if connection.info.parameter_status("client_encoding") == "SQL_ASCII":
        connection.execute("SET client_encoding TO 'UTF8'")
        connection.commit()


def _reset(lost: type[Exception], connection: Any, record: Any, _: object) -> None:
    """What a pool does with a connection that comes back; the pool would log one that a server's timeout has ended.

    At length, and with the statement and its values.
    """
    try:
        connection.rollback()
    except lost:
        record.invalidate()


def seen(engine: Engine, index: str, generation: int) -> None:
    """A process works with this generation. The statements of earlier ones are about 80 kB each, and never asked again.

    An engine of the application's keeps its own statements: its cache is as large as the application made it.
    """
    newest = _NEWEST.setdefault(engine, {})
    if generation > newest.get(index, generation) and origin(engine) is not None:
        engine.clear_compiled_cache()
    newest[index] = max(generation, newest.get(index, 0))


def shown(engine: Engine) -> str:
    """As a user would write it, without the password and without the name of a driver."""
    url = engine.url.set(drivername=engine.url.get_backend_name())
    return url.database or "" if url.drivername == "sqlite" else url.render_as_string(hide_password=True)


def in_memory(url: URL) -> bool:
    """A database that only its own connection sees."""
    return url.get_backend_name() == "sqlite" and (url.database or ":memory:") == ":memory:"


def synchronous_url(url: URL) -> str:
    """For a thread, as dbsim itself would open it."""
    return _own_driver(url).render_as_string(hide_password=False)


def asynchronous_url(target: str) -> URL:
    """With an asynchronous driver where none is named."""
    if "://" in target and "+" in target.split("://")[0]:
        return make_url(target)
    url = _url(target)
    sqlite = url.get_backend_name() == "sqlite"
    return url.set(drivername="sqlite+aiosqlite" if sqlite else "postgresql+psycopg")


def _url(target: str) -> URL:
    if not target:
        raise DbsimError("name a database: a SQLite path, or a URL such as postgresql://user@host/name")
    if "://" not in target:
        if NO_PATH.search(target) and not Path(target).exists():
            raise DbsimError(UNREADABLE)
        return URL.create("sqlite", database=target)
    scheme = target.split("://")[0]
    if scheme.split("+")[0] not in ("sqlite", "postgresql", "postgres"):
        close = difflib.get_close_matches(scheme, ("sqlite", "postgresql"), n=1, cutoff=0.75)  # mysql is not a typo
        hint = f"did you mean {close[0]!r}?" if close else "write postgresql://user@host/name, or a SQLite file's path"
        raise DbsimError(f"dbsim works on SQLite and PostgreSQL, not on {scheme!r}: {hint}")
    try:
        url = make_url(target)
    except (ArgumentError, ValueError):
        raise DbsimError(UNREADABLE) from None  # whose text may have the password
    return _own_driver(url)


def _own_driver(url: URL) -> URL:
    """An application's URL may name its own driver, with options of that driver: dbsim has psycopg and pysqlite."""
    if url.get_backend_name() == "sqlite":
        if "cipher" in url.drivername:
            raise DbsimError(f"dbsim cannot open {url.drivername}: give it an engine of your own, dbsim.open(engine)")
        return url.set(drivername="sqlite")
    query: dict[str, Any] = {}
    for name, value in url.query.items():
        known = TRANSLATED.get(name, name) if url.drivername.endswith("+asyncpg") else name
        if known is not None:
            query[known] = value
    return url.set(drivername="postgresql+psycopg", query=query)


def _number(name: str, value: Any) -> int | None:
    if value in ("none", "None", ""):
        return None
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise DbsimError(f"{name} in the database URL must be a whole number or none, not {value!r}") from error

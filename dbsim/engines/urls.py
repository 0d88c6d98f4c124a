"""What a user calls a database: a path or a URL → Engine."""

from __future__ import annotations

import weakref
from pathlib import Path

from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from dbsim.errors import DbsimError, UnknownName, suggest

SCHEMES = ("sqlite", "postgresql", "postgres", "postgresql+psycopg")
_OWN: weakref.WeakSet[Engine] = weakref.WeakSet()
BUSY_SECONDS = 30  # how long SQLite waits for another writer before dbsim's own retries begin


def engine_for(target: str, *, create: bool) -> Engine:
    """A missing SQLite file is only made with `create`."""
    made = _engine_for(_url(target), create)
    _OWN.add(made)
    return made


def own(engine: Engine) -> bool:
    """Whether its URL says everything about it, because it was made here."""
    return engine in _OWN


def _engine_for(url: URL, create: bool) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=False)
    path = Path(url.database or ":memory:")
    if not create and str(path) != ":memory:" and "uri" not in url.query and not path.exists():
        near = [str(other) for other in path.parent.glob("*") if other.is_file()]
        raise UnknownName("database file", str(path), near)
    return create_engine(url, connect_args={"timeout": BUSY_SECONDS})


def shown(engine: Engine) -> str:
    """As a user would write it, without the password."""
    url = engine.url
    return url.database or "" if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)


def _url(target: str) -> URL:
    if not target:
        raise DbsimError("name a database: a SQLite path, or a URL such as postgresql://user@host/name")
    if "://" not in target:
        return URL.create("sqlite", database=target)
    scheme = target.split("://")[0]
    if scheme not in SCHEMES:
        hint = suggest(scheme, ("sqlite", "postgresql"))
        raise DbsimError(f"{scheme!r} is not a database that dbsim knows{hint}")
    try:
        url = make_url(target)
    except (ArgumentError, ValueError) as error:
        raise DbsimError(
            "the database URL cannot be read: write postgresql://user@host/name or sqlite:///path"
        ) from error
    return url.set(drivername="postgresql+psycopg") if url.get_backend_name().startswith("postgres") else url

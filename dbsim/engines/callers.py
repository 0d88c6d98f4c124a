"""What a caller hands over as its connection: Connection, Session or None → Connection or None."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import UnboundExecutionError

from dbsim.engines.pause import in_event_loop
from dbsim.errors import InvalidOption

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
    from sqlalchemy.orm import Session, scoped_session

Asynchronous: TypeAlias = "AsyncConnection | AsyncSession | async_scoped_session[Any]"  # through dbsim.aio
OWN = "dbsim_own"  # an execution option of connections that dbsim opened for a search
Caller: TypeAlias = "Connection | Session | scoped_session[Any] | Asynchronous | None"


def connection_of(caller: Caller) -> Connection | None:
    """The connection whose transaction is to be joined; a Session gives the one it works on."""
    found = _connection_of(caller)
    if found is not None:
        require_plain_names(found)
    return found


def is_own(connection: Connection) -> bool:
    """Whether dbsim opened it, so that its rights are always the same; False also where rights do not matter."""
    return OWN in connection.get_execution_options()


def require_plain_names(database: Connection | Engine) -> None:
    """Of tables: dbsim writes part of its statements as text, which SQLAlchemy does not translate."""
    names = database.get_execution_options().get("schema_translate_map") or {}
    if any(old != new for old, new in names.items()):
        raise InvalidOption(
            "schema_translate_map is set, which dbsim's statements do not follow: give a connection or an engine "
            "without it, for each schema one whose search_path begins with that schema"
        )


def _connection_of(caller: Caller) -> Connection | None:
    if caller is None or isinstance(caller, Connection):
        return caller
    caller = _synchronous(caller)
    if isinstance(caller, Connection):
        return caller
    orm = sys.modules.get("sqlalchemy.orm")  # whoever has a Session has loaded it
    if orm is not None and isinstance(caller, orm.Session | orm.scoped_session):
        try:
            found: Connection = caller.connection()
            return found
        except UnboundExecutionError as error:
            raise InvalidOption(
                "connection= got a Session that is bound to no engine of its own: give session.connection(…)"
            ) from error
    what = "an Engine: give engine.connect()" if isinstance(caller, Engine) else f"{type(caller).__name__}"
    raise InvalidOption(f"connection= takes a SQLAlchemy Connection or Session, not {what}")


def _synchronous(caller: Any) -> Any:
    """What lies under an AsyncConnection or AsyncSession, where it can be waited for."""
    loaded = sys.modules.get("sqlalchemy.ext.asyncio")
    if loaded is None or not isinstance(
        caller, loaded.AsyncConnection | loaded.AsyncSession | loaded.async_scoped_session
    ):
        return caller
    if not in_event_loop():
        raise InvalidOption("connection= is asynchronous: use dbsim.aio, or call this through its run_sync")
    return caller.sync_connection if isinstance(caller, loaded.AsyncConnection) else caller.sync_session

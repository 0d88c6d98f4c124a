"""Execute statements that were written as text: (Connection, statements) → nothing, or rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, CursorResult, Engine, Table, text
from sqlalchemy.exc import DBAPIError

TableHook = Callable[[Table], Iterable[str]]  # statements after CREATE TABLE, e.g. Citus' create_distributed_table
LISTENERS = attrgetter(
    "before_cursor_execute",
    "after_cursor_execute",
    "begin",
    "rollback",
    "commit",
    "set_connection_execution_options",
)
Sink = Callable[[str], None]  # executes a statement, or prints it


def sink(connection: Connection) -> Sink:
    """Execute as written: a percent sign or a colon in a name is no placeholder."""

    def run(statement: str) -> None:
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})

    return run


def run(connection: Connection, statements: Iterable[str]) -> None:
    execute = sink(connection)
    for statement in statements:
        execute(statement)


def unobserved(engine: Engine, own: Callable[[Connection], None]) -> bool:
    """Whether nobody listens to its statements: then a connection of its pool may be used without SQLAlchemy around it.

    Listeners (tracing, an application's own) and the log hear of what SQLAlchemy's Connection does. `own` is dbsim's
    listener. A SQLAlchemy that says it otherwise one day counts as observed.
    """
    try:
        heard = any(map(bool, LISTENERS(engine.dispatch))) or engine.dialect._has_events
        others = [one for one in engine.dispatch.engine_connect if one != own]
    except AttributeError:
        return False
    return not heard and not others and not engine.logger.isEnabledFor(logging.INFO)


def as_told(engine: Engine, raw: Any, statement: str, arguments: Any, error: Any) -> Exception | None:
    """A driver's error as SQLAlchemy's Connection raises it; None when the connection is lost: another replaces it."""
    dialect = engine.dialect
    driver: Any = dialect.loaded_dbapi
    if dialect.is_disconnect(error, raw, None):
        return None
    hidden = engine.hide_parameters
    told: Exception = DBAPIError.instance(statement, arguments, error, driver.Error, hidden, dialect=dialect)
    return told


def ask(connection: Connection, statement: str, **values: Any) -> CursorResult[Any]:
    """A statement with :names for its values, which every driver writes in its own way."""
    return connection.execute(text(statement), values)

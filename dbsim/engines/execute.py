"""Execute statements that were written as text: (Connection, statements) → nothing, or rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import Connection, CursorResult, Table, text

TableHook = Callable[[Table], Iterable[str]]  # statements after CREATE TABLE, e.g. Citus' create_distributed_table
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


def ask(connection: Connection, statement: str, **values: Any) -> CursorResult[Any]:
    """A statement with :names for its values, which every driver writes in its own way."""
    return connection.execute(text(statement), values)

"""Execute statements that were written as text: (Connection, statements) → nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlalchemy import Connection, Table

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

"""Statements as the server gets them, past every parameter style."""

from __future__ import annotations

from sqlalchemy import Connection

from dbsim.engines.backend import RAW


def send(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement, execution_options=RAW)


def home(connection: Connection) -> str:
    """The schema of dbsim's own tables."""
    return str(
        connection.exec_driver_sql(
            "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.oid = to_regclass('dbsim_index')"
        ).scalar_one()
    )

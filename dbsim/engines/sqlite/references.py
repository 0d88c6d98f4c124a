"""The foreign keys that point to a table of a SQLite database: Connection → list[Reference]."""

from __future__ import annotations

from sqlalchemy import Connection

from dbsim.tables.names import literal
from dbsim.tables.source import Reference

RAW = {"no_parameters": True}


def references(connection: Connection, table: str, source: str) -> list[Reference]:
    """A key without columns to point to means the primary key."""
    statement = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    found = []
    for name in connection.exec_driver_sql(statement).scalars().all():
        parts: dict[int, list[tuple[int, str, str | None, str]]] = {}
        listed = f'SELECT id, seq, "table", "from", "to", on_delete FROM pragma_foreign_key_list({literal(name)})'
        for number, place, to, column, referred, action in connection.exec_driver_sql(listed, execution_options=RAW):
            if to.lower() == table.lower():
                parts.setdefault(number, []).append((place, column, referred, action))
        for rows in parts.values():
            rows.sort()
            referred_names = [row[2] for row in rows]
            if None in referred_names:
                referred_names = list(_primary_key(connection, table))
            names = tuple(name for name in referred_names if name is not None)
            own = name.lower() == source.lower()
            found.append(Reference(None, name, tuple(row[1] for row in rows), names, rows[0][3], own))
    return found


def _primary_key(connection: Connection, table: str) -> list[str]:
    statement = f"SELECT name FROM pragma_table_info({literal(table)}) WHERE pk > 0 ORDER BY pk"
    return list(connection.exec_driver_sql(statement, execution_options=RAW).scalars())

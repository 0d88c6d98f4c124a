"""The application's own tables on PostgreSQL: what they are, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Text,
    cast,
    text,
)

from dbsim.engines.backend import Backend
from dbsim.engines.execute import ask
from dbsim.engines.postgresql.references import references
from dbsim.resources import sql
from dbsim.tables.key_forms import postgresql_forms
from dbsim.tables.names import quote
from dbsim.tables.source import Name, Reference, Source, Unindexable


class PostgreSQLHostTables(Backend):
    """See `HostTables` for what each step means."""

    def describe(self, connection: Connection, table: str, schema: str | None) -> Source | None:
        rows = connection.execute(text(sql("postgresql", "describe_table")), {"table": table, "schema": schema}).all()
        if not rows:
            return None
        key = sorted((row for row in rows if row.place is not None), key=lambda row: row.place)
        return Source(
            schema=rows[0].schema,
            table=table,
            columns={row.name: row.type for row in rows},
            primary_key=tuple(
                (row.name, row.type + (f" COLLATE {row.collation}" if row.collation else "")) for row in key
            ),
            is_table=rows[0].kind in ("r", "p"),
        )

    def has_table(self, connection: Connection, name: str) -> bool:
        return ask(connection, "SELECT to_regclass(:name)::oid", name=quote(name)).scalar() is not None

    def table_names(self, connection: Connection) -> list[str]:
        return list(
            connection.exec_driver_sql(
                "SELECT CASE WHEN pg_table_is_visible(oid) THEN '' ELSE relnamespace::regnamespace || '.' END "
                "|| relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace::regnamespace::text "
                "NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"
            ).scalars()
        )

    def text_expressions(self, column: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        return [cast(column, Text)]

    def read_text(self, values: Sequence[Any]) -> str:
        (value,) = values
        if value is None:
            return ""
        if isinstance(value, bytes):  # a database in SQL_ASCII: the server knows no encoding
            try:
                return value.decode()
            except UnicodeDecodeError as error:
                raise Unindexable("not valid UTF-8") from error
        return str(value)

    def read_texts(self, columns: Sequence[Sequence[Any]]) -> list[str]:
        (values,) = columns
        if set(map(type, values)) <= {str, type(None)}:
            return [value or "" for value in values]
        return super().read_texts(columns)

    def key_forms(self, connection: Connection, value: Any, declared: str) -> Sequence[Any]:
        return postgresql_forms(value, declared, connection.dialect.driver)

    def references(self, connection: Connection, table: Name, source: Name) -> list[Reference]:
        return references(connection, quote(*table), quote(*source))

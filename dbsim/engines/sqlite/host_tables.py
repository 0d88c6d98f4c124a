"""The application's own tables on SQLite: what they are, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    and_,
    cast,
    func,
    not_,
    select,
)

from dbsim.engines.backend import Backend
from dbsim.engines.sqlite.references import references
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_forms import sqlite_forms
from dbsim.tables.names import quote
from dbsim.tables.source import Name, Reference, Source, Unindexable

MOST_NAMED = 1000  # rows whose keys cannot be read


class SQLiteHostTables(Backend):
    """See `HostTables` for what each step means."""

    def describe(self, connection: Connection, table: str, schema: str | None) -> Source | None:
        if schema is not None:
            return None
        listed = connection.exec_driver_sql(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)", (table,)
        ).first()
        if listed is None:
            return None
        columns = connection.exec_driver_sql(
            "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", (listed.name,)
        ).all()
        in_key = connection.exec_driver_sql(
            "SELECT x.name, x.coll FROM pragma_index_list(?) l, pragma_index_xinfo(l.name) x "
            "WHERE l.origin = 'pk' AND x.key",
            (listed.name,),
        )
        collations = {row.name: row.coll for row in in_key}
        key = sorted((row for row in columns if row.pk), key=lambda row: row.pk)
        return Source(
            schema=None,
            table=listed.name,
            columns={row.name: row.type for row in columns},
            primary_key=tuple((row.name, self._key_type(row.type, collations.get(row.name, "BINARY"))) for row in key),
            is_table=listed.type == "table",
        )

    def _key_type(self, declared: str, collation: str) -> str:
        return declared if collation.upper() == "BINARY" else f"{declared} COLLATE {quote(collation)}".strip()

    def has_table(self, connection: Connection, name: str) -> bool:
        statement = "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?"
        found = connection.exec_driver_sql(statement, (name,))
        return found.first() is not None

    def table_names(self, connection: Connection) -> list[str]:
        return list(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())

    def text_expressions(self, column: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        # as bytes, because the driver raises for the whole result when one value is not UTF-8
        return [cast(column, LargeBinary), func.typeof(column)]

    def read_text(self, values: Sequence[Any]) -> str:
        data, kind = values
        if data is None:
            return ""
        if kind == "blob":
            raise Unindexable("a BLOB, not a text")
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError as error:
            raise Unindexable("not valid UTF-8") from error

    def read_texts(self, columns: Sequence[Sequence[Any]]) -> list[str]:
        data, kinds = columns
        if "blob" in kinds:
            return super().read_texts(columns)
        try:
            return ["" if one is None else str(one, "utf-8") for one in data]
        except UnicodeDecodeError as error:
            raise Unindexable("not valid UTF-8") from error

    def readable_key(self, columns: Sequence[ColumnElement[Any]]) -> list[ColumnElement[bool]]:
        texts = [column for column in columns if "INT" not in str(column.type.compile(self.dialect)).upper()]
        return [(func.typeof(one) != "text") | (func.dbsim_utf8(cast(one, LargeBinary)) == 1) for one in texts]

    def unreadable_keys(self, connection: Connection, tables: IndexTables) -> list[str]:
        columns = [tables.source.c[name] for name in tables.key_names]
        if not (readable := self.readable_key(columns)):
            return []
        self.prepare(connection)
        digits = [func.hex(cast(column, LargeBinary)) for column in columns]
        there = [column.is_not(None) for column in columns]
        found = connection.execute(select(*digits).where(*there, not_(and_(*readable))).limit(MOST_NAMED))
        return [" ".join(row) for row in found]

    def key_forms(self, connection: Connection, value: Any, declared: str) -> Sequence[Any]:
        return sqlite_forms(value, declared)

    def references(self, connection: Connection, table: Name, source: Name) -> list[Reference]:
        return references(connection, table[1], source[1])

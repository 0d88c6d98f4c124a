"""How signatures are written and read on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format
from sqlalchemy import (
    Connection,
    Engine,
    MetaData,
    Table,
    insert,
)

from dbsim.engines.backend import Backend
from dbsim.engines.postgresql.wire import drivers
from dbsim.engines.postgresql.wire.binary_copy import binary_rows, copied_signatures
from dbsim.engines.signature_rows import signature_pages
from dbsim.hashing.signer import Signatures
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote
from dbsim.tables.slice_tables import word_columns, word_values
from dbsim.tables.source import Key

BPCHAROID, TEXTOID = 1042, 25  # char(n), text


class PostgreSQLStorage(Backend):
    """See `Storage` for what each step means."""

    def stored_table(self, tables: IndexTables) -> Table:
        table = tables.signatures.to_metadata(MetaData())
        for column in word_columns(tables):
            table.append_column(column)
        return table

    def stored_values(self, rows: Signatures) -> list[tuple[Any, ...]]:
        return list(zip(*rows.as_columns(), *word_values(rows), strict=True))

    def insert(self, connection: Connection, tables: IndexTables, keys: Sequence[Key], rows: Signatures) -> None:
        if not keys:
            return
        raw = drivers.own_psycopg(connection)
        if raw is None:
            self._insert_as_text(connection, tables, keys, rows)
            return
        table = quote(tables.signatures.name)
        columns = ", ".join(quote(name) for name in tables.key_names)
        with raw.cursor() as cursor:
            described = cursor.execute(f"SELECT {columns} FROM {table} LIMIT 0").description or []
            adapter = Transformer(raw)
            try:
                adapter.set_dumper_types([_binary_type(column.type_code) for column in described], Format.BINARY)
            except psycopg.ProgrammingError:  # an enum or another type that psycopg knows only as text
                self._insert_as_text(connection, tables, keys, rows)
                return
            formats = [PyFormat.BINARY] * len(described)
            dumped = [adapter.dump_sequence(key, formats) for key in keys]
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
                for block in binary_rows(dumped, rows):
                    copy.write(block)

    def insert_rows(self, connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        raw = drivers.own_psycopg(connection)
        if raw is None:
            super().insert_rows(connection, table, rows)
            return
        with raw.cursor() as cursor, cursor.copy(f"COPY {quote(table.name)} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def signature_blocks(self, engine: Engine, tables: IndexTables) -> Iterator[Signatures]:
        if engine.dialect.driver == "psycopg" and not engine.dialect.is_async:
            return copied_signatures(engine, tables)
        return signature_pages(engine, self, tables)

    def _insert_as_text(
        self, connection: Connection, tables: IndexTables, keys: Sequence[Key], rows: Signatures
    ) -> None:
        table = self.stored_table(tables)
        names = [column.name for column in table.columns]
        values = [
            [self.stored_bits(value) if isinstance(value, bytes) else value for value in row]
            for row in self.stored_values(rows)
        ]
        connection.execute(
            insert(table),
            [dict(zip(names, (*key, *row), strict=True)) for key, row in zip(keys, values, strict=True)],
        )

    def stored_bits(self, bits: bytes) -> Any:
        return "X" + bits.hex()

    def read_bits(self, value: Any) -> bytes:
        # asyncpg has objects for them, the other drivers give a text of zeros and ones
        return value.bytes if hasattr(value, "bytes") else int(value, 2).to_bytes(len(value) // 8)


def _binary_type(oid: int) -> int:
    """char(n) travels in the same bytes as text, for which psycopg has a binary form."""
    return TEXTOID if oid == BPCHAROID else oid

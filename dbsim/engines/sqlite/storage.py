"""How signatures are written and read on SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    MetaData,
    Table,
)

from dbsim.engines.backend import Backend
from dbsim.engines.signature_rows import signature_pages
from dbsim.engines.sqlite.surface.views import word_names, words_of
from dbsim.hashing.signer import Signatures
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote
from dbsim.tables.slice_tables import word_columns, word_values
from dbsim.tables.source import Key

TELLING = 1000  # rows, of which statistics are good for more of them


class SQLiteStorage(Backend):
    """See `Storage` for what each step means."""

    def stored_table(self, tables: IndexTables) -> Table:
        table = tables.signatures.to_metadata(MetaData())
        for name in chain.from_iterable(word_names(tables)):
            table.append_column(Column(name, BigInteger))
        for column in word_columns(tables):
            table.append_column(column)
        return table

    def stored_values(self, rows: Signatures) -> list[tuple[Any, ...]]:
        return list(zip(*self._columns(rows), strict=True))

    def _columns(self, rows: Signatures) -> list[list[Any]]:
        return [*rows.as_columns(), *words_of(rows.filters), *word_values(rows)]

    def insert(self, connection: Connection, tables: IndexTables, keys: Sequence[Key], rows: Signatures) -> None:
        if not keys:
            return
        values = list(zip(*zip(*keys, strict=True), *self._columns(rows), strict=True))
        statement = f"INSERT INTO {quote(tables.signatures.name)} VALUES ({', '.join('?' * len(values[0]))})"
        connection.exec_driver_sql(statement, values)

    def insert_rows(self, connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        if values := list(rows):
            places = ", ".join("?" * len(table.columns))
            connection.exec_driver_sql(f"INSERT INTO {quote(table.name)} VALUES ({places})", values)

    def signature_blocks(self, engine: Engine, tables: IndexTables) -> Iterator[Signatures]:
        # page by page: a long read would keep the application from committing, unless the file is in WAL mode
        return signature_pages(engine, self, tables)

    def finish_filling(self, connection: Connection, tables: IndexTables) -> None:
        """A thousand rows of each B-tree tell the planner what a million do, in a twentieth of the time.

        What is true of a few rows would be believed when there are a million, and all of them read for every search.
        """
        some = f"SELECT count(*) FROM (SELECT 1 FROM {quote(tables.signatures.name)} LIMIT {TELLING})"
        if (connection.exec_driver_sql(some).scalar() or 0) < TELLING:
            if self.has_table(connection, "sqlite_stat1"):  # an earlier dbsim, or the application, has looked at them
                connection.exec_driver_sql("DELETE FROM sqlite_stat1 WHERE tbl = ?", (tables.signatures.name,))
                connection.exec_driver_sql("ANALYZE sqlite_schema")  # which makes nothing, but has them read again
            return
        before = connection.exec_driver_sql("PRAGMA analysis_limit").scalar()
        connection.exec_driver_sql("PRAGMA analysis_limit = 1000")
        super().finish_filling(connection, tables)
        connection.exec_driver_sql(f"PRAGMA analysis_limit = {before or 0}")

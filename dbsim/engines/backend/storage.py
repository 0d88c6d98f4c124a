"""Signatures and other rows of dbsim's own tables, written and read in bulk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Table, insert

from dbsim.hashing.signer import Signatures
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote
from dbsim.tables.source import Key

RAW = {"no_parameters": True}  # a percent sign in a name is not a placeholder


class Storage(ABC):
    """How signatures are written and read."""

    @abstractmethod
    def stored_table(self, tables: IndexTables) -> Table:
        """The signature table as it is created; it may have columns that only SQL reads, behind the others."""

    @abstractmethod
    def stored_values(self, rows: Signatures) -> list[tuple[Any, ...]]:
        """The values of all its columns but the key."""

    @abstractmethod
    def insert(self, connection: Connection, tables: IndexTables, keys: Sequence[Key], rows: Signatures) -> None:
        """Write signatures in bulk."""

    def insert_rows(self, connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write rows of one of dbsim's own tables in bulk."""
        names = [column.name for column in table.columns]
        if values := [dict(zip(names, row, strict=True)) for row in rows]:
            connection.execute(insert(table), values)

    @abstractmethod
    def signature_blocks(self, engine: Engine, tables: IndexTables) -> Iterator[Signatures]:
        """All stored rows with features in key order, never in a read that the application's writes wait for."""

    def finish_filling(self, connection: Connection, tables: IndexTables) -> None:
        """After the indexes are built: fresh statistics for the planner."""
        connection.exec_driver_sql(f"ANALYZE {quote(tables.signatures.name)}", execution_options=RAW)

    def stored_bits(self, bits: bytes) -> Any:
        """A filter as a parameter."""
        return bits

    def read_bits(self, value: Any) -> bytes:
        """A filter as read from the table."""
        return bytes(value)

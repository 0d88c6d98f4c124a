"""The application's own tables, as an engine sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection

from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Source


class HostTables(ABC):
    """The application's own tables: what they are, and their texts."""

    @abstractmethod
    def describe(self, connection: Connection, table: str, schema: str | None) -> Source | None:
        """The table, or None."""

    @abstractmethod
    def has_table(self, connection: Connection, name: str) -> bool:
        """Whether dbsim has made this table or view of its own."""

    @abstractmethod
    def table_names(self, connection: Connection) -> list[str]:
        """For suggestions."""

    @abstractmethod
    def text_expressions(self, column: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        """What to select so that `read_text` can tell a text from something else."""

    @abstractmethod
    def read_text(self, values: Sequence[Any]) -> str:
        """The text ('' for NULL), or Unindexable."""

    def read_texts(self, columns: Sequence[Sequence[Any]]) -> list[str]:
        """The same of many rows, given as the columns of `text_expressions`."""
        return [self.read_text(values) for values in zip(*columns, strict=True)]

    @abstractmethod
    def key_forms(self, connection: Connection, value: Any, declared: str) -> Sequence[Any]:
        """A part of a key that the caller gave, such as a UUID, in every form a column of that type may have it in."""

    def readable_key(self, columns: Sequence[ColumnElement[Any]]) -> list[ColumnElement[bool]]:
        """Conditions that leave out rows whose key a driver cannot read: SQLite takes any bytes for a text."""
        return []

    def unreadable_keys(self, connection: Connection, tables: IndexTables) -> list[str]:
        """Those keys, as hexadecimal digits."""
        return []

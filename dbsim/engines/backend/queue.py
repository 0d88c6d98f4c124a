"""Triggers on the application's table, and the queue of changed keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine

from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key


class Queue(ABC):
    """Triggers on the application's table, and the queue they fill."""

    @abstractmethod
    def create_triggers(
        self, tables: IndexTables, connection: Connection | None, *, patient: bool = False
    ) -> list[str]:
        """Statements that install or replace them; an inline index's can only be written with a look at the database.

        PostgreSQL waits for the table's lock only briefly; `patient`: then again, where the caller's transaction cannot
        be begun anew, as in a migration.
        """

    def type_name(self, written: str) -> str:
        """A type as the database itself spells what somebody has written."""
        return written

    def require_key(self, tables: IndexTables) -> list[str]:
        """Statements that fail when the key's types are not those of the table."""
        return []

    @abstractmethod
    def drop_triggers(self, name: str) -> list[str]:
        """Statements that remove those of an index that are there."""

    @abstractmethod
    def drop_everything(self, name: str, own: Sequence[str], written: Sequence[str]) -> list[str]:
        """Statements that remove an index: its `own` objects, its triggers, and what those have `written` to.

        No lock on the application's table is held while anything is waited for.
        """

    @abstractmethod
    def missing_triggers(self, connection: Connection, tables: IndexTables) -> list[str]:
        """Names of triggers that should exist and do not, or are switched off."""

    @abstractmethod
    def outdated_triggers(self, connection: Connection, tables: IndexTables) -> bool:
        """Whether those that are there were made by an earlier dbsim."""

    @abstractmethod
    def claim(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        """Take changes off the queue: exactly the rows read, never by a watermark."""

    @abstractmethod
    def pending(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        """The changes `claim` would take next."""

    @abstractmethod
    def markers(self, connection: Connection, tables: IndexTables) -> list[Any]:
        """The queue rows without a key: each asks for a comparison of everything."""

    @abstractmethod
    def remove_markers(self, connection: Connection, tables: IndexTables, markers: Sequence[Any]) -> None:
        """Once that comparison is done."""

    @abstractmethod
    def wait(self, engine: Engine, tables: IndexTables, seconds: float) -> None:
        """Sleep until the application writes, or for so long."""

"""Views and functions for SQL users, and the rights of roles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine

from dbsim.errors import InvalidOption
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Source


class Surface(ABC):
    """Views and functions, and who may use them."""

    def table_settings(self, names: Sequence[str]) -> list[str]:
        """Statements after tables of dbsim's own are made, also again: nobody but their owner reads them."""
        return []

    def readers_of_secrets(self, connection: Connection) -> list[str]:
        """Roles other than the owner that could read what keys the hashes."""
        return []

    @abstractmethod
    def require_inline(self, connection: Connection, tables: IndexTables, source: Source) -> None:
        """Refuse an inline index where the database cannot sign, with the reason."""

    @abstractmethod
    def create_surface(self, connection: Connection, tables: IndexTables) -> None:
        """Views and functions of an index; idempotent."""

    @abstractmethod
    def view_made_anew(self, name: str, query: str) -> list[str]:
        """A view with the same columns in the place of one that may be there."""

    @abstractmethod
    def score_of_copies(self, connection: Connection, tables: IndexTables) -> str | None:
        """Of persons: what row a and its exact copy score, as SQL that a view can have."""

    @abstractmethod
    def json_number(self, text: str, name: str) -> str:
        """The number that has this name in a JSON object."""

    @abstractmethod
    def go_home(self, home: str) -> list[str]:
        """What a script begins with, so that dbsim's tables are made in this schema."""

    @abstractmethod
    def surface_statements(self, tables: IndexTables, home: str) -> list[str]:
        """The same as text, without a look at the database, whose schema for dbsim's tables is `home`."""

    @abstractmethod
    def written_triggers(self, tables: IndexTables, home: str) -> list[str]:
        """`create_triggers` without a look at the database, for inline indexes too."""

    @abstractmethod
    def drop_surface(self, name: str) -> list[str]:
        """Statements that remove them and dbsim_status, as far as they are there."""

    def shared_names(self) -> list[str]:
        """Functions that all indexes use."""
        return []

    @abstractmethod
    def drop_shared(self) -> list[str]:
        """Statements that remove what all indexes share."""

    def reads_secrets(self, connection: Connection) -> bool:
        """Whether this role may read the secrets of indexes, which signing needs; a reader searches without."""
        return True

    @abstractmethod
    def grant(self, connection: Connection, tables: IndexTables, role: str, *, decides: bool = False) -> list[str]:
        """Let a role search an index without its secret; returns statements for rights that it lacks still.

        One that `decides` may also write what people decide about rows that it sees.
        """

    @abstractmethod
    def revoke(self, connection: Connection, tables: IndexTables, role: str) -> bool:
        """Take back what `grant` gave; False when the role had not been granted the index."""

    def sign_in_sql(
        self, connection: Connection, tables: IndexTables, columns: Sequence[Sequence[str]]
    ) -> list[tuple[Any, ...]]:
        """Signatures of texts, given field by field, made by the database for a role that may not read the secret."""
        raise InvalidOption(f"the database cannot sign texts for index {tables.record.name!r}: connect as its owner")

    def granted(self, connection: Connection, tables: IndexTables) -> dict[str, bool]:
        """Roles that may search this index from SQL, and whether they decide."""
        return {}

    def grant_again(self, connection: Connection, tables: IndexTables, roles: Mapping[str, bool]) -> None:
        """After its views and functions were made anew."""

    @abstractmethod
    def missing_surface(self, connection: Connection, tables: IndexTables) -> list[str]:
        """Names of views and functions that should exist and do not."""

    @abstractmethod
    def outdated_surface(self, connection: Connection, tables: IndexTables) -> bool:
        """Whether those that are there were made by an earlier dbsim."""

    @abstractmethod
    def status_statements(self, connection: Connection, indexes: Sequence[IndexTables]) -> list[str]:
        """The view dbsim_status over these indexes; after the last one, nothing of dbsim's stays in SQL."""

    def settle(self, engine: Engine) -> None:
        """Wait until every transaction that is writing now has ended."""

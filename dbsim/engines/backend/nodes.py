"""Where tables lie: on which disk, on which machines."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from dbsim.errors import InvalidOption
from dbsim.tables.source import Source


class Places:
    """Where on a machine tables lie; by default there is no choice."""

    def tablespaces(self, connection: Connection) -> list[str]:
        """Their names."""
        raise InvalidOption("there are no tablespaces in SQLite: leave it out, or put the file on another disk")

    def into_tablespace(self, name: str, tablespace: str) -> list[str]:
        """Statements that move a new table of dbsim's."""
        return []


class Nodes:
    """Tables that lie on several machines (Citus); by default all lie on one."""

    def is_distributed(self, connection: Connection, source: Source, *, required: bool = False) -> bool:
        """Whether the table is; InvalidOption when it is `required` to be."""
        if required:
            raise InvalidOption("SQLite has no distributed tables: leave out --citus")
        return False

    def before_spreading(self, connection: Connection) -> None:
        """The first thing in a transaction that makes distributed tables: types and functions cannot follow them."""

    def spread(self, name: str, like: str | None = None) -> list[str]:
        """Statements that put a new table of dbsim's where the rows of `like` are; without it, on every node."""
        return []

    def spread_catalogue(self, connection: Connection, names: Sequence[str]) -> list[str]:
        """Statements that put what all indexes share on every node; none where there is only one."""
        return []

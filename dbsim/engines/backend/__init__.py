"""What differs between the engines: a base class a subject, with defaults for what an engine need not do.

sqlite/ and postgresql/ have a module of the same name for each subject in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Dialect

from dbsim.engines.backend.feed import Feed
from dbsim.engines.backend.host_tables import HostTables
from dbsim.engines.backend.nodes import Nodes, Places
from dbsim.engines.backend.queue import Queue
from dbsim.engines.backend.scores import Asked, FilterColumns, Questions, Scores, any_equal
from dbsim.engines.backend.slices import Slices, Terms
from dbsim.engines.backend.storage import RAW, Storage
from dbsim.engines.backend.surface import Surface
from dbsim.engines.backend.transactions import GONE, Transactions
from dbsim.tables.index_tables import IndexTables

__all__ = ["GONE", "RAW", "Asked", "Backend", "Defects", "FilterColumns", "Questions", "Terms", "any_equal"]


class Defects(NamedTuple):
    """Of an index's triggers, or of its views and functions: what is missing, and whether others are outdated."""

    missing: Sequence[str] = ()
    outdated: bool = False


class Backend(HostTables, Queue, Surface, Transactions, Storage, Scores, Slices, Feed, Nodes, Places):
    """One engine: what it is, in a few words, and its way to do each of the above."""

    name: str
    dialect: Dialect  # to write statements without a connection
    random_hex: str  # an expression for 16 random bytes in hexadecimal
    read_batch: int  # rows fetched at once from a long result
    key_batch: int  # keys looked up in one statement
    fill_batch: int  # rows signed and written in one transaction of the first filling
    queue_batch: int  # changes worked off in one transaction
    not_text: tuple[str, ...]  # column types that cannot be indexed
    not_key: str  # pattern of types whose values compare differently in Python, or not at all
    typed_keys: bool  # whether a key column takes values of its own type only
    errors: tuple[type[Exception], ...]  # of the database: SQLAlchemy's, and the driver's own where it is used directly
    errors_abort: bool  # whether an error spoils the transaction it happens in
    signs_inline: bool  # whether triggers can sign
    writers_wait: bool  # whether the application's writes wait while dbsim writes
    refuse_writes: str  # a statement after which a connection only reads
    searches_in_sql: bool  # whether a function finds rows similar to a text
    rebuilds_tables: bool  # whether a migration changes a table by making it anew, which loses its triggers

    def defects(self, connection: Connection, tables: IndexTables) -> tuple[Defects, Defects]:
        """Of the views and functions of an index, and of its triggers, if it is to have any."""
        surface = Defects(self.missing_surface(connection, tables), self.outdated_surface(connection, tables))
        if not tables.record.options.triggers:
            return surface, Defects()
        triggers = Defects(self.missing_triggers(connection, tables), self.outdated_triggers(connection, tables))
        return surface, triggers

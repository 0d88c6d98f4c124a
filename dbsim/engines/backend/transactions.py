"""Transactions, locks, and errors that a user can do something about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

from sqlalchemy import Connection, Engine

from dbsim.errors import DbsimError
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key, Name, Reference

GONE = (
    "a table or column is not there ({}): check the condition; "
    "if the indexed table has changed, drop the index and create it again"
)


class Transactions(ABC):
    """Transactions, locks and errors; where writers exclude each other anyway, a lock is nothing to do."""

    def open(self, engine: Engine) -> Connection:
        """A connection for reading or writing in transactions, whatever the engine is set to."""
        return engine.connect()

    @abstractmethod
    def begin(self, connection: Connection) -> None:
        """Start a writing transaction that reads all rows and sees what is committed while it runs."""

    def enforcing_foreign_keys(self, connection: Connection) -> AbstractContextManager[None]:
        """For transactions begun inside: what references a row is looked after, whatever the connection's default."""
        return nullcontext()

    @abstractmethod
    def references(self, connection: Connection, table: Name, source: Name) -> list[Reference]:
        """The foreign keys that point to a table or to a part of it; those of `source` are its `own`."""

    def all_rows_visible(self, connection: Connection) -> AbstractContextManager[None]:
        """In a caller's transaction: an error, not fewer rows, where row-level security hides some."""
        return nullcontext()

    @abstractmethod
    def snapshot(self, connection: Connection) -> None:
        """Let the statements of a reading transaction all see the same moment; before the first of them."""

    def alone(self, connection: Connection) -> None:
        """One migration of dbsim's at a time, to the end of the transaction."""

    @abstractmethod
    def exclusively(self, connection: Connection, patience: float) -> AbstractContextManager[None]:
        """One deploy at a time, around everything that is done with the connection."""

    def limit_lock_wait(self, connection: Connection, wait: str) -> None:
        """For the rest of the transaction."""

    def written(self, connection: Connection) -> object | None:
        """Equal to what it was as long as nobody has written to the database, this connection neither; or None."""
        return None

    def share(self, connection: Connection, name: str) -> None:
        """Keep what an index consists of as it is until the transaction ends: the first thing a worker's step does."""

    def change(self, connection: Connection, name: str) -> None:
        """Wait for the steps under way and keep others out: the first thing when what it consists of is changed."""

    def lock_keys(self, connection: Connection, tables: IndexTables, keys: Iterable[Key]) -> None:
        """Keep other workers away from these documents until the transaction ends; never the application."""

    def lock_all(self, connection: Connection, tables: IndexTables) -> None:
        """The same for every document: no other worker changes the index until the transaction ends."""

    @abstractmethod
    def lock_buckets(self, connection: Connection, tables: IndexTables, keys: Sequence[int]) -> None:
        """Let nobody else insert a row with one of these bucket keys through the door until the transaction ends."""

    @abstractmethod
    def transient(self, error: BaseException) -> bool:
        """Whether the same transaction may succeed when tried again."""

    @abstractmethod
    def explain(self, error: BaseException) -> DbsimError | None:
        """One sentence for an error a user can do something about."""

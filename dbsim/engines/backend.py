"""What differs between the engines, as one interface; sqlite/ and postgresql/ implement it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, Dialect, Engine, FromClause, Table

from dbsim.errors import DbsimError
from dbsim.hashing.signer import Signatures
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key, Reference, Source

GONE = (
    "a table or column is not there ({}): check the condition; "
    "if the indexed table has changed, drop the index and create it again"
)


class Backend(Protocol):
    """One engine's way to do the steps of store and search."""

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
    writers_wait: bool  # whether the application's writes wait while dbsim writes
    refuse_writes: str  # a statement after which a connection only reads
    searches_in_sql: bool  # whether a function finds rows similar to a text
    rebuilds_tables: bool  # whether a migration changes a table by making it anew, which loses its triggers

    # ── the host's table ──
    def describe(self, connection: Connection, table: str, schema: str | None) -> Source | None:
        """The table, or None."""

    def has_table(self, connection: Connection, name: str) -> bool:
        """Whether dbsim has made this table of its own."""

    def table_names(self, connection: Connection) -> list[str]:
        """For suggestions."""

    def text_expressions(self, column: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        """What to select so that `read_text` can tell a text from something else."""

    def read_text(self, values: Sequence[Any]) -> str:
        """The text ('' for NULL), or Unindexable."""

    def key_forms(self, connection: Connection, value: Any, declared: str) -> Sequence[Any]:
        """A part of a key that the caller gave, such as a UUID, in every form a column of that type may have it in."""

    # ── triggers and queue ──
    def create_triggers(
        self, tables: IndexTables, connection: Connection | None, *, patient: bool = False
    ) -> list[str]:
        """Statements that install or replace them; an inline index's can only be written with a look at the database.

        PostgreSQL waits for the table's lock only briefly; `patient`: then again, where the caller's transaction cannot
        be begun anew, as in a migration.
        """

    def require_key(self, tables: IndexTables) -> list[str]:
        """Statements that fail when the key's types are not those of the table."""

    def drop_triggers(self, name: str) -> list[str]:
        """Statements that remove those of an index that are there."""

    def drop_everything(self, name: str, own: Sequence[str], written: Sequence[str]) -> list[str]:
        """Statements that remove an index: its `own` objects, its triggers, and what those have `written` to.

        No lock on the application's table is held while anything is waited for.
        """

    def missing_triggers(self, connection: Connection, tables: IndexTables) -> list[str]:
        """Names of triggers that should exist and do not, or are switched off."""

    def outdated_triggers(self, connection: Connection, tables: IndexTables) -> bool:
        """Whether those that are there were made by an earlier dbsim."""

    def claim(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        """Take changes off the queue: exactly the rows read, never by a watermark."""

    def pending(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        """The changes `claim` would take next."""

    def markers(self, connection: Connection, tables: IndexTables) -> list[Any]:
        """The queue rows without a key: each asks for a comparison of everything."""

    def remove_markers(self, connection: Connection, tables: IndexTables, markers: Sequence[Any]) -> None:
        """Once that comparison is done."""

    def wait(self, engine: Engine, tables: IndexTables, seconds: float) -> None:
        """Sleep until the application writes, or for so long."""

    # ── what people see from SQL ──
    def table_settings(self, names: Sequence[str]) -> list[str]:
        """Statements after tables of dbsim's own are made, also again: nobody but their owner reads them."""

    def readers_of_secrets(self, connection: Connection) -> list[str]:
        """Roles other than the owner that could read what keys the hashes."""

    def stored_table(self, tables: IndexTables) -> Table:
        """The signature table as it is created; it may have columns that only SQL reads, behind the others."""

    def stored_values(self, rows: Signatures) -> list[tuple[Any, ...]]:
        """The values of all its columns but the key."""

    def require_inline(self, connection: Connection, tables: IndexTables, source: Source) -> None:
        """Refuse an inline index where the database cannot sign, with the reason."""

    def create_surface(self, connection: Connection, tables: IndexTables) -> None:
        """Views and functions of an index; idempotent."""

    def surface_statements(self, tables: IndexTables, home: str) -> list[str]:
        """The same as text, without a look at the database, whose schema for dbsim's tables is `home`."""

    def written_triggers(self, tables: IndexTables, home: str) -> list[str]:
        """`create_triggers` without a look at the database, for inline indexes too."""

    def drop_surface(self, name: str) -> list[str]:
        """Statements that remove them and dbsim_status, as far as they are there."""

    def shared_names(self) -> list[str]:
        """Functions that all indexes use."""

    def drop_shared(self) -> list[str]:
        """Statements that remove what all indexes share."""

    def granted(self, connection: Connection, tables: IndexTables) -> list[str]:
        """Roles that may search this index from SQL."""

    def grant_again(self, connection: Connection, tables: IndexTables, roles: Sequence[str]) -> None:
        """After its views and functions were made anew."""

    def missing_surface(self, connection: Connection, tables: IndexTables) -> list[str]:
        """Names of views and functions that should exist and do not."""

    def outdated_surface(self, connection: Connection, tables: IndexTables) -> bool:
        """Whether those that are there were made by an earlier dbsim."""

    def status_statements(self, connection: Connection, indexes: Sequence[IndexTables]) -> list[str]:
        """The view dbsim_status over these indexes; after the last one, nothing of dbsim's stays in SQL."""

    def settle(self, engine: Engine) -> None:
        """Wait until every transaction that is writing now has ended."""

    # ── transactions ──
    def open(self, engine: Engine) -> Connection:
        """A connection for reading or writing in transactions, whatever the engine is set to."""

    def begin(self, connection: Connection) -> None:
        """Start a writing transaction that reads all rows and sees what is committed while it runs."""

    def enforcing_foreign_keys(self, connection: Connection) -> AbstractContextManager[None]:
        """For transactions begun inside: what references a row is looked after, whatever the connection's default."""

    def references(self, connection: Connection, table: str, schema: str | None) -> list[Reference]:
        """The foreign keys that point to a table."""

    def all_rows_visible(self, connection: Connection) -> AbstractContextManager[None]:
        """In a caller's transaction: an error, not fewer rows, where row-level security hides some."""

    def snapshot(self, connection: Connection) -> None:
        """Let the statements of a reading transaction all see the same moment; before the first of them."""

    def alone(self, connection: Connection) -> None:
        """One migration of dbsim's at a time, to the end of the transaction."""

    def exclusively(self, connection: Connection, patience: float) -> AbstractContextManager[None]:
        """One deploy at a time, around everything that is done with the connection."""

    def limit_lock_wait(self, connection: Connection, wait: str) -> None:
        """For the rest of the transaction."""

    def share(self, connection: Connection, name: str) -> None:
        """Keep what an index consists of as it is until the transaction ends: the first thing a worker's step does."""

    def change(self, connection: Connection, name: str) -> None:
        """Wait for the steps under way and keep others out: the first thing when what it consists of is changed."""

    def lock_keys(self, connection: Connection, tables: IndexTables, keys: Iterable[Key]) -> None:
        """Keep other workers away from these documents until the transaction ends; never the application."""

    def lock_all(self, connection: Connection, tables: IndexTables) -> None:
        """The same for every document: no other worker changes the index until the transaction ends."""

    def lock_buckets(self, connection: Connection, tables: IndexTables, keys: Sequence[int]) -> None:
        """Let nobody else insert a row with one of these bucket keys through the door until the transaction ends."""

    def transient(self, error: BaseException) -> bool:
        """Whether the same transaction may succeed when tried again."""

    def explain(self, error: BaseException) -> DbsimError | None:
        """One sentence for an error a user can do something about."""

    # ── signatures ──
    def insert(self, connection: Connection, tables: IndexTables, keys: Sequence[Key], rows: Signatures) -> None:
        """Write signatures in bulk."""

    def insert_rows(self, connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write rows of one of dbsim's own tables in bulk."""

    def signature_blocks(self, engine: Engine, tables: IndexTables) -> Iterator[Signatures]:
        """All stored rows with features in key order, never in a read that the application's writes wait for."""

    def finish_filling(self, connection: Connection, tables: IndexTables) -> None:
        """After the indexes are built: fresh statistics for the planner."""

    def stored_bits(self, bits: bytes) -> Any:
        """A filter as a parameter."""

    def read_bits(self, value: Any) -> bytes:
        """A filter as read from the table."""

    # ── scores ──
    def connect(self, engine: Engine) -> Connection:
        """A connection of dbsim's own to search with, at the least cost."""

    def prepare(self, connection: Connection) -> None:
        """Make `jaccard` work on this connection."""

    def jaccard(
        self,
        bits: ColumnElement[Any],
        count: ColumnElement[Any],
        other_bits: ColumnElement[Any],
        other_count: ColumnElement[Any],
        size: int,
    ) -> ColumnElement[float]:
        """Cardinality-corrected Jaccard of two filters; both counts are above zero."""

    def level(
        self,
        bits: ColumnElement[Any],
        count: ColumnElement[Any],
        other_bits: ColumnElement[Any],
        other_count: ColumnElement[Any],
        size: int,
    ) -> ColumnElement[int]:
        """How alike two filters are, in the steps of `dbsim.hashing.records.levels`; both counts are above zero."""

    def probability(self, evidence: ColumnElement[int]) -> ColumnElement[float]:
        """`dbsim.hashing.records.probability` of so much evidence, equal to the last bit."""

    def hamming(self, key: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[int]:
        """How many bits of two keys differ."""

    def reads_secrets(self, connection: Connection) -> bool:
        """Whether this role may read the secrets of indexes, which signing needs; a reader searches without."""

    def grant(self, connection: Connection, tables: IndexTables, role: str) -> list[str]:
        """Let a role search an index without its secret; returns statements for rights that it lacks still."""

    def sign_in_sql(
        self, connection: Connection, tables: IndexTables, columns: Sequence[Sequence[str]]
    ) -> list[tuple[Any, ...]]:
        """Signatures of texts, given field by field, made by the database for a role that may not read the secret."""

    def can_read(self, connection: Connection, table: str) -> bool:
        """Whether this connection may read a table of dbsim's."""

    def json_rows(
        self, parameter: str, integers: Sequence[str], texts: Sequence[str], reals: Sequence[str] = ()
    ) -> FromClause:
        """The objects of a JSON array, bound as `parameter`, as rows with these columns."""

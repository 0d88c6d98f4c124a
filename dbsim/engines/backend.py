"""What differs between the engines, by subject; sqlite/ and postgresql/ have a module for each.

What an engine need not do has its default here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, Double, Engine, FromClause, Select, Table, func, insert

from dbsim.errors import DbsimError, InvalidOption
from dbsim.hashing.bloom import Reading
from dbsim.hashing.signer import Signatures
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote
from dbsim.tables.slice_tables import SliceTables
from dbsim.tables.source import Key, Reference, Source

GONE = (
    "a table or column is not there ({}): check the condition; "
    "if the indexed table has changed, drop the index and create it again"
)
RAW = {"no_parameters": True}  # a percent sign in a name is not a placeholder


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
    def references(self, connection: Connection, table: str, schema: str | None) -> list[Reference]:
        """The foreign keys that point to a table."""

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


class Scores(ABC):
    """How filters and keys are compared in SQL."""

    def connect(self, engine: Engine) -> Connection:
        """A connection of dbsim's own to search with, at the least cost."""
        return engine.connect()

    @abstractmethod
    def prepare(self, connection: Connection) -> None:
        """Make `jaccard` work on this connection."""

    @abstractmethod
    def jaccard(
        self,
        bits: ColumnElement[Any],
        count: ColumnElement[Any],
        other_bits: ColumnElement[Any],
        other_count: ColumnElement[Any],
        reading: Reading,
    ) -> ColumnElement[float]:
        """The similarity of two filters; both counts are above zero."""

    @abstractmethod
    def level(
        self,
        bits: ColumnElement[Any],
        count: ColumnElement[Any],
        other_bits: ColumnElement[Any],
        other_count: ColumnElement[Any],
        reading: Reading,
    ) -> ColumnElement[int]:
        """How alike two filters are, in the steps of `dbsim.hashing.records.levels`; both counts are above zero."""

    def probability(self, evidence: ColumnElement[int]) -> ColumnElement[float]:
        """`dbsim.hashing.records.probability` of so much evidence, equal to the last bit."""
        return func.dbsim_probability(evidence, type_=Double)

    @abstractmethod
    def larger(self, one: ColumnElement[int], two: ColumnElement[int]) -> ColumnElement[int]:
        """Of two numbers."""

    @abstractmethod
    def hamming(self, key: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[int]:
        """How many bits of two keys differ."""

    def computed_once(self, query: Select[Any]) -> Select[Any]:
        """A query in FROM whose values are computed once, however often what is around it uses them."""
        return query

    def can_read(self, connection: Connection, table: str) -> bool:
        """Whether this connection may read a table of dbsim's."""
        return True

    @abstractmethod
    def json_rows(
        self, parameter: str, integers: Sequence[str], texts: Sequence[str], reals: Sequence[str] = ()
    ) -> FromClause:
        """The objects of a JSON array, bound as `parameter`, as rows with these columns."""


Terms = Sequence[Sequence[Sequence[int]]]


class Slices(ABC):
    """How bit slices are put together in SQL."""

    @abstractmethod
    def word_places(self, sliced: SliceTables, terms: Terms, wide: Terms | None, *, every: bool) -> str:
        """A statement for keys of the rows that may have every term, or one of them at least.

        A term is its slices in each field; a row may have it when some field has all of those. `wide` are the same
        terms in the slices of long texts, where there can be any.
        """

    def make_room(self, connection: Connection) -> None:
        """Memory for the pages that questions read again and again; only of connections that dbsim made itself."""
        return

    @abstractmethod
    def found_by(self, columns: Sequence[str], keys: str) -> str | None:
        """A condition on these columns of a large table: one of the few rows of a subquery; None if it takes a scan."""


class Places:
    """Where on a machine tables lie; by default there is no choice."""

    def tablespaces(self, connection: Connection) -> list[str]:
        """Their names."""
        raise InvalidOption("there are no tablespaces in SQLite: leave it out, or put the file on another disk")

    def into_tablespace(self, name: str, tablespace: str) -> list[str]:
        """Statements that move a new table of dbsim's."""
        return []


class Feed(ABC):
    """A column that grows with every change of a row, for tables without triggers."""

    @abstractmethod
    def feed_text(self, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """A value of the column, as a text to keep."""

    @abstractmethod
    def feed_since(self, kept: str, type_: str, overlap: timedelta) -> ColumnElement[Any]:
        """That value in a comparison with the column; a moment is put back by the overlap."""


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

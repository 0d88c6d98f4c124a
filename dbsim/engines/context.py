"""What the work on a database and on one generation of an index needs, passed as one value instead of four or five."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from dbsim.engines import transactions
from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook
from dbsim.engines.urls import seen
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions
from dbsim.tables import catalogue
from dbsim.tables.catalogue import IndexRecord
from dbsim.tables.index_tables import IndexTables

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class DatabaseContext:
    """One database and how to work in it."""

    engine: Engine
    backend: Backend
    after_create_table: TableHook | None = None  # what a distributed database wants done with each new table
    reader: bool = False  # the role may search what it was granted, but not read the secrets of indexes

    def read(self, work: Callable[[Connection], Result], patience: float | None = None) -> Result:
        """`work` in a transaction that no write of the application waits for; again when the database asks for it."""
        return transactions.read(self.engine, self.backend, work, patience)

    def write(self, work: Callable[[Connection], Result], patience: float | None = None) -> Result:
        """All of `work` in one transaction, or nothing; again when the database asks for it."""
        return transactions.write(self.engine, self.backend, work, patience)

    def load(self, connection: Connection, name: str) -> IndexRecord:
        """The generation of an index that is searched, as far as this role may know it."""
        return catalogue.load(connection, name, secret=not self.reader)

    def searching(self, connection: Connection | None = None) -> AbstractContextManager[Connection]:
        """The caller's connection, or one of dbsim's own; able to compute scores."""
        return transactions.searching(self.engine, self.backend, connection)

    def at_once(self, statement: str, arguments: Any) -> Sequence[Any] | None:
        """The rows of a statement by itself, where that is quicker than on a connection; None where it is not."""
        return transactions.at_once(self.engine, self.backend, statement, arguments)

    def of(self, record: IndexRecord, signer: Signer | None = None) -> IndexContext:
        """One generation of an index here."""
        seen(self.engine, record.name, record.generation)
        return IndexContext(
            engine=self.engine,
            backend=self.backend,
            after_create_table=self.after_create_table,
            reader=self.reader,
            tables=IndexTables(record, shown=self.reader),
            signer=signer or record.options.signer(record.secret),
        )


@dataclass(frozen=True, kw_only=True)
class IndexContext(DatabaseContext):
    """One generation of an index: its tables, and the signer with its secret, words and model."""

    tables: IndexTables
    signer: Signer

    @cached_property
    def name(self) -> str:
        return self.tables.record.name

    @cached_property
    def options(self) -> IndexOptions:
        return self.tables.record.options


@dataclass
class Stage:
    """A step of the work on an index; what it needs most is at hand under short names."""

    context: IndexContext
    engine: Engine = field(init=False, repr=False)
    backend: Backend = field(init=False, repr=False)
    tables: IndexTables = field(init=False, repr=False)
    signer: Signer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.enter(self.context)

    def enter(self, context: IndexContext) -> None:
        """Work on this generation from now on."""
        self.context, self.engine, self.backend = context, context.engine, context.backend
        self.tables, self.signer = context.tables, context.signer

    def read(self, work: Callable[[Connection], Result], patience: float | None = None) -> Result:
        return self.context.read(work, patience)

    def write(self, work: Callable[[Connection], Result], patience: float | None = None) -> Result:
        return self.context.write(work, patience)

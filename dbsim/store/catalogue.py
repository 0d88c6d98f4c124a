"""dbsim's own tables, the same in every database, and the index records in them: Connection → IndexRecord."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    Table,
    Text,
    delete,
    insert,
    select,
    update,
)

from dbsim.errors import UnknownName
from dbsim.options import IndexOptions

metadata = MetaData()

index_table = Table(
    "dbsim_index",
    metadata,
    Column("name", Text, primary_key=True),
    Column("source_schema", Text),
    Column("source_table", Text, nullable=False),
    Column("primary_key", Text, nullable=False),  # JSON: [[name, type], …]
    Column("options", Text, nullable=False),  # JSON of IndexOptions
    Column("family", Text, nullable=False),
    Column("secret", Text, nullable=False),  # hexadecimal; keys every hash of this index
    Column("unicode_version", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("state", Text, nullable=False),  # filling → ready
    Column("listening", Boolean, nullable=False),  # a worker sleeps and wants to be notified (PostgreSQL)
)
quarantine_table = Table(
    "dbsim_quarantine",
    metadata,
    Column("index_name", Text, primary_key=True),
    Column("source_key", Text, primary_key=True),  # JSON of the primary key; never the row's text
    Column("reason", Text, nullable=False),
)
document_table = Table(
    "dbsim_document",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("text", Text),
    Column("source", Text),
)
model_table = Table(
    "dbsim_model",
    metadata,
    Column("index_name", Text, primary_key=True),
    Column("generation", Integer, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("dtype", Text, nullable=False),  # as numpy writes it, little-endian: <f8, <i4, …
    Column("shape", Text, nullable=False),  # JSON
    Column("numbers", LargeBinary, nullable=False),
    Column("sample", Integer, nullable=False),  # rows it was fitted on
    Column("seed", Text, nullable=False),  # how they were drawn
    Column("version", Text, nullable=False),  # family@version that fitted it
)
cardinality_table = Table(
    "dbsim_cardinality",
    metadata,
    Column("bits", Integer, primary_key=True, autoincrement=False),
    Column("count", Integer, primary_key=True, autoincrement=False),
    Column("estimate", Double, nullable=False),
)

FILLING, READY = "filling", "ready"
RESERVED = {name.removeprefix("dbsim_") for name in metadata.tables} | {"version", "status"}


@dataclass(frozen=True)
class IndexRecord:
    """One row of dbsim_index."""

    options: IndexOptions
    primary_key: tuple[tuple[str, str], ...]
    secret: bytes
    unicode_version: str
    generation: int
    state: str

    @property
    def name(self) -> str:
        return self.options.name

    @property
    def ready(self) -> bool:
        return self.state == READY


def load(connection: Connection, name: str, *, lock: bool = False) -> IndexRecord:
    """The record; with `lock` other workers that also lock it wait until this transaction ends."""
    query = select(index_table).where(index_table.c.name == name)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise UnknownName("index", name, names(connection))
    return _record(row)


def names(connection: Connection) -> list[str]:
    return list(connection.scalars(select(index_table.c.name).order_by(index_table.c.name)))


def exists(connection: Connection, name: str) -> bool:
    return connection.scalar(select(index_table.c.name).where(index_table.c.name == name)) is not None


def is_ready(connection: Connection, name: str) -> bool:
    return connection.scalar(select(index_table.c.state).where(index_table.c.name == name)) == READY


def add(connection: Connection, record: IndexRecord) -> None:
    options = record.options
    connection.execute(
        insert(index_table).values(
            name=options.name,
            source_schema=options.schema,
            source_table=options.table,
            primary_key=json.dumps(record.primary_key),
            options=options.to_json(),
            family=options.family,
            secret=record.secret.hex(),
            unicode_version=record.unicode_version,
            generation=record.generation,
            state=record.state,
            listening=False,
        )
    )


def remove(connection: Connection, name: str) -> None:
    connection.execute(delete(quarantine_table).where(quarantine_table.c.index_name == name))
    connection.execute(delete(model_table).where(model_table.c.index_name == name))
    connection.execute(delete(index_table).where(index_table.c.name == name))


def set_state(connection: Connection, name: str, state: str) -> None:
    connection.execute(update(index_table).where(index_table.c.name == name).values(state=state))


def set_options(connection: Connection, options: IndexOptions) -> None:
    connection.execute(update(index_table).where(index_table.c.name == options.name).values(options=options.to_json()))


def set_generation(connection: Connection, name: str, generation: int, state: str) -> None:
    values = {"generation": generation, "state": state}
    connection.execute(update(index_table).where(index_table.c.name == name).values(values))


def generation(connection: Connection, name: str, *, lock: bool = False) -> int:
    """With `lock` it stays so until this transaction ends; others may lock it likewise."""
    query = select(index_table.c.generation).where(index_table.c.name == name)
    return connection.scalar(query.with_for_update(read=True) if lock else query) or 0


def set_listening(connection: Connection, name: str, listening: bool) -> None:
    connection.execute(update(index_table).where(index_table.c.name == name).values(listening=listening))


def _record(row: Row[tuple[object, ...]]) -> IndexRecord:
    return IndexRecord(
        options=IndexOptions.from_json(row.options),
        primary_key=tuple((name, type_) for name, type_ in json.loads(row.primary_key)),
        secret=bytes.fromhex(row.secret),
        unicode_version=row.unicode_version,
        generation=row.generation,
        state=row.state,
    )

"""dbsim's own tables, the same in every database."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, LargeBinary, MetaData, Table, Text

from dbsim.tables.types import row_number

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
    Column("generation", Integer, nullable=False),  # the one that is searched
    Column("state", Text, nullable=False),  # filling → ready
    Column("stamp", Text, nullable=False),  # another one whenever anything changes that a search depends on
    Column("wanted", Integer),  # the generation that shall be searched, once it is built
    Column("listening", Boolean, nullable=False),  # a worker sleeps and wants to be notified (PostgreSQL)
)
generation_table = Table(  # generations beside the one that is searched: built for a change of options, or replaced
    "dbsim_generation",
    metadata,
    Column("index_name", Text, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("options", Text, nullable=False),
    Column("family", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("retired_at", BigInteger),  # seconds since 1970
)
quarantine_table = Table(
    "dbsim_quarantine",
    metadata,
    Column("index_name", Text, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("source_key", Text, primary_key=True),  # JSON of the primary key; never the row's text
    Column("reason", Text, nullable=False),
)
document_table = Table(
    "dbsim_document",
    metadata,
    Column("id", row_number(), primary_key=True),
    Column("text", Text),
    Column("source", Text),
)
model_table = Table(
    "dbsim_model",
    metadata,
    Column("index_name", Text, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
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
SHOWN = [column.name for column in index_table.c if column.name != "secret"]  # to roles that only search

"""Create and drop an index: options → catalogue row, tables, triggers; open choices follow from the table."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection, Engine, Table, func, insert, inspect, select
from sqlalchemy import table as source_table
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateTable, DropTable

from dbsim.errors import IndexExists, InvalidOption, UnknownName
from dbsim.hashing.bloom import cardinality, choose_size
from dbsim.options import Field, IndexOptions
from dbsim.store import catalogue, group_tables
from dbsim.store.backend import Backend
from dbsim.store.group_tables import GroupTables
from dbsim.store.reading import key_columns, source_rows, texts
from dbsim.store.source import Source
from dbsim.store.tables import IndexTables
from dbsim.store.transactions import read, write
from dbsim.text.normalise import UNICODE_VERSION
from dbsim.text.tokens import TokenHasher

TableHook = Callable[[Connection, Table], None]  # after CREATE TABLE, e.g. Citus' create_distributed_table
# dbsim_a_k0 belongs to index a
DERIVED = re.compile(rf"_(queue|pairs|buckets|signatures|fingerprint|pkey|k\d+|{'|'.join(group_tables.SUFFIXES)})$")
SAMPLE = 500  # rows from each end of the table
SHORT = 12  # words: in shorter texts one changed word spoils most 3-word shingles, so characters are compared


def create(
    engine: Engine,
    backend: Backend,
    asked: IndexOptions,
    given: Sequence[str],
    secret: bytes | None = None,
    after_create_table: TableHook | None = None,
    bucket: int = 0,
) -> bool:
    """True when made, False when an index with the same options was there; `given` names the user's own choices.

    With a `bucket` size rows and keys follow from it and from the table's size as it is now.
    """
    source = read(engine, backend, lambda c: find_source(c, backend, asked.table, asked.schema))
    source.require(asked.columns, backend.not_text, backend.not_key)
    asked = replace(asked, table=source.table, schema=source.schema)
    _check_name(asked.name)
    if bucket:
        asked = asked.with_plan(bucket, read(engine, backend, lambda c: _count(c, source)))
    if _same_exists(engine, backend, asked, given):
        return False
    record = read(engine, backend, lambda c: _record(c, backend, asked, source, secret))
    if record.options.inline:
        read(engine, backend, lambda c: backend.require_inline(c, IndexTables(record), source))
    try:
        write(engine, backend, lambda c: _create(c, backend, IndexTables(record), after_create_table))
    except IntegrityError:  # made by somebody else since we looked
        if not _same_exists(engine, backend, asked, given):
            raise
        return False
    return True


def drop(engine: Engine, backend: Backend, name: str) -> None:
    """Triggers first, so that the application never writes into a table that is gone."""

    def work(connection: Connection) -> None:
        tables = IndexTables(catalogue.load(connection, name))
        if tables.record.options.triggers:
            backend.drop_triggers(connection, tables)
        group_tables.drop(connection, GroupTables(tables))
        backend.drop_surface(connection, tables)
        catalogue.remove(connection, name)
        show_status(connection, backend)
        for table in (tables.queue, tables.signatures):
            connection.execute(DropTable(table, if_exists=True))

    write(engine, backend, work)


def show(connection: Connection, backend: Backend, tables: IndexTables) -> None:
    """Views and functions for SQL; before the triggers, which may sign with them."""
    backend.create_surface(connection, tables)
    show_status(connection, backend)


def show_status(connection: Connection, backend: Backend) -> None:
    names = catalogue.names(connection)
    backend.show_status(connection, [IndexTables(catalogue.load(connection, name)) for name in names])


def find_source(connection: Connection, backend: Backend, table: str, schema: str | None) -> Source:
    """The table; "schema.table" is read as such when no table has the whole name."""
    found = backend.describe(connection, table, schema)
    if found is None and schema is None and "." in table:
        first, _, rest = table.partition(".")
        found = backend.describe(connection, rest, first)
    if found is None:
        shown = [name for name in backend.table_names(connection) if not name.startswith(("dbsim_", "sqlite_"))]
        raise UnknownName("table", table if schema is None else f"{schema}.{table}", shown)
    return found


def _check_name(name: str) -> None:
    if not name or name.lower() in catalogue.RESERVED or DERIVED.search(name.lower()):
        raise InvalidOption(f"an index cannot be called {name!r}: dbsim needs that name itself, choose another")
    if "\0" in name:
        raise InvalidOption("an index name cannot contain a NUL character")


def _same_exists(engine: Engine, backend: Backend, asked: IndexOptions, given: Sequence[str]) -> bool:
    if not read(engine, backend, lambda c: catalogue.exists(c, asked.name)):
        return False
    existing = read(engine, backend, lambda c: catalogue.load(c, asked.name)).options
    differences = existing.differences(asked.with_plan(), given)
    if differences:
        raise IndexExists(asked.name, differences)
    return True


def _record(
    connection: Connection, backend: Backend, asked: IndexOptions, source: Source, secret: bytes | None
) -> catalogue.IndexRecord:
    record = catalogue.IndexRecord(
        options=asked.with_plan(),
        primary_key=source.primary_key,
        secret=secret or secrets.token_bytes(16),
        unicode_version=UNICODE_VERSION,
        generation=1,
        state=catalogue.FILLING,
    )
    if all(field.resolved for field in asked.fields):
        return record
    sample = _sample(connection, backend, IndexTables(record))
    fields = tuple(_resolve(field, column) for field, column in zip(asked.fields, sample, strict=True))
    return replace(record, options=replace(record.options, fields=fields))


def _count(connection: Connection, source: Source) -> int:
    table = source_table(source.table, schema=source.schema)
    return connection.scalar(select(func.count()).select_from(table)) or 0


def _sample(connection: Connection, backend: Backend, tables: IndexTables) -> list[list[str]]:
    """Texts of each field from both ends of the primary key, which an index finds in a table of any size."""
    columns = key_columns(tables.source, tables)
    found: list[list[str]] = [[] for _ in tables.record.options.fields]
    for order in (columns, [column.desc() for column in columns]):
        query = source_rows(backend, tables).order_by(*order).limit(SAMPLE)
        for batch in texts(connection, backend, tables, query):
            for all_texts, some in zip(found, batch.columns, strict=True):
                all_texts += [text for text in some if text.strip()]
    return found


def _resolve(field: Field, sample: Sequence[str]) -> Field:
    """Unit, size, bits and sampling that suit these texts."""
    hasher = TokenHasher(b"")
    if field.unit is None:
        words = replace(field, unit="words", size=1).analyser().tokens(sample, hasher).counts
        short = len(words) > 0 and float(np.median(words)) < SHORT
        field = replace(field, unit="characters" if short else "words")
    field = replace(field, size=field.size or 3)
    analyser = field.analyser()
    bits, step = choose_size(analyser.features(analyser.tokens(sample, hasher)).counts)
    return replace(field, bits=field.bits or bits, sample=field.sample or (1 if field.bits else step))


def _create(
    connection: Connection, backend: Backend, tables: IndexTables, after_create_table: TableHook | None
) -> None:
    catalogue.add(connection, tables.record)
    for table in (backend.stored_table(tables), tables.queue):
        if inspect(connection).has_table(table.name):
            raise InvalidOption(f"there is a table {table.name!r} already: choose another name for the index")
        connection.execute(CreateTable(table))
        if after_create_table is not None:
            after_create_table(connection, table)
    for size in {field.bits for field in tables.record.options.fields}:
        _add_cardinalities(connection, size)
    show(connection, backend, tables)
    if tables.record.options.triggers:
        backend.create_triggers(connection, tables)


def _add_cardinalities(connection: Connection, size: int) -> None:
    """The estimate behind every popcount, for SQL without a logarithm."""
    table = catalogue.cardinality_table
    if connection.execute(select(table.c.bits).where(table.c.bits == size).limit(1)).first() is None:
        rows = [{"bits": size, "count": count, "estimate": value} for count, value in enumerate(cardinality(size))]
        connection.execute(insert(table), rows)

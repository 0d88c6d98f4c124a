"""Create and drop an index: options → catalogue row, tables, triggers; open choices follow from the table."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection, Engine, func, inspect, select
from sqlalchemy import table as source_table

from dbsim.choosing import WordSample, open_signatures, planned, resolve, word_samples
from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.engines.source_rows import source_rows, texts
from dbsim.engines.source_sample import sample_of
from dbsim.engines.transactions import read, write
from dbsim.errors import IndexExists, InvalidOption, UnknownName
from dbsim.lifecycle import decisions
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.retire import empty
from dbsim.lifecycle.statements import drop_statements, drop_table, table_statements
from dbsim.options import IndexOptions
from dbsim.tables import catalogue
from dbsim.tables.decision_tables import decisions_name
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables, links_name, memory_name, queue_name, signatures_name
from dbsim.tables.key_conditions import key_columns
from dbsim.tables.source import PrimaryKey, Source
from dbsim.text.normalisers.unicode_table import UNICODE_VERSION

LOCK_WAIT = "50ms"  # how long readers of dbsim's views may queue behind a change of them
SAMPLE = 500  # rows from each end of the table
WORD_SAMPLE = 1000  # rows of all over it, whose lengths decide about word signatures


def create(
    engine: Engine,
    backend: Backend,
    asked: IndexOptions,
    given: Sequence[str],
    secret: bytes | None = None,
    after_create_table: TableHook | None = None,
    bucket: int = 0,
    distributed: bool | None = None,
) -> bool:
    """True when made, False when an index with the same options was there; `given` names the user's own choices.

    With a `bucket` size rows and keys follow from it and from the table's size as it is now. Left open, the database
    says whether the table is `distributed`.
    """
    source = read(engine, backend, lambda c: find_source(c, backend, asked.table, asked.schema))
    source.require(asked.columns, backend.not_text, backend.not_key)
    if asked.changed and asked.changed not in source.columns:
        raise UnknownName(f"column of table {source.table!r} named", asked.changed, source.columns)
    if asked.tablespace and asked.tablespace not in (known := read(engine, backend, backend.tablespaces)):
        raise UnknownName("tablespace", asked.tablespace, known)
    asked = _placed(engine, backend, replace(asked, table=source.table, schema=source.schema), source, distributed)
    catalogue.check_name(asked.name)
    if bucket:
        asked = asked.with_plan(bucket, read(engine, backend, lambda c: _count(c, source)))
    if read(engine, backend, lambda c: same_exists(c, asked, given)):
        return False
    options = read(engine, backend, lambda c: resolved(c, backend, asked, source))
    record = new_record(options, source.primary_key, secrets.token_bytes(16) if secret is None else secret)
    if options.inline:
        read(engine, backend, lambda c: backend.require_inline(c, IndexTables(record), source))

    def work(connection: Connection) -> bool:
        backend.alone(connection)
        backend.limit_lock_wait(connection, LOCK_WAIT)
        if same_exists(connection, asked, given):  # made by somebody else since we looked
            return False
        require_free(connection, asked.name)
        if options.distributed:
            backend.before_spreading(connection)
        run(connection, table_statements(backend, record, after_create_table))
        show(connection, backend, IndexTables(record), after_create_table)
        if options.triggers:  # last: nothing is waited for after the lock on the table
            run(connection, backend.create_triggers(IndexTables(record), connection))
        return True

    return write(engine, backend, work)


def _placed(
    engine: Engine, backend: Backend, asked: IndexOptions, source: Source, distributed: bool | None
) -> IndexOptions:
    """Citus has no triggers on distributed tables: an index of such a table goes without."""
    if distributed is None or distributed:
        distributed = read(engine, backend, lambda c: backend.is_distributed(c, source, required=bool(distributed)))
    if not distributed:
        return asked
    if asked.inline:
        raise InvalidOption(f"table {source.table!r} is distributed, and Citus has no triggers there: leave out inline")
    return replace(asked, distributed=True, triggers=False)


def drop(engine: Engine, backend: Backend, name: str) -> None:
    """All generations, the queue, the triggers, the catalogue rows."""
    if backend.writers_wait:
        for record in read(engine, backend, lambda c: catalogue.generations(c, name)):
            empty(partial(write, engine, backend), backend, record, partial(catalogue.is_unchanged, record=record))

    def work(connection: Connection) -> None:
        catalogue.load(connection, name)
        drop_in(connection, backend, name)

    write(engine, backend, work)


def drop_in(connection: Connection, backend: Backend, name: str) -> None:
    """In the caller's transaction; also what is left of an index that a killed migration has half dropped."""
    backend.change(connection, name)
    found = catalogue.generations(connection, name, lock=True)
    others = backend.status_statements(connection, _indexes(connection, but=name))
    run(connection, _drop_links(connection, name))  # the host's table is locked last
    run(connection, drop_statements(backend, name, [record.generation for record in found] or [1], others))


def _drop_links(connection: Connection, name: str) -> list[str]:
    """Links with other indexes of this database, unless an index is called so."""
    known = catalogue.names(connection)
    taken = {signatures_name(one, 1) for one in known}
    tables = [links_name(*pair) for other in known for pair in ((name, other), (other, name))]
    return [drop_table(table) for table in (*tables, memory_name(name)) if table not in taken]


def show(
    connection: Connection, backend: Backend, tables: IndexTables, after_create_table: TableHook | None = None
) -> None:
    """Views and functions for SQL; before the triggers, which may sign with them. An old index has no decisions yet."""
    decisions.create(connection, backend, tables, after_create_table)
    if tables.record.options.distributed:  # whose view of pairs shows what is stored of them
        stored_groups.create(connection, backend, GroupTables(tables), after_create_table)
    backend.create_surface(connection, tables)
    show_status(connection, backend)


def outdated(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    """Whether triggers, views or functions are of an earlier dbsim: they work until `sync` makes them anew."""
    triggers = tables.record.options.triggers and backend.outdated_triggers(connection, tables)
    return triggers or backend.outdated_surface(connection, tables)


def show_status(connection: Connection, backend: Backend) -> None:
    run(connection, backend.status_statements(connection, _indexes(connection)))


def _indexes(connection: Connection, but: str | None = None) -> list[IndexTables]:
    names = catalogue.names(connection)
    return [IndexTables(catalogue.load(connection, name)) for name in names if name != but]


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


def require_free(connection: Connection, name: str) -> None:
    """A table of the application's that has the name of one of the index's is neither used nor replaced."""
    for table in (signatures_name(name, 1), queue_name(name), decisions_name(name)):
        if inspect(connection).has_table(table):
            raise InvalidOption(f"there is a table {table!r} already: choose another name for the index")


def same_exists(connection: Connection, asked: IndexOptions, given: Sequence[str]) -> bool:
    """Whether the index is there already; IndexExists when it is with other options."""
    found = catalogue.generations(connection, asked.name)  # in one statement: it may be dropped after a first look
    if not found:
        return False
    differences = found[0].options.differences(asked.with_plan(), given)
    if differences:
        raise IndexExists(asked.name, differences)
    return True


def new_record(options: IndexOptions, primary_key: PrimaryKey, secret: bytes | None = None) -> catalogue.IndexRecord:
    """Without a secret the database draws one when it is written."""
    if secret is not None and not secret:
        raise InvalidOption("a secret of no bytes keeps nothing secret: leave it out, and one is drawn")
    return catalogue.IndexRecord(
        options=options, primary_key=primary_key, secret=secret or b"", unicode_version=UNICODE_VERSION
    )


def resolved(connection: Connection, backend: Backend, asked: IndexOptions, source: Source) -> IndexOptions:
    """Everything filled in that was left open: rows and keys by what they cost on this table, the fields likewise."""
    options = asked.with_plan()
    if asked.rows and all(field.resolved for field in options.fields):
        return options
    tables = IndexTables(new_record(options, source.primary_key))
    sample = texts_at_both_ends(connection, backend, tables)
    with_text = [[text for text in column if text.strip()] for column in sample]
    spread: Sequence[WordSample | None] = [None] * len(options.fields)
    if open_signatures(options):
        spread = word_samples(options, *sample_of(connection, backend, tables, WORD_SAMPLE))
    paired = zip(options.fields, with_text, spread, strict=True)
    fields = (resolve(field, column, options.threshold, lengths) for field, column, lengths in paired)
    options = replace(options, fields=tuple(fields))
    free = ":" not in asked.family
    return options if asked.rows else planned(options, sample, lambda: _count(connection, source), free=free)


def _count(connection: Connection, source: Source) -> int:
    table = source_table(source.table, schema=source.schema)
    return connection.scalar(select(func.count()).select_from(table)) or 0


def texts_at_both_ends(
    connection: Connection, backend: Backend, tables: IndexTables, size: int = SAMPLE
) -> list[list[str]]:
    """Texts of each field from both ends of the primary key, which an index finds in a table of any size."""
    columns = key_columns(tables.source, tables)
    found: list[list[str]] = [[] for _ in tables.record.options.fields]
    for order in (columns, [column.desc() for column in columns]):
        query = source_rows(backend, tables).order_by(*order).limit(size)
        for batch in texts(connection, backend, tables, query):
            for all_texts, some in zip(found, batch.columns, strict=True):
                all_texts += some
    return found

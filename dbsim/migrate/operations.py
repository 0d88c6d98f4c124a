"""Functions of Alembic's `op` for an application's migrations, online and offline (`alembic upgrade --sql`).

Rows are never read or signed here: the next `dbsim sync` does that. All of it may be repeated after a kill.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace

from alembic.operations import Operations
from sqlalchemy import Connection, inspect

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.engines.registry import backend_for_dialect
from dbsim.errors import InvalidOption, UnknownName
from dbsim.lifecycle import schema
from dbsim.lifecycle.alter import generation_for
from dbsim.lifecycle.create import drop_in, find_source, new_record, require_free, resolved, same_exists, show
from dbsim.lifecycle.rename import Renames, rename
from dbsim.lifecycle.statements import alter_statements, create_statements, drop_statements, table_statements
from dbsim.options import IndexOptions
from dbsim.tables import catalogue, versions
from dbsim.tables.catalogue import IndexRecord
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import PrimaryKey, Source
from dbsim.tables.versions import BASE
from dbsim.tables.versions.v0001 import count_documents

OFFLINE_GENERATIONS = range(1, 10)  # which of them exist cannot be asked without a connection
OPTIONS = ("table", "family", "threshold", "recall", "rows", "keys", "triggers")
KeyTypes = Mapping[str, str] | Mapping[str, Mapping[str, str]]  # of the key's columns, or for each dialect
log = logging.getLogger("dbsim.migrate")


# ── dbsim's own tables ──
def upgrade(op: Operations, to: str | None = None, since: str | None = None) -> None:
    """Raise dbsim's tables to version `to` (this code's); offline from version `since`, by default from nothing."""
    to = to or versions.current()
    versions.require(to)
    found = (since or BASE) if offline(op) else _found(op)
    if found == BASE or found < to:  # another application in this database may have been here
        versions.upgrade(op, found, to)
        close(op)


def close(op: Operations) -> None:
    """Nobody but their owner reads dbsim's tables; what each is for is said in a comment."""
    emit(op, backend_for(op).table_settings(schema.CLOSED))


def downgrade(op: Operations, to: str = BASE, since: str | None = None, *, documents: bool = False) -> None:
    """Lower dbsim's tables to version `to`; "base" removes them, unless somebody's indexes are left in them.

    dbsim_document stays when it has rows, which somebody imported (and in a script for SQLite always), unless
    `documents=True` says that they may go.
    """
    versions.require(to)
    found = (since or versions.current()) if offline(op) else _found(op)
    if found == BASE or (to != BASE and found <= to):
        return
    if to == BASE and not offline(op) and (left := catalogue.names(op.get_bind())):
        log.warning("dbsim's tables stay, because they hold the indexes %s", ", ".join(left))
        return
    if to == BASE:
        emit(op, backend_for(op).drop_shared())
    if not offline(op):  # which indexes there are cannot be asked without a connection
        schema.take_back(op.get_bind(), backend_for(op), to)
    versions.downgrade(op, found, to, documents)
    if to == BASE and not offline(op) and (count := count_documents(op.get_bind())):
        log.warning("dbsim_document stays with its %d imported rows: drop it yourself, or say documents=True", count)


def _found(op: Operations) -> str:
    backend_for(op).alone(op.get_bind())
    return versions.found(op)


# ── indexes ──
def create_index(
    op: Operations,
    options: IndexOptions,
    *,
    primary_key: KeyTypes | None = None,
    secret: bytes | None = None,
    home: str = "public",
    after_create_table: TableHook | None = None,
) -> None:
    """Create an index. `primary_key` is needed offline, where the table cannot be looked at: {"id": "BIGINT"}, or
    one such for each dialect's name. Online the table's own types count.

    Without `secret` the database draws one when the statement runs, so that none lies in a repository. An inline index
    also needs to know offline which schema is the `home` of dbsim's tables.
    """
    catalogue.check_name(options.name)
    options = options.with_secret()
    key = key_of(op, primary_key)
    if offline(op):
        record = new_record(complete(options, key), key, secret)
    else:
        record = _new_or_there(op.get_bind(), backend_for(op), options, key, secret)
    if not options.inline:
        connection = None if offline(op) else op.get_bind()
        emit(op, create_statements(backend_for(op), record, connection, after_create_table))
        return
    if offline(op):
        emit(op, written_statements(backend_for(op), record, home, after_create_table))
        return
    emit(op, table_statements(backend_for(op), record, after_create_table))
    tables = IndexTables(catalogue.load(op.get_bind(), options.name))  # with the secret that was drawn
    show(op.get_bind(), backend_for(op), tables)
    emit(op, backend_for(op).create_triggers(tables, op.get_bind(), patient=True))


def written_statements(
    backend: Backend, record: IndexRecord, home: str, after_create_table: TableHook | None = None
) -> list[str]:
    """Everything of an index for a script: tables, views, functions, and triggers that may sign; they name schemas."""
    if record.options.inline and not backend.searches_in_sql:
        raise InvalidOption(f"an inline index needs a database that can sign, which {backend.name} cannot: say queued")
    if (
        backend.searches_in_sql and record.options.schema is None
    ):  # functions do not look names up where the caller does
        record = replace(record, options=replace(record.options, schema=home))
    tables = IndexTables(record)
    return [
        *table_statements(backend, record, after_create_table),
        *backend.require_key(tables),
        *backend.surface_statements(tables, home),
        *(backend.written_triggers(tables, home) if record.options.triggers else ()),
    ]


def alter_index(
    op: Operations,
    options: IndexOptions,
    *,
    generation: int | None = None,
    primary_key: KeyTypes | None = None,
    after_create_table: TableHook | None = None,
) -> None:
    """Ask for other options: the next `dbsim sync` builds them as a generation of their own, then searches use it.

    Searches go on meanwhile with the present generation. `generation` numbers the options (1 is what create_index
    made) and is needed offline; going back to a generation that still exists costs nothing.
    """
    options = options.with_secret()
    key = key_of(op, primary_key)
    if offline(op):
        if generation is None:
            raise _incomplete(options, ["generation=2 (or the number after the last one)"])
        record = replace(new_record(complete(options, key), key), generation=generation)
    else:
        record = _generation(op.get_bind(), backend_for(op), options, generation)
    emit(op, alter_statements(backend_for(op), record, after_create_table))


def drop_index(op: Operations, name: str) -> None:
    """Remove an index with its tables and triggers; nothing happens when there is none."""
    if offline(op):
        emit(op, drop_statements(backend_for(op), name, OFFLINE_GENERATIONS))
        return
    connection = op.get_bind()
    backend_for(op).alone(connection)
    if inspect(connection).has_table("dbsim_index"):
        drop_in(connection, backend_for(op), name)


def rename_column(op: Operations, table: str, old: str, new: str, *, schema: str | None = None) -> None:
    """After `op.alter_column(table, old, new_column_name=new)`: the indexes on the table go on, nothing is rebuilt."""
    _rename(op, table, schema, {old: new}, Renames(columns={old: new}))


def rename_table(
    op: Operations, old: str, new: str, *, schema: str | None = None, new_schema: str | None = None
) -> None:
    """After `op.rename_table(old, new)`, or a change of its schema: every index on it goes on, nothing is rebuilt."""
    _rename(op, old, schema, {old: new}, Renames(table=new, schema=new_schema or schema))


def _rename(op: Operations, table: str, schema: str | None, shown: Mapping[str, str], renames: Renames) -> None:
    if offline(op):  # which indexes there are cannot be asked; `status` and `sync` name the command as well
        (pair,) = (f"{old}={new}" for old, new in shown.items())
        context = op.get_context()
        context.impl.static_output(f"-- then, for each index of dbsim on {table}: dbsim alter DB INDEX --rename {pair}")
        return
    connection, backend = op.get_bind(), backend_for(op)
    backend.alone(connection)
    if not inspect(connection).has_table("dbsim_index"):
        return
    for name in catalogue.names(connection):
        options = catalogue.load(connection, name).options
        if options.table == table and schema in (None, options.schema):
            rename(connection, backend, name, renames)


def _new_or_there(
    connection: Connection, backend: Backend, options: IndexOptions, key: PrimaryKey, secret: bytes | None
) -> catalogue.IndexRecord:
    """A record for a new index; of one that is there, its own, so that what a killed run left out is made up for."""
    backend.alone(connection)
    source = _source(connection, backend, options)
    if key and {name for name, _ in key} != {name for name, _ in source.primary_key}:
        there = ", ".join(name for name, _ in source.primary_key)
        raise InvalidOption(f"the primary key of {options.table!r} is {there}: write it so in primary_key=…")
    if same_exists(connection, options, OPTIONS):
        return catalogue.load(connection, options.name)
    require_free(connection, options.name)
    if options.inline:  # its functions read the table, under a search path of their own
        options = replace(options, schema=source.schema)
    record = new_record(resolved(connection, backend, options, source), source.primary_key, secret)
    if options.inline:
        backend.require_inline(connection, IndexTables(record), source)
    return record


def _generation(
    connection: Connection, backend: Backend, options: IndexOptions, number: int | None
) -> catalogue.IndexRecord:
    backend.alone(connection)
    found = catalogue.generations(connection, options.name, lock=True)
    if not found:
        raise UnknownName("index", options.name, catalogue.names(connection))
    options = replace(options, schema=options.schema or found[0].options.schema)
    source = _source(connection, backend, options)
    record = generation_for(found, resolved(connection, backend, options, source), number)
    if record.options.inline:
        backend.require_inline(connection, IndexTables(record), source)
    return record


def _source(connection: Connection, backend: Backend, options: IndexOptions) -> Source:
    source = find_source(connection, backend, options.table, options.schema)
    source.require(options.columns, backend.not_text, backend.not_key)
    return source


def key_of(op: Operations, given: KeyTypes | None) -> PrimaryKey:
    """Names and types of the key as the migration has them for this dialect."""
    dialect, found = backend_for(op).name, dict(given or {})
    if found and all(isinstance(types, Mapping) for types in found.values()):
        found = dict(found.get(dialect, {}))  # type: ignore[arg-type]
    return tuple((name, backend_for(op).type_name(str(type_))) for name, type_ in found.items())


# ── offline ──
def offline(op: Operations) -> bool:
    return bool(op.get_context().as_sql)


def complete(options: IndexOptions, primary_key: PrimaryKey) -> IndexOptions:
    """The options when nothing in them needs a look at the table; otherwise an error that names what is missing."""
    missing = [] if primary_key else ['primary_key={"column": "TYPE"}']
    for field in options.fields:
        names = ("unit", "size", "bits", *(("word_bits", "word_marks") if field.false_drops else ()))
        missing += [f"{name} of {field.name}" for name in names if not getattr(field, name)]
    if missing:
        raise _incomplete(options, missing)
    fields = tuple(
        replace(field, sample=field.sample or 1, normaliser=field.normaliser or "text") for field in options.fields
    )
    return replace(options, fields=fields).with_plan()


def _incomplete(options: IndexOptions, missing: Iterable[str]) -> InvalidOption:
    return InvalidOption(
        f"without a connection index {options.name!r} also needs {', '.join(missing)}: "
        f"write them into the migration, or let `dbsim init-migration` write it from the live database"
    )


def emit(op: Operations, statements: Iterable[str]) -> None:
    """Run the statements, or print them as they are: Alembic's own way would take colons and tabs for its own."""
    context = op.get_context()
    if not context.as_sql:
        run(op.get_bind(), statements)
        return
    for statement in statements:
        context.impl.static_output(statement + context.impl.command_terminator)


def backend_for(op: Operations) -> Backend:
    return backend_for_dialect(op.get_context().dialect)

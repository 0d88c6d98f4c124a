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
from dbsim.lifecycle.create import drop_in, find_source, new_record, require_free, resolved, same_exists
from dbsim.lifecycle.statements import alter_statements, create_statements, drop_statements
from dbsim.options import IndexOptions
from dbsim.tables import catalogue, versions
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import PrimaryKey, Source
from dbsim.tables.versions import BASE

OFFLINE_GENERATIONS = range(1, 10)  # which of them exist cannot be asked without a connection
OPTIONS = ("table", "family", "threshold", "recall", "rows", "keys", "triggers")
log = logging.getLogger("dbsim.migrate")


# ── dbsim's own tables ──
def upgrade(op: Operations, to: str | None = None, since: str | None = None) -> None:
    """Raise dbsim's tables to version `to` (this code's); offline from version `since`, by default from nothing."""
    to = to or versions.current()
    versions.require(to)
    found = (since or BASE) if offline(op) else _found(op)
    if found == BASE or found < to:  # another application in this database may have been here
        versions.upgrade(op, found, to)
        emit(op, backend_for(op).table_settings(schema.CLOSED))


def downgrade(op: Operations, to: str = BASE, since: str | None = None) -> None:
    """Lower dbsim's tables to version `to`; "base" removes them, unless somebody's indexes are left in them."""
    versions.require(to)
    found = (since or versions.current()) if offline(op) else _found(op)
    if found == BASE or (to != BASE and found <= to):
        return
    if to == BASE and not offline(op) and (left := catalogue.names(op.get_bind())):
        log.warning("dbsim's tables stay, because they hold the indexes %s", ", ".join(left))
        return
    if to == BASE:
        emit(op, backend_for(op).drop_shared())
    versions.downgrade(op, found, to)


def _found(op: Operations) -> str:
    backend_for(op).alone(op.get_bind())
    return versions.found(op)


# ── indexes ──
def create_index(
    op: Operations,
    options: IndexOptions,
    *,
    primary_key: Mapping[str, str] | None = None,
    secret: bytes = b"",
    after_create_table: TableHook | None = None,
) -> None:
    """Create an index. `primary_key` ({"id": "BIGINT"}) is needed offline, where the table cannot be looked at.

    Without `secret` the database draws one when the statement runs, so that none lies in a repository.
    """
    catalogue.check_name(options.name)
    if options.inline:
        raise InvalidOption("an index becomes inline once it is filled: create it queued, then run `dbsim inline`")
    key = tuple((primary_key or {}).items())
    if offline(op):
        record = new_record(complete(options, key), key, secret)
    else:
        record = _new_or_there(op.get_bind(), backend_for(op), options, key, secret)
    emit(op, create_statements(backend_for(op), record, after_create_table))


def alter_index(
    op: Operations,
    options: IndexOptions,
    *,
    generation: int | None = None,
    primary_key: Mapping[str, str] | None = None,
    after_create_table: TableHook | None = None,
) -> None:
    """Ask for other options: the next `dbsim sync` builds them as a generation of their own, then searches use it.

    Searches go on meanwhile with the present generation. `generation` numbers the options (1 is what create_index
    made) and is needed offline; going back to a generation that still exists costs nothing.
    """
    key = tuple((primary_key or {}).items())
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


def _new_or_there(
    connection: Connection, backend: Backend, options: IndexOptions, key: PrimaryKey, secret: bytes
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
    return new_record(resolved(connection, backend, options, source), key or source.primary_key, secret)


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

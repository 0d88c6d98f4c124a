"""The statements that define an index, as text: IndexRecord → list[str].

Run time (create.py, alter.py), migrations and `dbsim sql` all take them from here, so that the result is the same.
Each may find its work done, because SQLite commits statements one by one in a migration that can be killed anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Table
from sqlalchemy.schema import CreateTable

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook
from dbsim.tables.catalogue import FILLING, GROUP_TABLES, GROUP_VIEWS, IndexRecord
from dbsim.tables.decision_tables import DecisionTables, decisions_name
from dbsim.tables.index_tables import IndexTables, feed_table, queue_name, signatures_name
from dbsim.tables.names import identifier, literal, quote
from dbsim.tables.slice_tables import slice_names


def create_statements(
    backend: Backend, record: IndexRecord, connection: Connection | None, after_create_table: TableHook | None = None
) -> list[str]:
    """Catalogue row, tables, triggers. Without a secret in the record the database draws one, so none is in a file.

    Views and functions for SQL come with the first `sync`: they need to see the database.
    """
    tables = IndexTables(record)
    triggers = backend.create_triggers(tables, connection, patient=True) if record.options.triggers else []
    key = backend.require_key(tables)
    return [*table_statements(backend, record, after_create_table), *key, *triggers]


def table_statements(backend: Backend, record: IndexRecord, after_create_table: TableHook | None = None) -> list[str]:
    tables = IndexTables(record)
    return [
        _insert_index(backend, record),
        *_create_table(backend, tables, backend.stored_table(tables), after_create_table),
        *_create_table(backend, tables, tables.queue, after_create_table),
        *_create_table(backend, tables, DecisionTables.of(tables).decisions, after_create_table),
        str(DecisionTables.of(tables).index().compile(dialect=backend.dialect)),
        *(
            _create_table(backend, tables, feed_table(record.name), after_create_table)
            if record.options.changed
            else ()
        ),
    ]


def alter_statements(backend: Backend, record: IndexRecord, after_create_table: TableHook | None = None) -> list[str]:
    """Ask for this generation: one that exists is taken as it is, otherwise the next `sync` builds it."""
    name, generation = literal(record.name), record.generation
    options = record.options
    beside = (
        "INSERT INTO dbsim_generation (index_name, generation, options, family, state)\n"
        f"SELECT name, {generation}, {literal(options.to_json())}, {literal(options.family)}, {literal(FILLING)}\n"
        f"FROM dbsim_index WHERE name = {name} AND generation <> {generation}\n"
        "ON CONFLICT (index_name, generation) DO UPDATE SET retired_at = NULL"
    )
    return [
        f"UPDATE dbsim_index SET wanted = {generation} WHERE name = {name}",
        beside,
        *_create_table(backend, IndexTables(record), backend.stored_table(IndexTables(record)), after_create_table),
    ]


def drop_statements(backend: Backend, name: str, generations: Iterable[int], shown: Sequence[str] = ()) -> list[str]:
    """Everything of an index; `shown` are the statements that leave it out of the view of all indexes."""
    tables = [
        decisions_name(name),
        feed_table(name).name,
        identifier("dbsim", name, "flagged"),
        *(table for generation in generations for table in generation_tables(name, generation)),
    ]
    rows = [("dbsim_quarantine", "index_name"), ("dbsim_model", "index_name"), ("dbsim_generation", "index_name")]
    own = [
        *backend.drop_surface(name),  # of which a view may read what is stored of groups
        *drop_groups(name),
        *shown,
        *(drop_table(table) for table in tables),
        *(f"DELETE FROM {table} WHERE {key} = {literal(name)}" for table, key in [*rows, ("dbsim_index", "name")]),
    ]
    return backend.drop_everything(name, own, [drop_table(queue_name(name))])


def generation_tables(name: str, generation: int) -> list[str]:
    """The signatures of a generation, and what was made of them."""
    return [signatures_name(name, generation), *slice_names(name, generation)]


def drop_groups(name: str) -> list[str]:
    """Stored pairs and groups, and the views of them."""
    tables = (identifier("dbsim", name, suffix) for suffix in GROUP_TABLES)
    return [*drop_group_views(name), *(drop_table(table) for table in tables)]


def drop_group_views(name: str) -> list[str]:
    """Only the views."""
    return [f"DROP VIEW IF EXISTS {quote(identifier('dbsim', name, suffix))}" for suffix in GROUP_VIEWS]


def drop_table(name: str) -> str:
    return f"DROP TABLE IF EXISTS {quote(name)}"


def _insert_index(backend: Backend, record: IndexRecord) -> str:
    options = record.options
    values: Sequence[tuple[str, str]] = [
        ("name", literal(record.name)),
        ("source_schema", "NULL" if options.schema is None else literal(options.schema)),
        ("source_table", literal(options.table)),
        ("primary_key", literal(json.dumps(record.primary_key, ensure_ascii=False))),
        ("options", literal(options.to_json())),
        ("family", literal(options.family)),
        ("secret", _secret(backend, record)),
        ("unicode_version", literal(record.unicode_version)),
        ("generation", str(record.generation)),
        ("state", literal(record.state)),
        ("stamp", backend.random_hex),
        ("listening", "FALSE"),
    ]
    return (
        f"INSERT INTO dbsim_index ({', '.join(column for column, _ in values)})\n"
        f"VALUES ({', '.join(value for _, value in values)})\n"
        "ON CONFLICT (name) DO NOTHING"
    )


def _secret(backend: Backend, record: IndexRecord) -> str:
    if record.options.secret:  # which is kept outside
        return "''"
    return literal(record.secret.hex()) if record.secret else backend.random_hex


def _create_table(
    backend: Backend, tables: IndexTables, table: Table, after_create_table: TableHook | None
) -> list[str]:
    made = str(CreateTable(table, if_not_exists=True).compile(dialect=backend.dialect)).strip()
    return [made, *backend.table_settings([table.name]), *after_table(backend, tables, table, after_create_table)]


def after_table(backend: Backend, tables: IndexTables, table: Table, after_create_table: TableHook | None) -> list[str]:
    """What follows CREATE TABLE: on Citus its place among the nodes, then what the caller wants done with it."""
    options, hook = tables.record.options, after_create_table(table) if after_create_table is not None else ()
    if options.tablespace:
        return [*backend.into_tablespace(table.name, options.tablespace), *hook]
    local = (tables.queue.name, feed_table(options.name).name)  # which only `sync` uses there
    if not options.distributed or table.name in local:
        return list(hook)
    beside = quote(options.schema, options.table) if table.name == tables.signatures.name else None
    return [*backend.spread(table.name, beside), *hook]

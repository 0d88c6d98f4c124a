"""All that an index needs as one script, without a connection: (dialect, IndexOptions, primary key) → SQL."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from alembic.migration import MigrationContext
from alembic.operations import Operations

from dbsim.engines.backend import Backend
from dbsim.engines.registry import backend_named
from dbsim.lifecycle.create import new_record
from dbsim.migrate import operations
from dbsim.options import Field, IndexOptions
from dbsim.tables import catalogue, versions
from dbsim.tables.names import identifier, quote
from dbsim.tables.source import PrimaryKey
from dbsim.tables.versions import BASE

WORDS, BITS = 3, 1024  # what is compared, where the texts cannot be looked at


def index_sql(
    dialect: str, options: IndexOptions, primary_key: PrimaryKey, *, home: str = "public", since: str = BASE
) -> str:
    """dbsim's tables from version `since`, then the index with triggers, views and functions, in one transaction.

    `home` is the schema for dbsim's tables, where there are schemas. A database that can sign fills and searches the
    index with functions of its own; otherwise `dbsim sync` fills it.
    """
    catalogue.check_name(options.name)
    backend = backend_named(dialect)
    fields = tuple(_filled_in(field) for field in options.fields)
    record = new_record(operations.complete(replace(options, fields=fields), primary_key), primary_key)
    statements, out = operations.written_statements(backend, record, home), StringIO()
    settings = {"as_sql": True, "output_buffer": out, "literal_binds": True, "transactional_ddl": True}
    context = MigrationContext.configure(dialect_name=dialect, opts=settings)
    with context.begin_transaction():
        op = Operations(context)
        operations.emit(op, backend.go_home(home))
        if since != versions.current():
            operations.upgrade(op, None, since)
        operations.emit(op, statements)
    return f"{out.getvalue().rstrip()}\n\n{_next(backend, options.name)}\n"


def _filled_in(field: Field) -> Field:
    if field.unit and field.size:
        return replace(field, bits=field.bits or BITS)
    return replace(field, unit="words", size=WORDS, bits=field.bits or BITS)


def _next(backend: Backend, name: str) -> str:
    if not backend.searches_in_sql:
        return f"-- then, as often as rows are to be found: dbsim sync DB {name}"
    return f"-- then, until it returns 0: SELECT {quote(identifier('dbsim', name, 'fill'))}(10000);"

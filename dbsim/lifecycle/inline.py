"""Switch an index between queued and inline while it is in use (PostgreSQL).

Workers and inline triggers write the same rows; what keeps them apart is the gate (postgresql_install.py), which
workers take whenever the options say inline. So the options say it before the first trigger signs, and until the last
one has ended.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection, Engine

from dbsim.engines.backend import Backend
from dbsim.engines.execute import run
from dbsim.engines.transactions import read, write
from dbsim.lifecycle.create import find_source
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables


def set_inline(engine: Engine, backend: Backend, name: str, on: bool) -> None:
    """Safe to repeat, also after a kill between two steps."""

    def check(connection: Connection) -> IndexTables:
        tables = _tables(connection, name, on)
        if on:
            options = tables.record.options
            source = find_source(connection, backend, options.table, options.schema)
            backend.require_inline(connection, tables, source)
        return tables

    tables = read(engine, backend, check)
    if on:
        write(engine, backend, lambda c: catalogue.set_options(c, tables.record.options))
        backend.settle(engine)
    write(engine, backend, lambda c: run(c, backend.create_triggers(tables, c)))
    backend.settle(engine)
    if not on:
        write(engine, backend, lambda c: catalogue.set_options(c, tables.record.options))


def _tables(connection: Connection, name: str, on: bool) -> IndexTables:
    record = catalogue.load(connection, name)
    return IndexTables(replace(record, options=replace(record.options, inline=on)))

"""Create, find and drop the tables of stored pairs and groups: GroupTables → the tables and the view."""

from __future__ import annotations

from sqlalchemy import Connection, insert
from sqlalchemy.schema import CreateTable

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.lifecycle.statements import drop_groups
from dbsim.tables.group_tables import GroupTables


def exist(connection: Connection, backend: Backend, groups: GroupTables) -> bool:
    return backend.has_table(connection, groups.state.name)


def create(connection: Connection, backend: Backend, groups: GroupTables, after_create_table: TableHook | None) -> None:
    """Safe to repeat. No worker is in the middle of a change meanwhile, so none is missed from here on."""
    backend.lock_all(connection, groups.tables)
    if exist(connection, backend, groups):
        return
    for made in groups.all:
        connection.execute(CreateTable(made))
        run(connection, after_create_table(made) if after_create_table is not None else ())
    for index in groups.indexes():
        connection.execute(index)
    run(connection, [groups.view(), *backend.table_settings([*(made.name for made in groups.all), groups.groups.name])])
    empty = {"id": 1, "token": "", "version": 0, "pairing": "", "reached": None, "paired": False, "settled": False}
    connection.execute(insert(groups.state).values(**empty, generation=0, grouping="", limited=""))


def drop(connection: Connection, groups: GroupTables) -> None:
    run(connection, drop_groups(groups.tables.record.name))

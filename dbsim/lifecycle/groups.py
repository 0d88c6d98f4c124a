"""Create, find and drop the tables of stored pairs and groups: GroupTables → the tables and the view."""

from __future__ import annotations

from sqlalchemy import Connection, column, select, table
from sqlalchemy.schema import CreateTable

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.engines.stored_pairs import stored_pairs_name, stored_pairs_view
from dbsim.engines.views import PAIRS
from dbsim.lifecycle.statements import after_table, drop_groups
from dbsim.tables import group_results, group_state
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.names import identifier, quote

RENEW = "renew"  # in the place of a run's token: the next sync seeks these pairs


def exist(connection: Connection, backend: Backend, groups: GroupTables) -> bool:
    return backend.has_table(connection, groups.results.name)


def former(connection: Connection, backend: Backend, groups: GroupTables) -> tuple[str, str] | None:
    """How pairs and groups of version 0002, which knew one result only, were made: JSON of both, '' without groups."""
    # in this order: tables of today that appear between the two looks are not taken for former ones
    if not backend.has_table(connection, groups.state.name) or exist(connection, backend, groups):
        return None
    old = table(groups.state.name, column("pairing"), column("grouping"), column("generation"))
    row = connection.execute(select(old)).first()
    return None if row is None or not row.pairing else (row.pairing, row.grouping if row.generation else "")


def create(connection: Connection, backend: Backend, groups: GroupTables, after_create_table: TableHook | None) -> None:
    """Safe to repeat. No worker is in the middle of a change meanwhile, so none is missed from here on."""
    backend.lock_all(connection, groups.tables)
    if exist(connection, backend, groups):
        return
    drop(connection, groups)  # those of version 0002
    for made in groups.all:
        connection.execute(CreateTable(made))
        run(connection, after_table(backend, groups.tables, made, after_create_table))
    for index in groups.indexes():
        connection.execute(index)
    run(connection, backend.table_settings([made.name for made in groups.all]))
    show(connection, backend, groups)


def show(connection: Connection, backend: Backend, groups: GroupTables) -> None:
    """The views, where there are none."""
    run(connection, [*groups.views(), *backend.table_settings([groups.groups.name, groups.saved_groups.name])])
    _show_pairs(connection, backend, groups)


def complete_views(connection: Connection, backend: Backend, groups: GroupTables) -> None:
    """Groups that an earlier dbsim has stored have no view of their pairs."""
    if exist(connection, backend, groups) and not backend.has_table(connection, stored_pairs_name(groups)):
        _show_pairs(connection, backend, groups)


def _show_pairs(connection: Connection, backend: Backend, groups: GroupTables) -> None:
    if not groups.tables.record.options.distributed:  # where the view of pairs itself reads what is stored of them
        run(connection, [stored_pairs_view(groups), *backend.table_settings([stored_pairs_name(groups)])])


def renew(connection: Connection, backend: Backend, groups: GroupTables, after_create_table: TableHook | None) -> None:
    """Empty tables for another generation of the index, in which stands what the next `sync` has to make again."""
    if not exist(connection, backend, groups):
        drop(connection, groups)
        return
    pairings = group_state.all_states(connection, groups)
    results = group_results.complete(connection, groups)
    drop(connection, groups)
    create(connection, backend, groups, after_create_table)
    for old in pairings:
        made = group_state.add(connection, groups, old.pairing)
        group_state.save(connection, groups, made.id, token=RENEW)
        for result in results:
            if result.pairing == old.id:
                values = {"pairing": made.id, "grouping": result.grouping, "saved": result.saved}
                group_results.put(connection, groups, result.name, **values)


def drop(connection: Connection, groups: GroupTables) -> None:
    name = groups.tables.record.name
    if groups.tables.record.options.distributed:  # where the view of pairs reads what is stored of them
        run(connection, [f"DROP VIEW IF EXISTS {quote(identifier('dbsim', name, PAIRS))}"])
    run(connection, drop_groups(name))

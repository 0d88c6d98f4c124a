"""The table of decisions, made when it is first needed and kept in step with the rows: IndexTables → rows changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    ScalarSelect,
    case,
    delete,
    or_,
    select,
    update,
)
from sqlalchemy.schema import CreateTable

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.statements import after_table
from dbsim.tables.decision_tables import CHANGED, DecisionTables
from dbsim.tables.group_tables import GroupTables, note_changes
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import among, chunks
from dbsim.tables.source import Key


def exist(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    return backend.has_table(connection, DecisionTables.of(tables).decisions.name)


def create(
    connection: Connection, backend: Backend, tables: IndexTables, after_create_table: TableHook | None = None
) -> None:
    """Indexes made before there were decisions get the table when somebody decides."""
    if exist(connection, backend, tables):
        return
    made = DecisionTables.of(tables)
    connection.execute(CreateTable(made.decisions, if_not_exists=True))
    run(connection, backend.table_settings([made.decisions.name]))
    run(connection, after_table(backend, tables, made.decisions, after_create_table))
    connection.execute(made.index())


def forget(connection: Connection, tables: IndexTables, keys: Sequence[Key]) -> None:
    """Of these rows, those that are no longer stored take their decisions along."""
    for statement in DecisionTables.of(tables).without_rows(keys):
        connection.execute(statement)


def in_force(connection: Connection, backend: Backend, tables: IndexTables) -> list[tuple[Any, ...]]:
    """All decisions that count: both keys, the verdict, the fingerprints of both rows."""
    if not exist(connection, backend, tables):
        return []
    return [tuple(row) for row in connection.execute(DecisionTables.of(tables).in_force())]


def complete(connection: Connection, backend: Backend, tables: IndexTables) -> None:
    """What was written from SQL gets the fingerprints of the rows as they are now; without its rows it goes.

    Whatever came, went or changed since groups were made is noted, so that they are made again around it.
    """
    backend.lock_all(connection, tables)  # before any row, as workers do, because stored groups change with it
    decided = DecisionTables.of(tables)
    table = decided.decisions
    connection.execute(delete(table).where(decided.orphaned()))
    for side, column in enumerate((table.c.fingerprint_a, table.c.fingerprint_b)):
        connection.execute(update(table).where(column.is_(None)).values({column: _now(decided, side, tables)}))
    if stored_groups.exist(connection, backend, GroupTables.of(tables)):
        _respect(connection, backend, tables, decided)


def _respect(connection: Connection, backend: Backend, tables: IndexTables, decided: DecisionTables) -> None:
    groups, width = GroupTables.of(tables), len(tables.key_names)
    gone, new = ([tuple(row) for row in connection.execute(one)] for one in _differences(decided, groups))
    rows = [*gone, *new]
    keys = list(dict.fromkeys(key for row in rows for key in (row[:width], row[width : 2 * width])))
    for some in chunks(keys, backend.key_batch):
        note_changes(connection, tables, some, 0)
    pair = list(groups.respected.c)[: 2 * width]
    for some in chunks((row[: 2 * width] for row in gone), backend.key_batch):
        connection.execute(delete(groups.respected).where(among(pair, some)))
    backend.insert_rows(connection, groups.respected, new)


def _differences(decided: DecisionTables, groups: GroupTables) -> tuple[Any, Any]:
    """Decisions that groups respect and that are no more as they were; decisions in force that they do not know."""
    known, now = select(groups.respected), decided.in_force()
    return known.except_(now), now.except_(known)


def incomplete(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    """Whether `complete` has something to do."""
    decided, groups = DecisionTables.of(tables), GroupTables.of(tables)
    table = decided.decisions
    if not backend.has_table(connection, table.name):
        return False
    work = [table.c.fingerprint_a.is_(None), table.c.fingerprint_b.is_(None), decided.orphaned()]
    if connection.execute(select(table.c.verdict).where(or_(*work)).limit(1)).first() is not None:
        return True
    if not stored_groups.exist(connection, backend, groups):
        return False
    return any(connection.execute(one.limit(1)).first() is not None for one in _differences(decided, groups))


def carry_over(connection: Connection, backend: Backend, old: IndexTables, new: IndexTables) -> None:
    """Another generation has other fingerprints for the same texts; what was outdated stays so."""
    complete(connection, backend, old)
    decided = DecisionTables.of(old)
    table = decided.decisions
    for side, column in enumerate((table.c.fingerprint_a, table.c.fingerprint_b)):
        same = column == _now(decided, side, old)
        connection.execute(update(table).values({column: case((same, _now(decided, side, new)), else_=CHANGED)}))


def _now(decided: DecisionTables, side: int, tables: IndexTables) -> ScalarSelect[int]:
    stored = tables.signatures
    found = select(decided.fingerprint(stored)).where(decided.row(side, stored))
    return found.correlate(decided.decisions).scalar_subquery()

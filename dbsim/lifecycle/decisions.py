"""The table of decisions, made when it is first needed and kept in step with the rows: IndexTables → rows changed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, ScalarSelect, and_, case, delete, exists, not_, or_, select, update
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
    return backend.has_table(connection, DecisionTables(tables).decisions.name)


def create(
    connection: Connection, backend: Backend, tables: IndexTables, after_create_table: TableHook | None = None
) -> None:
    """Indexes made before there were decisions get the table when somebody decides."""
    if exist(connection, backend, tables):
        return
    made = DecisionTables(tables)
    connection.execute(CreateTable(made.decisions, if_not_exists=True))
    run(connection, backend.table_settings([made.decisions.name]))
    run(connection, after_table(backend, tables, made.decisions, after_create_table))
    connection.execute(made.index())


def forget(connection: Connection, tables: IndexTables, keys: Sequence[Key]) -> None:
    """Of these rows, those that are no longer stored take their decisions along."""
    decided, stored = DecisionTables(tables), tables.signatures
    for side in (0, 1):
        gone = not_(exists(select(stored.c[tables.key_names[0]]).where(decided.row(side, stored))))
        connection.execute(delete(decided.decisions).where(among(decided.keys(side), keys), gone))


def note(connection: Connection, backend: Backend, tables: IndexTables, keys: Sequence[Key]) -> None:
    """What was decided about these rows is another now: stored groups of them are to be made again."""
    if keys and stored_groups.exist(connection, backend, GroupTables(tables)):
        for some in chunks(keys, backend.key_batch):
            note_changes(connection, tables, some, 0)


def partners(connection: Connection, tables: IndexTables, keys: Sequence[Key]) -> list[Key]:
    """The rows that something was decided about together with these."""
    decided = DecisionTables(tables)
    found: list[Key] = []
    for side in (0, 1):
        query = select(*decided.keys(1 - side)).where(among(decided.keys(side), keys))
        found += [tuple(row) for row in connection.execute(query)]
    return found


def complete(connection: Connection, backend: Backend, tables: IndexTables) -> None:
    """What was written from SQL gets the fingerprints of the rows as they are now; without its rows it goes."""
    decided = DecisionTables(tables)
    table = decided.decisions
    new = or_(table.c.fingerprint_a.is_(None), table.c.fingerprint_b.is_(None), _orphaned(decided))
    for side in (0, 1):
        note(
            connection, backend, tables, [tuple(k) for k in connection.execute(select(*decided.keys(side)).where(new))]
        )
    connection.execute(delete(table).where(_orphaned(decided)))
    for side, column in enumerate((table.c.fingerprint_a, table.c.fingerprint_b)):
        connection.execute(update(table).where(column.is_(None)).values({column: _now(decided, side, tables)}))


def incomplete(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    """Whether `complete` has something to do."""
    if not exist(connection, backend, tables):
        return False
    decided = DecisionTables(tables)
    table = decided.decisions
    work = [table.c.fingerprint_a.is_(None), table.c.fingerprint_b.is_(None), _orphaned(decided)]
    return connection.execute(select(table.c.verdict).where(or_(*work)).limit(1)).first() is not None


def _orphaned(decided: DecisionTables) -> ColumnElement[bool]:
    """A row of it is gone, perhaps without a worker: an inline index's triggers know nothing of decisions."""
    stored = decided.tables.signatures
    rows = (select(stored.c[decided.tables.key_names[0]]).where(decided.row(side, stored)) for side in (0, 1))
    return not_(and_(*(exists(row.correlate(decided.decisions)) for row in rows)))


def carry_over(connection: Connection, backend: Backend, old: IndexTables, new: IndexTables) -> None:
    """Another generation has other fingerprints for the same texts; what was outdated stays so."""
    complete(connection, backend, old)
    decided = DecisionTables(old)
    table = decided.decisions
    for side, column in enumerate((table.c.fingerprint_a, table.c.fingerprint_b)):
        same = column == _now(decided, side, old)
        connection.execute(update(table).values({column: case((same, _now(decided, side, new)), else_=CHANGED)}))


def _now(decided: DecisionTables, side: int, tables: IndexTables) -> ScalarSelect[int]:
    stored = tables.signatures
    found = select(decided.fingerprint(stored)).where(decided.row(side, stored))
    return found.correlate(decided.decisions).scalar_subquery()

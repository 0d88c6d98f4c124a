"""The one row that says how stored pairs and groups were made and how far a run is: Connection ↔ State."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select, update

from dbsim.errors import DbsimError
from dbsim.tables.group_tables import GroupTables


@dataclass(frozen=True)
class State:
    """See `GroupTables.state` for the columns."""

    token: str
    version: int
    pairing: str
    reached: int | None
    paired: bool
    settled: bool
    generation: int
    grouping: str
    limited: str


def load(connection: Connection, groups: GroupTables, *, lock: bool = False) -> State:
    """With `lock`, other runs wait until this transaction ends."""
    query = select(*list(groups.state.c)[1:])
    row = connection.execute(query.with_for_update() if lock else query).one()
    return State(*row)


def save(connection: Connection, groups: GroupTables, **values: Any) -> None:
    """Every change raises the version, so that what was computed from an older state is not written."""
    connection.execute(update(groups.state).values(version=groups.state.c.version + 1, **values))


def own(connection: Connection, groups: GroupTables, token: str) -> State:
    """The locked state, provided that no other run has begun since."""
    state = load(connection, groups, lock=True)
    if state.token != token:
        raise DbsimError(
            f"another run has taken over the pairs of index {groups.tables.record.name!r}: "
            f"wait until it has finished, then ask again"
        )
    return state


def pending(connection: Connection, groups: GroupTables) -> int:
    """Changes noted and not yet worked in."""
    return connection.scalar(select(func.count()).select_from(groups.changes)) or 0

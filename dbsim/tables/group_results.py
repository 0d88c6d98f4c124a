"""Named results, each the groups of one pairing: Connection ↔ Result."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from dbsim.tables import group_state
from dbsim.tables.group_tables import PUBLISHED, GroupTables

EXPLORED = 3600  # seconds that an exploration stays after it was last asked for


@dataclass(frozen=True)
class Result:
    """See `GroupTables.results` for the columns."""

    name: str
    pairing: int
    generation: int
    grouping: str
    saved: bool
    asked: int

    @property
    def published(self) -> bool:
        return self.name == PUBLISHED


def find(connection: Connection, groups: GroupTables, name: str) -> Result | None:
    row = connection.execute(select(groups.results).where(groups.results.c.name == name)).first()
    return None if row is None else Result(*row)


def of_pairing(connection: Connection, groups: GroupTables, pairing: int) -> list[Result]:
    """Those that group its pairs, or are to."""
    return [result for result in complete(connection, groups) if result.pairing == pairing]


def complete(connection: Connection, groups: GroupTables) -> list[Result]:
    """All but those that a run is making."""
    query = select(groups.results).where(groups.results.c.grouping != "").order_by(groups.results.c.name)
    return [Result(*row) for row in connection.execute(query)]


def put(connection: Connection, groups: GroupTables, name: str, **values: Any) -> None:
    """Write some columns of a result; the others of a new one are empty."""
    values["asked"] = int(time.time())
    if find(connection, groups, name) is not None:
        connection.execute(update(groups.results).where(groups.results.c.name == name).values(**values))
        return
    empty = {"pairing": 0, "generation": 0, "grouping": "", "saved": True}
    connection.execute(insert(groups.results).values(name=name, **(empty | values)))


def next_generation(connection: Connection, groups: GroupTables) -> int:
    """A number that no stored groups have."""
    shown = connection.scalar(select(func.max(groups.results.c.generation))) or 0
    stored = connection.scalar(select(func.max(groups.contents.c.generation))) or 0
    return max(shown, stored) + 1


def remove(connection: Connection, groups: GroupTables, name: str) -> None:
    """The result with its groups."""
    found = find(connection, groups, name)
    if found is not None:
        for table in (groups.contents, groups.apart):
            connection.execute(delete(table).where(table.c.generation == found.generation))
        connection.execute(delete(groups.results).where(groups.results.c.name == name))


def expired(connection: Connection, groups: GroupTables) -> list[Result]:
    """Explorations nobody asked for lately."""
    oldest = int(time.time()) - EXPLORED
    return [result for result in complete(connection, groups) if not result.saved and result.asked < oldest]


def remove_expired(connection: Connection, groups: GroupTables) -> None:
    """Those explorations, and pairs that no result groups and nobody asked for."""
    for result in expired(connection, groups):
        remove(connection, groups, result.name)
    used = {result.pairing for result in complete(connection, groups)}
    oldest = int(time.time()) - EXPLORED
    for state in group_state.all_states(connection, groups):
        if state.id not in used and not state.running and state.seen < oldest:
            group_state.remove(connection, groups, state.id)

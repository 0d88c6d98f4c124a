"""Named results, each the groups of one pairing: Connection ↔ Result."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, literal, select, union_all, update

from dbsim.tables import group_state
from dbsim.tables.group_state import State
from dbsim.tables.group_tables import PUBLISHED, GroupTables

EXPLORED = 3600  # seconds that an exploration stays after it was last asked for
NO_PAIRING = -1  # has no changes; in its place claims are counted


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

    @property
    def expired(self) -> bool:
        """An exploration nobody asked for lately."""
        return not self.saved and self.asked < int(time.time()) - EXPLORED


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
    """The result; its groups have no name then."""
    connection.execute(delete(groups.results).where(groups.results.c.name == name))


@dataclass(frozen=True)
class Work:
    """All pairings, how many changes wait for each, and whether there is something nobody asked for lately."""

    states: list[State]
    pending: dict[int, int]
    outlived: bool


def work(connection: Connection, groups: GroupTables) -> Work:
    """What `sync` has to look after."""
    states = group_state.all_states(connection, groups)
    results = complete(connection, groups)
    kept = [result for result in results if not result.expired]
    used = {result.pairing for result in kept}
    outlived = len(kept) < len(results) or any(_outlived(state, used) for state in states)
    count = select(groups.changes.c.pairing, func.count()).group_by(groups.changes.c.pairing)
    given_up = select(literal(NO_PAIRING), func.count()).select_from(groups.claims).where(_given_up(groups))
    pending = {row[0]: row[1] for row in connection.execute(union_all(count, given_up))}
    return Work(states, pending, pending.pop(NO_PAIRING) > 0 or outlived)


def _outlived(state: State, used: set[int]) -> bool:
    return state.id not in used and not state.running and state.seen < int(time.time()) - EXPLORED


def _given_up(groups: GroupTables) -> ColumnElement[bool]:
    """Claims of somebody who has not answered; they name pairs, of which a row may be gone by now."""
    return groups.claims.c.until < int(time.time())


def remove_outlived(connection: Connection, groups: GroupTables) -> list[int]:
    """What nobody asked for lately; returns the pairings that no result groups and nobody asked for."""
    connection.execute(delete(groups.claims).where(_given_up(groups)))
    for result in complete(connection, groups):
        if result.expired:
            remove(connection, groups, result.name)
    used = {result.pairing for result in complete(connection, groups)}
    return [state.id for state in group_state.all_states(connection, groups) if _outlived(state, used)]


def remove_pairing(connection: Connection, groups: GroupTables, pairing: int, count: int) -> bool:
    """Some of its pairs, with the last ones the pairing itself; whether there are more.

    Not when somebody has asked for it meanwhile: what is left of it is sought anew.
    """
    mine = update(groups.state).where(groups.state.c.id == pairing)
    connection.execute(mine.values(version=groups.state.c.version + 1))  # whoever asks for it waits from now on
    if pairing not in remove_outlived(connection, groups):
        return False
    connection.execute(mine.values(paired=False, reached=None, token=""))
    if group_state.remove_pairs(connection, groups, pairing, count):
        return True
    group_state.remove(connection, groups, pairing)
    return False

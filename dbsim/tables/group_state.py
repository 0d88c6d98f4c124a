"""How stored pairs were sought and how far a run is, one row a pairing: Connection ↔ State."""

from __future__ import annotations

import os
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, tuple_, update

from dbsim.errors import DbsimError
from dbsim.tables.group_tables import GroupTables

STALLED = 300  # seconds without a sign of life after which a run of another machine counts as dead


class TakenOver(DbsimError):
    """another run goes on with these pairs: wait until it has finished, then ask again"""


@dataclass(frozen=True)
class State:
    """See `GroupTables.state` for the columns."""

    id: int
    token: str
    seen: int
    version: int
    pairing: str
    bucket: int
    reached: int | None
    paired: bool
    settled: bool
    limited: str

    @property
    def running(self) -> bool:
        """Whether a run is under way whose process lives, as far as can be told."""
        return not self.paired and "/" in self.token and alive(self.token, self.seen)


def new_token() -> str:
    """Names a run by its machine and process, so that others can tell whether it still lives."""
    return f"{socket.gethostname()}/{os.getpid()}/{_started(os.getpid())}/{secrets.token_hex(8)}"


def alive(token: str, seen: int) -> bool:
    """By the process, where it is one of this machine; else by its last sign of life."""
    host, pid, started, _ = token.rsplit("/", 3)
    if host == socket.gethostname():
        return _started(int(pid)) == started
    return time.time() - seen < STALLED


def _started(pid: int) -> str:
    """When a process began, in a form that no later process of the same number has; '' without one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        pass
    try:
        os.kill(pid, 0)  # no /proc: whether there is such a process at all
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "there"


def find(connection: Connection, groups: GroupTables, pairing: str) -> State | None:
    """The pairing with these options."""
    row = connection.execute(select(groups.state).where(groups.state.c.pairing == pairing)).first()
    return None if row is None else State(*row)


def all_states(connection: Connection, groups: GroupTables) -> list[State]:
    return [State(*row) for row in connection.execute(select(groups.state).order_by(groups.state.c.id))]


def add(connection: Connection, groups: GroupTables, pairing: str) -> State:
    """A new pairing, unless it is there by now; the workers are locked out meanwhile."""
    known = find(connection, groups, pairing)
    if known is not None:
        return known
    number = (connection.scalar(select(func.max(groups.state.c.id))) or 0) + 1
    values = {"token": "", "seen": 0, "version": 0, "bucket": 0, "reached": None, "limited": ""}
    connection.execute(insert(groups.state).values(id=number, pairing=pairing, paired=False, settled=False, **values))
    return load(connection, groups, number)


def load(connection: Connection, groups: GroupTables, pairing: int, *, lock: bool = False) -> State:
    """With `lock`, other runs wait until this transaction ends."""
    query = select(groups.state).where(groups.state.c.id == pairing)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise TakenOver(str(TakenOver.__doc__))  # it was dropped: by a change of options, or as no longer needed
    return State(*row)


def save(connection: Connection, groups: GroupTables, pairing: int, **values: Any) -> None:
    """Every change raises the version, so that what was computed from an older state is not written."""
    changed = update(groups.state).where(groups.state.c.id == pairing)
    connection.execute(changed.values(version=groups.state.c.version + 1, seen=int(time.time()), **values))


def own(connection: Connection, groups: GroupTables, pairing: int, token: str) -> State:
    """The locked state, provided that no other run has begun since."""
    state = load(connection, groups, pairing, lock=True)
    if state.token != token:
        raise TakenOver(str(TakenOver.__doc__))
    return state


def pending(connection: Connection, groups: GroupTables, pairing: int | None = None) -> int:
    """Changes noted and not yet worked in, for one pairing or for all."""
    query = select(func.count()).select_from(groups.changes)
    return connection.scalar(query if pairing is None else query.where(groups.changes.c.pairing == pairing)) or 0


def remove_pairs(connection: Connection, groups: GroupTables, pairing: int, count: int) -> bool:
    """The first ones of a pairing that is not complete any more; whether there are others."""
    edges = groups.edges
    mine, ends = edges.c.pairing == pairing, (edges.c.a, edges.c.b)
    left = connection.execute(select(*ends).where(mine).order_by(*ends).offset(count).limit(1)).first()
    upto = [] if left is None else [tuple_(*ends) < tuple(left)]
    connection.execute(delete(edges).where(mine, *upto))
    return left is not None


def remove(connection: Connection, groups: GroupTables, pairing: int) -> None:
    """A pairing without pairs, with its changes."""
    for table, column in ((groups.changes, "pairing"), (groups.state, "id")):
        connection.execute(delete(table).where(table.c[column] == pairing))

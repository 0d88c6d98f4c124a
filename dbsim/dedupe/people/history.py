"""How the published groups grew, an entry an hour: GroupTables → (when, groups, rows, largest) in dbsim_model."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from dbsim.dedupe.store_pairs import Workplace
from dbsim.sync import models
from dbsim.tables import catalogue, model_rows
from dbsim.tables.catalogue import IndexRecord

PART, NAME = "history.", "groups"
EVERY = 3600  # seconds: counting the groups of a million rows takes one
KEPT = 1000  # entries
Entries = NDArray[np.int64]  # n × 4


def entries(connection: Connection, record: IndexRecord) -> Entries:
    """The oldest first."""
    found = model_rows.load(connection, record.name, record.generation, PART)
    return np.empty((0, 4), np.int64) if found is None else found[NAME]


def note(place: Workplace) -> None:
    """Unless there is an entry of this hour."""
    now = int(time.time())
    if place.read(lambda c: _due(entries(c, place.tables.record), now)):
        counted = place.read(partial(_count, place=place))
        place.write(partial(_add, place=place, now=now, counted=counted))


def _due(known: Entries, now: int) -> bool:
    return not len(known) or int(known[-1, 0]) <= now - EVERY


def _add(connection: Connection, place: Workplace, now: int, counted: tuple[int, int, int]) -> None:
    """Under the workers' locks: another run may have counted at the same time, or somebody has dropped the index."""
    place.backend.lock_all(connection, place.tables)
    known = entries(connection, place.tables.record)
    if _due(known, now) and catalogue.is_unchanged(connection, place.tables.record):
        made = np.concatenate([known[1 - KEPT :], np.array([[now, *counted]], np.int64)])
        models.replace_part(connection, place.tables.record, PART, models.Fitted({NAME: made}, counted[1]))


def _count(connection: Connection, place: Workplace) -> tuple[int, int, int]:
    view = place.groups.groups
    size = func.count().label("rows")
    sizes = select(size).select_from(view).group_by(view.c[place.groups.shown[0]]).subquery("sizes")
    query = select(func.count(), func.coalesce(func.sum(sizes.c.rows), 0), func.coalesce(func.max(sizes.c.rows), 0))
    groups, rows, largest = connection.execute(query.select_from(sizes)).one()
    return int(groups), int(rows), int(largest)

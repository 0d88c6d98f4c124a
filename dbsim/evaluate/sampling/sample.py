"""Draw rows at random, each with the same chance: Connection → keys of the table, or of its distinct contents."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection, FromClause, Select, func, select

from dbsim.engines.backend import Backend
from dbsim.engines.signature_rows import json_numbers
from dbsim.errors import InvalidOption
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import key_columns
from dbsim.tables.source import Key

PLACE = "dbsim_place"


def chance(seed: int | None) -> np.random.Generator:
    """Random numbers, the same for the same seed."""
    if seed is not None and seed < 0:
        raise InvalidOption(f"a seed of {seed} is not possible: use 0 or more")
    return np.random.default_rng(seed)


def draw(
    connection: Connection,
    backend: Backend,
    tables: IndexTables,
    size: int,
    rng: np.random.Generator,
    *,
    distinct: bool = False,
) -> list[Key]:
    """`size` rows without repetition, all of them when there are fewer, in key order.

    Places are drawn among 1 … n and looked up by the rows' numbers in key order: uniform on every engine, and the same
    rows for the same seed and table. `distinct` draws among the contents and returns the first row of each.
    """
    rows = _contents(tables) if distinct else _rows(tables)
    total = connection.scalar(select(func.count()).select_from(rows)) or 0
    places = np.sort(rng.permutation(total)[:size]) + 1
    keys = [rows.c[name] for name in tables.key_names]
    numbered = select(*keys, func.row_number().over(order_by=keys).label(PLACE)).subquery("numbered")
    wanted = backend.json_rows("wanted", ["number"])
    query = (
        select(*(numbered.c[name] for name in tables.key_names))
        .join(wanted, wanted.c.number == numbered.c[PLACE])
        .order_by(numbered.c[PLACE])
    )
    return [tuple(row) for row in connection.execute(query, {"wanted": json_numbers(places)})]


def _rows(tables: IndexTables) -> FromClause:
    """Rows of the table that can be referred to."""
    keys = key_columns(tables.source, tables)
    return select(*keys).where(*(key.is_not(None) for key in keys)).subquery("rows")


def _contents(tables: IndexTables) -> FromClause:
    """The first row of each content that is indexed."""
    stored = tables.signatures
    keys = key_columns(stored, tables)
    fingerprint = stored.c[tables.names.fingerprint]
    place = func.row_number().over(partition_by=fingerprint, order_by=keys).label("dbsim_copy")
    copies: Select[Any] = select(*keys, place).where(fingerprint.is_not(None))
    numbered = copies.subquery("copies")
    return select(*(numbered.c[name] for name in tables.key_names)).where(numbered.c.dbsim_copy == 1).subquery("rows")

"""Texts of some rows of the host's table, spread evenly over it: Connection → columns of texts."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, func, select

from dbsim.engines.backend import Backend
from dbsim.engines.source_rows import source_rows, texts
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.source import Key


def sample_of(connection: Connection, backend: Backend, tables: IndexTables, size: int) -> tuple[list[list[str]], int]:
    """A sample, and how many rows the table has."""
    total = connection.scalar(select(func.count()).select_from(tables.source)) or 0
    return sample(connection, backend, tables, size), total


def sample(connection: Connection, backend: Backend, tables: IndexTables, size: int) -> list[list[str]]:
    """Texts of each field of about `size` rows, spread evenly over the key order: the same rows for the same table."""
    total = connection.scalar(select(func.count()).select_from(tables.source)) or 0
    columns = key_columns(tables.source, tables)
    place = func.row_number().over(order_by=columns).label("dbsim_place")
    numbered = select(*columns, place).where(*(column.is_not(None) for column in columns)).subquery("numbered")
    drawn = numbered.c.dbsim_place % max(-(-total // size), 1) == 0
    same = [numbered.c[name] == column for name, column in zip(tables.key_names, columns, strict=True)]
    query = source_rows(backend, tables).where(drawn, *same).order_by(numbered.c.dbsim_place)
    found: list[list[str]] = [[] for _ in tables.record.options.fields]
    for batch in texts(connection, backend, tables, query):
        for column, some in zip(found, batch.columns, strict=True):
            column += some
    return found


def texts_of(
    connection: Connection, backend: Backend, tables: IndexTables, keys: Iterable[Key]
) -> dict[Key, tuple[str, ...]]:
    """Texts of each field of these rows, as far as they are there."""
    found: dict[Key, tuple[str, ...]] = {}
    for some in chunks(keys, backend.key_batch):
        query = source_rows(backend, tables).where(among(key_columns(tables.source, tables), some))
        for batch in texts(connection, backend, tables, query):
            found |= zip(batch.keys, zip(*batch.columns, strict=True), strict=True)
    return found

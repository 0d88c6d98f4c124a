"""Stored signatures as arrays again: rows of dbsim_<index> → Signatures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Engine, FromClause, Select, func, literal_column, select

from dbsim.engines.backend import Backend
from dbsim.engines.transactions import read
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signatures
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import after
from dbsim.tables.source import Key

Numbers = NDArray[np.int64]
NOTHING = np.empty(0, np.int64)
PAGE = 5000  # signatures read at once, some ten milliseconds


def signature_page(tables: IndexTables, last: Key | None = None) -> Select[Any]:
    """Primary key, fingerprint, keys, then bits and count of each field, in key order; only rows with features."""
    stored = tables.signatures
    keys = tables.stored_key
    query = select(stored).where(stored.c[tables.names.fingerprint].is_not(None)).order_by(*keys)
    return query if last is None else query.where(after(keys, last))


def signature_pages(engine: Engine, backend: Backend, tables: IndexTables) -> Iterator[Signatures]:
    """All of them, a page at a time."""
    last, width = None, len(tables.key_names)
    while True:
        query = signature_page(tables, last).limit(PAGE)
        # the driver's own tuples: with some thirty values a row, anything more is felt
        rows = read(engine, backend, lambda connection: connection.execute(query).cursor.fetchall())  # noqa: B023
        if not rows:
            return
        last = rows[-1][:width]
        yield as_signatures(backend, tables, rows, skip=width)


def as_signatures(backend: Backend, tables: IndexTables, rows: Sequence[Sequence[Any]], skip: int = 0) -> Signatures:
    """From the values after the first `skip` ones, the primary key's."""
    options = tables.record.options
    end = 1 + options.keys + 2 * len(options.fields)
    columns = list(zip(*rows, strict=True))[skip:] or [()] * (end + len(tables.names.rarities))
    numbers = np.array(columns[: 1 + options.keys], np.int64)
    filters = []
    for field, bits, counts in zip(
        options.fields, columns[1 + options.keys : end : 2], columns[2 + options.keys : end : 2], strict=True
    ):
        width = field.bits // 8
        data = b"".join(bytes(width) if value is None else backend.read_bits(value) for value in bits)
        made = np.frombuffer(data, np.uint8).reshape(-1, width)
        filters.append(Filters(made, np.array(counts, np.int64), field.reading.marks))
    rarities = tuple(np.array(column, np.int64) for column in columns[end : end + len(tables.names.rarities)])
    return Signatures(np.ones(len(rows), bool), numbers[0], numbers[1:].T, tuple(filters), rarities=rarities)


def signatures_of(connection: Connection, backend: Backend, tables: IndexTables, wanted: Numbers) -> Signatures:
    """One row of each of these contents, as far as they are stored."""
    stored, names = tables.signatures, tables.names
    fingerprint = stored.c[names.fingerprint]
    listed = backend.json_rows("wanted", ["number"])
    place = func.row_number().over(partition_by=fingerprint, order_by=tables.stored_key).label("dbsim_place")
    values = list(stored.c)[len(tables.key_names) :]
    numbered = select(*values, place).join(listed, listed.c.number == fingerprint).subquery("numbered")
    query = select(*list(numbered.c)[:-1]).where(numbered.c.dbsim_place == 1)
    rows = connection.execute(query, {"wanted": json_numbers(wanted)})
    return as_signatures(backend, tables, rows.all())


def sharing(connection: Connection, backend: Backend, tables: IndexTables, wanted: Sequence[Numbers]) -> Numbers:
    """The contents that have one of these keys, given by key column."""
    listed, found = backend.json_rows("wanted", ["number"]), [NOTHING]
    for name, keys in zip(tables.names.keys, wanted, strict=True):
        same = listed.c.number == tables.signatures.c[name]
        found.append(_contents(connection, tables, listed, same, keys))
    return np.unique(np.concatenate(found))


def sharing_prefix(
    connection: Connection, backend: Backend, tables: IndexTables, wanted: Sequence[Numbers], masks: Sequence[int]
) -> Numbers:
    """The contents whose key begins with the same bits as one of these; each column's mask has ones, then zeros."""
    listed, found = backend.json_rows("wanted", ["number"]), [NOTHING]
    for name, keys, mask in zip(tables.names.keys, wanted, masks, strict=True):
        key = tables.signatures.c[name]
        between = key.between(listed.c.number, listed.c.number + literal_column(str(~mask)))
        found.append(_contents(connection, tables, listed, between, keys & mask))
    return np.unique(np.concatenate(found))


def _contents(
    connection: Connection, tables: IndexTables, listed: FromClause, condition: ColumnElement[bool], keys: Numbers
) -> Numbers:
    content = tables.signatures.c[tables.names.fingerprint]
    query = select(content).join(listed, condition).group_by(content)
    return np.array(connection.execute(query, {"wanted": json_numbers(np.unique(keys))}).scalars().all(), np.int64)


def json_numbers(numbers: Numbers) -> str:
    """A parameter for `json_rows` with the column `number`."""
    return "[" + ",".join(f'{{"number":{number}}}' for number in numbers.tolist()) + "]"

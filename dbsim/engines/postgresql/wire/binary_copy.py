"""Rows of a signature table in PostgreSQL's binary COPY format: keys, Signatures ↔ bytes, no loop per value."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Dialect, Engine, func, literal_column, select

from dbsim.engines.postgresql.wire.drivers import own_psycopg
from dbsim.engines.signature_rows import signature_page
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signatures
from dbsim.options import IndexOptions
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import raw_sql

HEADER = b"PGCOPY\n\xff\r\n\0" + b"\0" * 8
TRAILER = b"\xff\xff"
READ_BYTES = 1 << 22
Buffer = bytes | bytearray | memoryview
_NULL = -1


def binary_rows(keys: Sequence[Sequence[Buffer | None]], rows: Signatures) -> Iterator[bytes]:
    """The whole COPY stream; `keys` are the primary key's values in binary form."""
    width = len(keys[0]) + 1 + rows.keys.shape[1] + 2 * len(rows.filters) + len(rows.rarities)
    width += sum(part.shape[1] for part in rows.words)
    count = struct.pack(">h", width)
    tails = _tails(rows)
    yield HEADER
    yield b"".join(
        b"".join((count, *(_value(part) for part in key), tail)) for key, tail in zip(keys, tails, strict=True)
    )
    yield TRAILER


def _value(data: Buffer | None) -> bytes:
    return struct.pack(">i", _NULL) if data is None else struct.pack(">i", len(data)) + data


def _tails(rows: Signatures) -> list[bytes]:
    """Everything after the primary key, one bytes object a row; rows with the same columns missing share a layout."""
    present = np.stack([rows.present, *(part.counts > 0 for part in rows.filters)], axis=1)
    patterns, pattern_of = np.unique(present, axis=0, return_inverse=True)
    tails: list[bytes] = [b""] * len(rows)
    for number, pattern in enumerate(patterns):
        chosen = np.flatnonzero(pattern_of.reshape(-1) == number)
        layout = _fill(rows, chosen, pattern)
        data, size = layout.tobytes(), layout.dtype.itemsize
        for place, row in enumerate(chosen.tolist()):
            tails[row] = data[place * size : (place + 1) * size]
    return tails


def _fill(rows: Signatures, chosen: NDArray[np.int64], pattern: NDArray[np.bool_]) -> NDArray[np.void]:
    """A packed record array: each column is its length (-1 for NULL) followed by its bytes."""
    columns: list[tuple[int, str, NDArray[np.generic] | None]] = []
    numbers = [rows.fingerprints, *rows.keys.T]
    columns += [(8, ">i8", column[chosen]) if pattern[0] else (_NULL, "", None) for column in numbers]
    for part, there in zip(rows.filters, pattern[1:], strict=True):
        width = part.bits.shape[1]
        bits = np.zeros(len(chosen), [("size", ">i4"), ("bits", "u1", (width,))])
        bits["size"], bits["bits"] = width * 8, part.bits[chosen]
        columns.append((4 + width, "", bits) if there else (_NULL, "", None))
        columns.append((4, ">i4", part.counts[chosen]))
    columns += [(2, ">i2", rarity[chosen]) for rarity in rows.rarities]
    columns += [(8, ">i8", word[chosen]) for part in rows.words for word in part.T]
    fields: list[tuple[str, object]] = []
    for number, (_, kind, values) in enumerate(columns):
        fields.append((f"l{number}", ">i4"))
        if values is not None:
            fields.append((f"v{number}", kind or values.dtype))
    layout = np.zeros(len(chosen), np.dtype(fields))
    for number, (length, _, values) in enumerate(columns):
        layout[f"l{number}"] = length
        if values is not None:
            layout[f"v{number}"] = values
    return layout


def copied_signatures(engine: Engine, tables: IndexTables) -> Iterator[Signatures]:
    """All stored rows with features, in key order."""
    query = ordered_signatures(tables, engine.dialect)
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection:
        raw = own_psycopg(connection)
        assert raw is not None
        with raw.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)") as copy:
            yield from read_signatures(copy, tables.record.options)


def ordered_signatures(tables: IndexTables, dialect: Dialect) -> str:
    """The statement; an order inside a subquery is none (a distributed planner loses it), so it stands outside."""
    stored = signature_page(tables).order_by(None).subquery("stored")
    sizes = {name: field.bits for name, field in zip(tables.names.bits, tables.record.options.fields, strict=True)}
    width = len(tables.key_names)
    values = [  # a missing filter as zeros, so that all rows have the same length
        func.coalesce(value, literal_column(f"B'0'::bit({sizes[value.name]})")) if value.name in sizes else value
        for value in list(stored.c)[width:]
    ]
    return raw_sql(select(*values).order_by(*list(stored.c)[:width]), dialect)


def read_signatures(stream: Iterable[Buffer], options: IndexOptions) -> Iterator[Signatures]:
    """From a binary COPY of fingerprint, keys, then bits and count of each field, none of them NULL."""
    layout = _layout(options)
    buffer: list[Buffer] = []
    size = 0
    for number, data in enumerate(stream):
        buffer.append(data[len(HEADER) :] if number == 0 else data)
        size += len(buffer[-1])
        if size > READ_BYTES:
            whole = b"".join(buffer)
            used = len(whole) // layout.itemsize * layout.itemsize
            yield _parse(np.frombuffer(whole[:used], layout), options)
            buffer, size = [whole[used:]], len(whole) - used
    whole = b"".join(buffer).removesuffix(TRAILER)
    if whole:
        yield _parse(np.frombuffer(whole, layout), options)


def _layout(options: IndexOptions) -> np.dtype[np.void]:
    """One row: the number of columns, then each column's length and value."""
    fields: list[tuple[object, ...]] = [("columns", ">i2")]
    for number in range(1 + options.keys):
        fields += [(f"l{number}", ">i4"), (f"k{number}", ">i8")]
    for number, field in enumerate(options.fields):
        fields += [(f"lb{number}", ">i4"), (f"size{number}", ">i4"), (f"bits{number}", "u1", (field.bits // 8,))]
        fields += [(f"lc{number}", ">i4"), (f"count{number}", ">i4")]
    if options.hashing.rarity:
        for number in range(len(options.fields)):
            fields += [(f"lr{number}", ">i4"), (f"rarity{number}", ">i2")]
    return np.dtype(fields)


def _parse(rows: NDArray[np.void], options: IndexOptions) -> Signatures:
    keys = np.empty((len(rows), options.keys), np.int64)
    for number in range(options.keys):
        keys[:, number] = rows[f"k{number + 1}"]
    filters = tuple(
        Filters(
            np.ascontiguousarray(rows[f"bits{number}"]),
            rows[f"count{number}"].astype(np.int64),
            field.reading.marks,
        )
        for number, field in enumerate(options.fields)
    )
    count = len(options.fields) if options.hashing.rarity else 0
    rarities = tuple(rows[f"rarity{number}"].astype(np.int64) for number in range(count))
    return Signatures(np.ones(len(rows), bool), rows["k0"].astype(np.int64), keys, filters, rarities=rarities)

"""Rows of a signature table in PostgreSQL's binary COPY format: keys, Signatures → bytes, no loop per value."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.signer import Signatures

HEADER = b"PGCOPY\n\xff\r\n\0" + b"\0" * 8
TRAILER = b"\xff\xff"
_NULL = -1


def binary_rows(keys: Sequence[Sequence[bytes | None]], rows: Signatures) -> Iterator[bytes]:
    """The whole COPY stream; `keys` are the primary key's values in binary form."""
    width = len(keys[0]) + 1 + rows.keys.shape[1] + 2 * len(rows.filters)
    count = struct.pack(">h", width)
    tails = _tails(rows)
    yield HEADER
    yield b"".join(
        b"".join((count, *(_value(part) for part in key), tail)) for key, tail in zip(keys, tails, strict=True)
    )
    yield TRAILER


def _value(data: bytes | None) -> bytes:
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

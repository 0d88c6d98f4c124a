"""PostgreSQL's binary COPY: the bytes, read back with struct, are the rows of `Signatures.as_tuples`."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.engines.postgresql.wire.binary_copy import binary_rows
from dbsim.hashing.keys import Plan
from dbsim.hashing.signer import FieldPlan, Signatures, Signer
from dbsim.text.features import Analyser

FIELDS = (
    FieldPlan(Analyser(size=1), 0.5, 64),
    FieldPlan(Analyser(unit="characters", size=2), 0.3, 1024),
    FieldPlan(Analyser(size=2), 0.2, 256),
)
Row = tuple[int | bytes | None, ...]


def signed(rows: Sequence[tuple[str, ...]], fields: int, keys: int = 4) -> Signatures:
    signer = Signer(FIELDS[:fields], "minhash@1", Plan(2, keys), b"secret")
    return signer.sign([[row[field] for row in rows] for field in range(fields)])


class Reader:
    """A cursor over the stream."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def take(self, count: int) -> bytes:
        piece = self.data[self.place : self.place + count]
        assert len(piece) == count
        self.place += count
        return piece

    def number(self, layout: str) -> int:
        (value,) = struct.unpack(layout, self.take(struct.calcsize(layout)))
        return int(value)

    def value(self) -> bytes | None:
        length = self.number(">i")
        return None if length == -1 else self.take(length)

    def rows(self) -> list[list[bytes | None]]:
        """The whole stream: signature, flags, header extension, rows, trailer."""
        assert self.take(11) == b"PGCOPY\n\xff\r\n\0"
        assert (self.number(">i"), self.number(">i")) == (0, 0)
        found = []
        while (columns := self.number(">h")) != -1:
            found.append([self.value() for _ in range(columns)])
        assert self.place == len(self.data)
        return found


def integer(data: bytes | None, width: int) -> int | None:
    assert data is None or len(data) == width
    return None if data is None else int.from_bytes(data, signed=True)


def bit_string(data: bytes | None) -> bytes | None:
    """PostgreSQL's bit(n): the number of bits, then the bits."""
    if data is None:
        return None
    assert int.from_bytes(data[:4]) == 8 * len(data[4:])
    return data[4:]


def decoded(stream: bytes, key_columns: int, keys: int) -> list[tuple[list[bytes | None], Row]]:
    """(primary key, signature) of every row."""
    found = []
    for row in Reader(stream).rows():
        head, tail = row[key_columns : key_columns + 1 + keys], row[key_columns + 1 + keys :]
        numbers: list[int | bytes | None] = [integer(value, 8) for value in head]
        for bits, count in zip(tail[0::2], tail[1::2], strict=True):
            numbers += [bit_string(bits), integer(count, 4)]
        found.append((row[:key_columns], tuple(numbers)))
    return found


def check(primary: list[list[bytes | None]], rows: Signatures) -> None:
    stream = b"".join(binary_rows(primary, rows))
    expected = list(zip(primary, rows.as_tuples(), strict=True))
    assert decoded(stream, len(primary[0]), rows.keys.shape[1]) == expected


@pytest.mark.parametrize("fields", [1, 2, 3])
def test_every_pattern_of_missing_fields(fields: int) -> None:
    patterns = list(product(["", "some words here", "others"], repeat=fields))
    rows = signed(patterns, fields)
    assert {row[1 + 4 :: 2].count(None) for row in rows.as_tuples()} == set(range(fields + 1))
    check([[number.to_bytes(8)] for number in range(len(patterns))], rows)


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "b c", "ä ö ü"]), st.text(max_size=5), st.text()), min_size=1),
    st.integers(1, 24),
)
def test_any_rows_in_any_order(rows: list[tuple[str, str, str]], keys: int) -> None:
    check([[b"key"] for _ in rows], signed(rows, 3, keys))


keys_of_two = st.lists(st.lists(st.none() | st.binary(max_size=20), min_size=2, max_size=2), min_size=1, max_size=6)


@given(keys_of_two)
def test_primary_keys_of_any_length_and_null(primary: list[list[bytes | None]]) -> None:
    check(primary, signed([("text", "")] * len(primary), 2))


def test_negative_numbers_and_full_filters() -> None:
    rows = signed([("a", "b")], 2)
    rows.fingerprints[:] = -(2**63)
    rows.keys[:] = [[-1, 2**63 - 1, 0, -(2**62)]]
    rows.filters[0].bits[:] = 255
    rows.filters[0].counts[:] = 64
    check([[b"\x00\x00\x00\x07"]], rows)


def test_the_number_of_columns_counts_the_key() -> None:
    stream = b"".join(binary_rows([[b"a", b"b", b"c"]], signed([("x", "y", "z")], 3)))
    (row,) = Reader(stream).rows()
    assert len(row) == 3 + 1 + 4 + 2 * 3


def test_one_key_for_every_row() -> None:
    with pytest.raises(ValueError, match="zip"):
        list(binary_rows([[b"only one"]], signed([("a",), ("b",)], 1)))


def test_bits_are_stored_in_the_order_of_postgresql() -> None:
    """The first character of a bit string is the most significant bit of the first byte."""
    rows = signed([("word",)], 1)
    ((_, row),) = decoded(b"".join(binary_rows([[b"k"]], rows)), 1, 4)
    bits = row[-2]
    assert isinstance(bits, bytes)
    shown = "".join(f"{byte:08b}" for byte in bits)
    assert shown.index("1") == int(np.unpackbits(rows.filters[0].bits[0]).argmax())
    assert shown.count("1") == row[-1] == 1

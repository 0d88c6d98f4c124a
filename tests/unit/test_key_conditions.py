"""Conditions on keys say what Python says of tuples: simple and composite, numbers and texts, in a real SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, create_engine, insert, select

from dbsim.tables.key_conditions import after, among, chunks, listed, listing, sendable, up_to

# names that a driver could take for a parameter, a type or a format
SIMPLE = Table("simple", MetaData(), Column("a]:b %s", Integer, primary_key=True))
COMPOSITE = Table(
    "composite", MetaData(), Column("n", Integer, primary_key=True), Column("t (x)", Text, primary_key=True)
)
NUMBERS = [-(2**63), -1, 0, 1, 2, 7, 2**63 - 1]
TEXTS = ["", "A", "a", "a b", "b'; --", "ä", "😀"]
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "simple": [(number,) for number in NUMBERS],
    "composite": [(number, text) for number in NUMBERS[2:5] for text in TEXTS],
}
some_keys = {name: st.lists(st.sampled_from(rows), max_size=9) for name, rows in ROWS.items()}


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.begin() as opened:
        for table in (SIMPLE, COMPOSITE):
            table.create(opened)
            names = [column.name for column in table.columns]
            opened.execute(insert(table), [dict(zip(names, row, strict=True)) for row in ROWS[table.name]])
        yield opened
    engine.dispose()


def found(connection: Connection, table: Table, condition: Any, values: dict[str, Any] | None = None) -> set[Any]:
    return {tuple(row) for row in connection.execute(select(table).where(condition), values or {})}


@pytest.mark.parametrize("table", [SIMPLE, COMPOSITE], ids=lambda table: table.name)
def test_after_and_up_to_are_two_halves(connection: Connection, table: Table) -> None:
    """Texts by their bytes, as SQLite compares them."""
    columns, rows = list(table.columns), ROWS[table.name]

    def by_bytes(key: tuple[Any, ...]) -> list[Any]:
        return [part.encode() if isinstance(part, str) else part for part in key]

    for key in rows:
        above = found(connection, table, after(columns, key))
        assert above == {row for row in rows if by_bytes(row) > by_bytes(key)}
        assert found(connection, table, up_to(columns, key)) == set(rows) - above


@pytest.mark.parametrize("table", [SIMPLE, COMPOSITE], ids=lambda table: table.name)
@given(data=st.data())
def test_among_and_listed_find_the_keys_given(connection: Connection, table: Table, data: st.DataObject) -> None:
    keys = data.draw(some_keys[table.name])
    columns = list(table.columns)
    assert found(connection, table, among(columns, keys)) == set(keys)
    assert found(connection, table, listed(columns), listing(keys)) == set(keys)


@pytest.mark.parametrize("table", [SIMPLE, COMPOSITE], ids=lambda table: table.name)
def test_one_statement_for_any_keys(connection: Connection, table: Table) -> None:
    """`listed` is made once, and two of them in a statement need names of their own."""
    columns, rows = list(table.columns), ROWS[table.name]
    query = listed(columns)
    for key in rows:
        assert found(connection, table, query, listing([key])) == {key}
    both = listed(columns) & listed(columns, "other")
    assert found(connection, table, both, listing(rows[:3]) | listing(rows[2:], "other")) == {rows[2]}


@given(
    st.lists(st.tuples(st.none() | st.integers(0, 5), st.sampled_from(["a", "\udcff", "ä"])), max_size=30),
    st.integers(1, 7),
)
def test_chunks_have_every_key_once_in_order(keys: list[tuple[Any, ...]], size: int) -> None:
    pieces = list(chunks(keys, size))
    assert all(0 < len(piece) <= size for piece in pieces)
    assert all(len(piece) == size for piece in pieces[:-1])
    whole = [key for piece in pieces for key in piece]
    assert whole == [key for key in dict.fromkeys(keys) if key[0] is not None and key[1] != "\udcff"]


@pytest.mark.parametrize(
    ("key", "expected"), [((1, "ä"), True), (("\udc80",), False), ((b"\xff",), True), ((None,), True)]
)
def test_what_a_driver_takes(key: tuple[Any, ...], expected: bool) -> None:
    assert sendable(key) is expected

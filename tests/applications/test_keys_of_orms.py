"""Keys as an ORM hands them out: UUID, datetime, date, Decimal, Enum, numpy's integers, however they are stored."""

from __future__ import annotations

import datetime
import enum
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Column, Date, DateTime, Enum, Integer, LargeBinary, MetaData, Numeric, String, Table, Text, Uuid

import dbsim
from tests.integration.helpers import QUICK, corpus

TEXTS = list(corpus(2).values())


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"


IDS = [uuid.UUID(int=n * 2**90 + 17) for n in range(len(TEXTS))]
DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(days=n) for n in range(len(TEXTS))]
MOMENTS = [datetime.datetime(2026, 1, 1, 12, 0, n, 250 * n) for n in range(len(TEXTS))]
KINDS: dict[str, tuple[Any, list[Any], Any]] = {  # column type, values written, what the application asks with
    "uuid": (Uuid(), IDS, lambda value: value),
    "uuid as text": (String(36), [str(value) for value in IDS], uuid.UUID),
    "uuid as bytes": (LargeBinary(16), [value.bytes for value in IDS], lambda value: uuid.UUID(bytes=value)),
    "datetime": (DateTime(), MOMENTS, lambda value: value),
    "date": (Date(), DAYS, lambda value: value),
    "decimal": (Numeric(10, 2), [Decimal(n) / 4 for n in range(len(TEXTS))], lambda value: value),
    "numpy": (Integer(), list(range(len(TEXTS))), np.int64),
}


def table_of(database: dbsim.Database, type_: Any, values: list[Any]) -> dbsim.Index:
    table = Table("articles", MetaData(), Column("id", type_, primary_key=True), Column("body", Text))
    with database.engine.begin() as connection:
        table.create(connection)
        rows = [{"id": key, "body": body} for key, body in zip(values, TEXTS, strict=False)]
        connection.execute(table.insert(), rows)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    index.sync()
    return index


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_found_by_the_object(database: dbsim.Database, kind: str) -> None:
    type_, values, ask = KINDS[kind]
    index = table_of(database, type_, values)
    found = index.similar(ask(values[0]))
    assert len(found) == 3
    assert [index.key(hit.key) for hit in found] == [index.key(hit.key) for hit in index.similar(found_key(index, 0))]
    assert index.texts([ask(value) for value in values]) == TEXTS[: len(values)]
    assert index.explain(ask(values[0]), ask(values[1])).found
    assert index.refresh([ask(values[0])]) == 1


def found_key(index: dbsim.Index, place: int) -> Any:
    """The key of a row as searches return it."""
    return next(hit.key for hit in index.search(TEXTS[place]) if index.texts([hit.key]) == [TEXTS[place]])


def test_an_enum_is_found_by_its_member(database: dbsim.Database) -> None:
    index = table_of(database, Enum(Colour), [Colour.RED, Colour.GREEN])
    assert len(index.similar(Colour.RED)) == 1


def test_a_key_that_is_not_there_is_said_so(database: dbsim.Database) -> None:
    index = table_of(database, Uuid(), IDS)
    with pytest.raises(dbsim.DbsimError, match="no row with the key"):
        index.similar(uuid.UUID(int=5))

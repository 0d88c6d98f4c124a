"""What registers hold beside persons: the table "Bad input" of docs/persons.md, row by row, on both engines."""

from __future__ import annotations

import pytest

import dbsim
from dbsim.errors import InvalidOption
from tests.conftest import SECRET
from tests.integration.helpers import execute
from tests.people import COLUMNS, add_people, people

NOTHING = ("unknown", "n/a", "-", "00000000", "xxx", "", "NULL")


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    """A register with rows of every bad sort in it from the start: they must neither stop the sync nor be matched."""
    rows = people(database.engine, 300).rows
    bad = {1000 + n: [word] * len(COLUMNS) for n, word in enumerate(NOTHING)}
    bad |= {1100 + n: ["", "Meier", *[""] * 7] for n in range(150)}  # one field only, one name in a third of the rows
    bad |= {1300 + n: ["Ada", f"Quint{n:02}", "32.13.2001", *rows[n][3:]] for n in range(5)}
    add_people(database.engine, bad)
    made = database.create_records("people", table="people", secret=SECRET)
    made.sync()
    return made


def test_bad_rows_are_indexed_and_match_nobody(index: dbsim.Index) -> None:
    assert not index.check()
    for key in (*range(1000, 1000 + len(NOTHING)), 1100, 1249):
        assert index.similar(key) == []
    assert all(len(group.members) < 20 for group in index.duplicates())


def test_words_for_nothing_say_nothing(index: dbsim.Index) -> None:
    asked = dict(zip(COLUMNS, people_row(index), strict=True))
    (without,) = index.check_row({**asked, "born": None}, limit=1)
    for word in NOTHING:
        (found,) = index.check_row({**asked, "born": word}, limit=1)
        assert (found.key, found.probability) == (without.key, without.probability)


def test_an_impossible_date_is_equal_only_to_itself(index: dbsim.Index) -> None:
    born = {
        day: next(field for field in match.evidence.fields if field.field == "born").agreement
        for day in ("32.13.2001", "1.12.2001")
        for match in index.check_row({**row_of(index, 1300), "born": day}, probability=0.01, limit=1)
    }
    assert born["32.13.2001"] == "equal"
    assert born.get("1.12.2001") != "equal"


def test_values_of_a_wrong_type_are_refused_or_read_as_text(index: dbsim.Index) -> None:
    row = row_of(index, 1)
    assert index.check_row({**row, "house": int(row["house"] or 0)})[0].key == index.check_row(row)[0].key
    with pytest.raises(InvalidOption, match="no part of a person's record"):
        index.check_row({**row, "given": [1, 2]})


def test_a_table_without_persons_is_refused(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE counters (id INTEGER PRIMARY KEY, status TEXT, token TEXT)",
        "INSERT INTO counters VALUES (1, 'on', 'a1'), (2, 'off', 'b2')",
    )
    with pytest.raises(InvalidOption, match="looks like part of a person's record"):
        database.create_records("counters", table="counters")


def people_row(index: dbsim.Index) -> list[str]:
    return [value or "" for value in row_of(index, 1).values()]


def row_of(index: dbsim.Index, key: int) -> dict[str, str]:
    (found,) = index._current.get().columns_of([(key,)])
    assert found is not None
    return dict(zip(COLUMNS, found, strict=True))

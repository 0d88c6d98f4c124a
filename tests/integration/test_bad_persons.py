"""What registers hold beside persons: the table "Bad input" of docs/persons.md, row by row, on both engines."""

from __future__ import annotations

import pytest

import dbsim
from dbsim.errors import InvalidOption
from tests.conftest import SECRET
from tests.fixtures.shell import Command
from tests.integration.helpers import articles, corpus, execute
from tests.people import COLUMNS, add_people, people

NOTHING = ("unknown", "n/a", "-", "00000000", "xxx", "", "NULL")


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    """A register with rows of every bad sort in it from the start: they must neither stop the sync nor be matched."""
    rows = people(database.engine, 300).rows
    bad = {1000 + n: [word] * len(COLUMNS) for n, word in enumerate(NOTHING)}
    bad |= {1100 + n: ["", "Meier", *[""] * 7] for n in range(150)}  # one field only, one name in a third of the rows
    bad |= {1300 + n: ["Ada", f"Quint{n:02}", "32.13.2001", *rows[n][3:]] for n in range(5)}
    bad |= {1400 + n: ["Anna", "Meier", *rows[n][2:]] for n in range(100, 130)}  # one name, everything else differs
    add_people(database.engine, bad)
    made = database.create_records("people", table="people", secret=SECRET)
    made.sync()
    return made


def test_bad_rows_are_indexed_and_match_nobody(index: dbsim.Index) -> None:
    assert not index.check()
    for key in (*range(1000, 1000 + len(NOTHING)), 1100, 1249):
        assert index.similar(key) == []
    for by in (None, "components"):
        assert all(len(group.members) < 20 for group in index.duplicates(by=by))
    words_for_nothing_say_nothing(index)
    an_impossible_date_is_equal_only_to_itself(index)
    values_of_a_wrong_type_are_refused_or_read_as_text(index)


def words_for_nothing_say_nothing(index: dbsim.Index) -> None:
    asked = row_of(index, 1)
    (without,) = index.check_row({**asked, "born": None}, limit=1)
    for word in NOTHING:
        (found,) = index.check_row({**asked, "born": word}, limit=1)
        assert (found.key, found.probability) == (without.key, without.probability)
    assert index.check_row(dict.fromkeys(COLUMNS)) == []
    assert index.check_row({"surname": "Meier"}) == []  # one field only


def an_impossible_date_is_equal_only_to_itself(index: dbsim.Index) -> None:
    born = {
        day: next(field for field in match.evidence.fields if field.field == "born").agreement
        for day in ("32.13.2001", "1.12.2001")
        for match in index.check_row({**row_of(index, 1300), "born": day}, probability=0.01, limit=1)
    }
    assert born["32.13.2001"] == "equal"
    assert born.get("1.12.2001") != "equal"


def values_of_a_wrong_type_are_refused_or_read_as_text(index: dbsim.Index) -> None:
    row = row_of(index, 1)
    assert index.check_row({**row, "house": int(row["house"] or 0)})[0].key == index.check_row(row)[0].key
    with pytest.raises(InvalidOption, match="no part of a person's record"):
        index.check_row({**row, "given": [1, 2]})


def test_tables_that_hold_no_persons_or_next_to_nothing(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE counters (id INTEGER PRIMARY KEY, status TEXT, token TEXT)",
        "INSERT INTO counters VALUES (1, 'on', 'a1'), (2, 'off', 'b2')",
        "CREATE TABLE nobody (id INTEGER PRIMARY KEY, given TEXT, surname TEXT, born DATE, zip INTEGER)",
        "CREATE TABLE same (id INTEGER PRIMARY KEY, given TEXT, surname TEXT, born DATE)",
    )
    with pytest.raises(InvalidOption, match="looks like part of a person's record"):
        database.create_records("counters", table="counters")
    with pytest.raises(InvalidOption, match="no rows from which kinds of columns could be guessed"):
        database.create_records("nobody", table="nobody")
    execute(
        database.engine,
        "CREATE TABLE hans (id INTEGER PRIMARY KEY, given TEXT)",
        "INSERT INTO hans VALUES (1, 'Hans'), (2, 'Hans')",
    )
    with pytest.raises(InvalidOption, match="given: all values are the same"):
        database.create_records("hans", table="hans")
    kinds = {"given": "name", "surname": "name", "born": "date", "zip": "digits"}
    empty = database.create_records("nobody", table="nobody", kinds=kinds)
    empty.sync()
    execute(database.engine, "INSERT INTO nobody VALUES (1, 'Anna', NULL, '1990-01-01', 12345)")
    empty.sync()  # one row is nothing to learn from: it waits for another
    execute(database.engine, "INSERT INTO nobody VALUES (2, 'Bert', 'Quint', '1950-05-05', 999)")
    empty.sync()
    assert list(empty.duplicates()) == []
    assert empty.status().rows == 2
    # a table in which all rows are one person, or one name: no group of strangers, no exception
    rows = ", ".join(f"({n}, 'Anna', 'Meier', '19{n % 90 + 10}-01-0{n % 9 + 1}')" for n in range(200))
    execute(database.engine, f"INSERT INTO same VALUES {rows}")
    same = database.create_records("same", table="same")
    same.sync()
    assert all(len(group.members) < 60 for group in same.duplicates())


def test_a_table_of_parts_is_not_taken_for_persons_in_silence(
    database: dbsim.Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ", ".join(f"({n}, 'R-{n:05d}', '{n * 3}', 'steel {n % 9}')" for n in range(50))
    execute(
        database.engine,
        "CREATE TABLE parts (id INTEGER PRIMARY KEY, ref TEXT, weight TEXT, colour TEXT)",
        f"INSERT INTO parts VALUES {rows}",
    )
    url = database.engine.url.render_as_string(hide_password=False)
    code, _, said = Command(monkeypatch, capsys)("create", url, "parts", "--table", "parts", "--records")
    assert code == 0
    assert "if it holds no persons, drop the index" in " ".join(said.split())


def test_a_register_without_a_date_of_birth_is_named_as_such(
    database: dbsim.Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people(database.engine, 60)
    url, run = database.engine.url.render_as_string(hide_password=False), Command(monkeypatch, capsys)
    said = run("create", url, "whole", "--table", "people", "--records")[2]
    assert "date of birth" not in said
    said = run("create", url, "poor", "--table", "people", "--records", "--column", "born:")[2]
    assert "no column of people looks like a date of birth" in " ".join(said.split())


def test_columns_that_tell_little_are_named_by_status(database: dbsim.Database) -> None:
    people(database.engine, 300)
    for name, kinds in {"whole": {}, "poor": {one: "" for one in COLUMNS if one not in ("given", "city")}}.items():
        made = database.create_records(name, table="people", kinds=kinds, secret=SECRET)
        made.sync()
        assert any("the columns tell little" in problem for problem in made.status().problems) == (name == "poor")


def test_keys_of_an_index_of_texts_are_planned_again(database: dbsim.Database) -> None:
    articles(database.engine, corpus(5, 20))
    index = database.create_index("articles", table="articles", columns="body")
    index.sync()
    before = index.options
    index.alter(replan=True).sync()
    assert index.options == before  # nothing to gain on a table of this size
    index.alter(replan=True, threshold=0.5).sync()
    assert index.options.plan != before.plan
    assert not index.check()


def row_of(index: dbsim.Index, key: int) -> dict[str, str]:
    found = index.rows([key])[0]
    assert found is not None
    return found

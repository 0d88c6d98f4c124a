"""golden and merge: which value of each column survives, what other tables see, what is refused; on both engines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text

import dbsim
from dbsim.cli import cli
from dbsim.dedupe.acting.golden import survivor
from dbsim.dedupe.acting.merge import Merging
from dbsim.errors import DbsimError, IndexBehind, InvalidOption, UnknownName
from tests.conftest import SECRET
from tests.integration.helpers import execute, fetch
from tests.people import COLUMNS, add_people, people

ERIKA = ["Erika", "Müller", "1964-08-12", "Heidestraße", "17", "51147", "Köln", "0221445566", "erika@example.org"]
OTHERS = {
    7001: ERIKA,
    7002: ["Erika", "Mueller", "12.8.1964", "Heidestr.", "17", "51147", "Köln", "0221445566", "erika@example.org"],
    7003: ["erika", "Müller", "1964-08-12", "Heidestraße", "17", "51147", "", "0221445566", "erika.m@example.org"],
}


@pytest.mark.parametrize(
    ("rule", "texts", "survives"),
    [
        ("most-frequent", ["Meier", "Müller", "Mueller"], 2),  # spellings count together; of equals the latest
        ("most-frequent", ["Müller", "Meier", "Meier"], 2),
        ("most-frequent", ["Müller", "Meier"], 0),  # a tie: the row that stays
        ("longest", ["A.", "Anna-Maria", "Anna"], 1),
        ("most-recent", ["Anna", "Anna", "Maria"], 2),
        ("most-recent", ["Anna", "Maria", "n/a"], 1),  # nothing never wins
        ("kept", ["", "Maria", "Anna"], 2),
        ("kept", ["Eva", "Maria", "Anna"], 0),
        ("longest", ["", "", ""], 0),
    ],
)
def test_rules(rule: str, texts: list[str], survives: int) -> None:
    spelt = {"Müller": "muller", "Mueller": "muller", "n/a": ""}
    assert survivor(rule, texts, [spelt.get(one, one) for one in texts], 0) == survives


@pytest.fixture
def table(database: dbsim.Database) -> None:
    people(database.engine, 60)
    execute(database.engine, "ALTER TABLE people ADD COLUMN note TEXT", "ALTER TABLE people ADD COLUMN seen TEXT")
    add_people(database.engine, OTHERS)
    execute(database.engine, "UPDATE people SET note = 'VIP', seen = '2020' WHERE id = 7002")


@pytest.fixture
def persons(database: dbsim.Database, table: None) -> dbsim.Index:
    made = database.create_records("people", table="people", secret=SECRET, kinds={"note": "", "seen": ""})
    made.sync()
    return made


@pytest.fixture
def index(database: dbsim.Database, table: None) -> dbsim.Index:
    """Of texts, which has nothing to learn and is made in no time; the rest is the same."""
    fields = [dbsim.Field(columns=tuple(COLUMNS), unit="characters", size=2)]
    made = database.create_index("people", table="people", fields=fields, threshold=0.55, secret=SECRET)
    made.sync()
    return made


def row(database: dbsim.Database, key: int) -> dict[str, Any]:
    names = [*COLUMNS, "note", "seen"]
    (found,) = fetch(database.engine, f"SELECT {', '.join(names)} FROM people WHERE id = {key}")
    return dict(zip(names, found, strict=True))


def mine(index: dbsim.Index, **options: Any) -> dbsim.Golden:
    (found,) = [one for one in index.golden(**options) if 7001 in (one.key, *one.others)]
    return found


def count(database: dbsim.Database, table: str = "people") -> int:
    return int(fetch(database.engine, f"SELECT count(*) FROM {table}")[0][0])


def test_golden_shows_and_merge_does_it(persons: dbsim.Index, database: dbsim.Database) -> None:
    before, stays = count(database), row(database, 7001)
    shown = mine(persons, keep="last")
    assert (shown.key, sorted(shown.others)) == (7003, [7001, 7002])
    assert shown.values["surname"] == "Müller"
    assert shown.values["given"] == "Erika"
    assert shown.values["city"] == "Köln"
    assert shown.values["email"] == "erika@example.org"
    assert shown.sources["surname"] == 7003
    assert "note" not in shown.values
    counted = persons.merge(keep="last", dry_run=True)
    assert count(database) == before
    done = persons.merge(keep="last", expected=counted)
    assert (done.done, done.groups, done.removed, done.left) == (True, counted.groups, counted.removed, 0)
    assert count(database) == before - done.removed
    assert row(database, 7003) == stays | {"note": None, "seen": None}
    persons.sync()
    assert persons.merge(dry_run=True).removed == 0
    assert not persons.check()


def test_rules_by_column_and_the_latest_row(index: dbsim.Index, database: dbsim.Database) -> None:
    rules = {"surname": "most-recent", "note": "kept"}
    assert mine(index, rules=rules).values["surname"] == "Müller"  # 7003 has the highest key
    latest = mine(index, rules=rules, recent="seen")
    assert (latest.values["surname"], latest.sources["surname"]) == ("Mueller", 7002)
    assert (latest.values["note"], latest.changed.count("note")) == ("VIP", 1)
    index.merge(rules=rules, recent="seen")
    assert (row(database, 7001)["surname"], row(database, 7001)["note"]) == ("Mueller", "VIP")


def test_a_unique_value_of_a_row_that_goes_survives(index: dbsim.Index, database: dbsim.Database) -> None:
    execute(database.engine, "CREATE UNIQUE INDEX one_note ON people (note)")
    index.merge(rules={"note": "most-recent"})
    assert row(database, 7001)["note"] == "VIP"


def test_foreign_keys_forbid_or_follow(index: dbsim.Index, database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, person INTEGER REFERENCES people (id))",
        "INSERT INTO orders VALUES (1, 7002), (2, 7001), (3, 7003)",
    )
    before = count(database)
    counted = index.merge(dry_run=True)
    assert counted.blocked == {"orders": 2}
    with pytest.raises(DbsimError, match="foreign keys forbid it"):
        index.merge()
    assert count(database) == before
    followed = index.merge(move_references=True, dry_run=True)
    assert (followed.blocked, followed.moved) == ({}, {"orders.person": 2})
    assert "2 references of orders.person follow" in followed.consequences()
    index.merge(move_references=True, expected=followed)
    assert fetch(database.engine, "SELECT DISTINCT person FROM orders") == [(7001,)]


def test_people_have_the_last_word(index: dbsim.Index) -> None:
    index.decide(7001, 7003, "different")
    assert mine(index).others == [7002] or mine(index).key != 7001
    assert all({7001, 7003} - {one.key, *one.others} for one in index.golden())
    index.decide(1, 7001, "same")
    assert {1, 7001} <= {mine(index).key, *mine(index).others}


def test_a_group_that_changes_on_the_way_is_left_alone(
    index: dbsim.Index, database: dbsim.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = index.merge(dry_run=True)
    numbers = Merging._numbers

    def changed(self: Merging, connection: Any) -> list[int]:
        with database.engine.connect() as other:  # after it was counted, before its turn
            found = numbers(self, connection)
            connection.rollback()
            other.execute(text("UPDATE people SET surname = 'Quint' WHERE id = 7002"))
            other.commit()
        return found

    monkeypatch.setattr(Merging, "_numbers", changed)
    done = index.merge()
    assert (done.left, done.groups) == (1, counted.groups - 1)
    assert len(fetch(database.engine, "SELECT id FROM people WHERE id > 7000")) == 3


def test_what_is_behind_unknown_or_unexpected_is_refused(index: dbsim.Index, database: dbsim.Database) -> None:
    counted = index.merge(dry_run=True)
    with pytest.raises(InvalidOption, match="no rule 'longst'; did you mean 'longest'"):
        index.merge(rule="longst")
    with pytest.raises(UnknownName, match="surnam"):
        index.merge(rules={"surnam": "longest"})
    with pytest.raises(InvalidOption, match="part of the key"):
        index.merge(rules={"id": "longest"})
    index.decide(7001, 7003, "different")
    with pytest.raises(IndexBehind, match="look again"):
        index.merge(expected=counted)
    execute(database.engine, "UPDATE people SET given = 'Ada' WHERE id = 7001")
    with pytest.raises(IndexBehind, match="1 changes"):
        index.merge()


def test_an_error_in_one_group_leaves_it_whole(index: dbsim.Index, database: dbsim.Database) -> None:
    """What went before it is done, its own rows are as they were, and the reason is told without values."""
    execute(
        database.engine,
        "CREATE TABLE badges (id INTEGER PRIMARY KEY, person INTEGER UNIQUE REFERENCES people (id))",
        "INSERT INTO badges VALUES (1, 7001), (2, 7003)",
    )
    counted = index.merge(move_references=True, dry_run=True)
    with pytest.raises(
        DbsimError, match=f"{counted.groups - 1} groups were merged, and the next one cannot be"
    ) as told:
        index.merge(move_references=True)
    assert "7001" not in str(told.value)
    assert len(fetch(database.engine, "SELECT id FROM people WHERE id > 7000")) == 3
    assert sorted(fetch(database.engine, "SELECT id, person FROM badges")) == [(1, 7001), (2, 7003)]


def test_on_the_command_line(index: dbsim.Index, database: dbsim.Database) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    before = count(database)
    shown = CliRunner().invoke(
        cli, ["merge", url, "people", "--dry-run", "--rule", "surname=longest", "--keep", "last"]
    )
    assert shown.exit_code == 0, shown.output
    assert "7003 stays, 7001, 7002 go" in shown.output
    assert "surname  Mueller  (of 7002)" in shown.output
    listed = CliRunner().invoke(cli, ["merge", url, "people", "--json"])
    assert {"key", "others", "values", "sources"} <= json.loads(listed.stdout)[0].keys()
    assert "add --yes to do it" in listed.stderr
    assert count(database) == before
    done = CliRunner().invoke(cli, ["merge", url, "people", "--yes"])
    assert "rows deleted; next: dbsim sync" in done.stderr
    assert count(database) < before
    assert CliRunner().invoke(cli, ["sync", url, "people"]).exit_code == 0
    assert "7001" not in CliRunner().invoke(cli, ["merge", url, "people", "--dry-run"]).output


def test_texts_and_composite_keys(database: dbsim.Database) -> None:
    words = "the quick brown fox jumps over the lazy dog near the river bank on a sunny day in may"
    execute(
        database.engine,
        "CREATE TABLE notes (a INTEGER, b TEXT, body TEXT, PRIMARY KEY (a, b))",
        "CREATE TABLE links (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, FOREIGN KEY (a, b) REFERENCES notes (a, b))",
        f"INSERT INTO notes VALUES (1, 'x', '{words}'), (1, 'y', '{words} again'), (2, 'x', 'something else entirely')",
        "INSERT INTO links VALUES (1, 1, 'y')",
    )
    made = database.create_index("notes", table="notes", columns=["body"], threshold=0.5, secret=SECRET)
    made.sync()
    (found,) = made.golden(rule="longest")
    assert (found.key, found.others) == ({"a": 1, "b": "x"}, [{"a": 1, "b": "y"}])
    assert found.changed == ["body"]
    made.merge(rule="longest", move_references=True)
    assert fetch(database.engine, "SELECT a, b, body FROM notes ORDER BY a, b")[0] == (1, "x", f"{words} again")
    assert fetch(database.engine, "SELECT a, b FROM links") == [(1, "x")]

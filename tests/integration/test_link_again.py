"""A second link compares only what changed, and gives what a run from nothing gives; who may be linked."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import dbsim
from dbsim.dedupe.linked import memory, run
from dbsim.errors import InvalidOption
from tests.conftest import SECRET
from tests.fixtures.shell import Command
from tests.integration.helpers import WORDS, execute, fetch
from tests.people import add_people, people

KINDS = {"given": "name", "surname": "name", "born": "date", "street": "address", "house": "digits"}
KINDS |= {"postcode": "digits", "city": "text", "phone": "phone", "email": "email"}
Shown = list[tuple[Any, ...]]


def _links(found: dbsim.Links) -> Shown:
    return [(one.a, one.b, one.score, repr(one.evidence), one.decision) for one in found]


def _table(database: dbsim.Database, name: str, a: str, b: str) -> Shown:
    query = f"SELECT {a}, {b}, score, evidence, decision FROM {name}"
    return sorted(fetch(database.engine, query), key=repr)


def _agree(database: dbsim.Database, a: dbsim.Index, b: dbsim.Index, columns: tuple[str, str], **how: Any) -> int:
    """The run that remembers against one from nothing, in result and in the table; rows that were compared."""
    again = a.link(b, into="remembered", **how)
    if fetch(database.engine, f"SELECT part FROM dbsim_{a.name}_linked WHERE links = 'from_nothing'"):
        execute(database.engine, f"DELETE FROM dbsim_{a.name}_linked WHERE links = 'from_nothing'")
    fresh = a.link(b, into="from_nothing", **how)
    assert fresh.asked == fresh.rows == again.rows
    assert _links(again) == _links(fresh)
    stored = _table(database, "remembered", *columns)
    assert stored == _table(database, "from_nothing", *columns)
    assert len(stored) == len(again)
    return again.asked


def test_texts_that_change_on_either_side(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Composite keys of text; few words, so that rows have several partners; parts are rewritten now and then."""
    monkeypatch.setattr(memory, "SPARE", 10)
    monkeypatch.setattr(memory, "PART", 7)
    monkeypatch.setattr(run, "BATCH", 8)
    rng = random.Random(11)
    words = WORDS[:30]

    def body() -> str:
        return " ".join(rng.choice(words) for _ in range(5))

    for table in ("notes", "letters"):
        execute(database.engine, f"CREATE TABLE {table} (box TEXT, leaf INTEGER, body TEXT, PRIMARY KEY (box, leaf))")
        rows = [{"box": f"ü{n % 3}", "leaf": n, "body": body()} for n in range(40)]
        with database.engine.begin() as connection:
            connection.execute(text(f"INSERT INTO {table} VALUES (:box, :leaf, :body)"), rows)
        database.create_index(
            table, table=table, columns="body", words=1, threshold=0.3, rows=1, keys=3, bits=1024, secret=SECRET
        ).sync()
    a, b = database.index("notes"), database.index("letters")
    columns = ("a_box, a_leaf", "b_box, b_leaf")
    assert _agree(database, a, b, columns) == 40
    assert _agree(database, a, b, columns) == 0
    asked = 0
    for step in range(9):
        with database.engine.begin() as connection:
            for table in rng.sample(["notes", "letters"], rng.choice([1, 2])):
                leaf = rng.randrange(40)
                key = {"box": f"ü{leaf % 3}", "leaf": leaf}
                connection.execute(text(f"DELETE FROM {table} WHERE box = :box AND leaf = :leaf"), key)
                if rng.random() < 0.7:
                    connection.execute(text(f"INSERT INTO {table} VALUES (:box, :leaf, :body)"), key | {"body": body()})
        if step == 3:  # what people say stays, and counts
            for name in ("remembered", "from_nothing"):
                execute(
                    database.engine,
                    f"UPDATE {name} SET decision = CASE WHEN a_leaf % 2 = 0 THEN 'same' ELSE 'different' END "
                    "WHERE a_leaf % 5 < 2 AND b_leaf % 3 = 0",
                )
        if step == 6:  # nor does a run rely on what it wrote itself
            execute(database.engine, "DELETE FROM remembered WHERE decision IS NULL AND b_leaf % 2 = 0")
        if rng.random() < 0.8:
            a.sync()
            b.sync()
        asked += _agree(database, a, b, columns, one_to_one=step % 3 > 0)
    assert 0 < asked < 9 * 20


@pytest.mark.long
def test_persons_that_change_on_either_side(database: dbsim.Database) -> None:
    rng = random.Random(5)
    made = people(database.engine, 90)
    people(database.engine, 1, 77, table="clients")
    execute(database.engine, "DELETE FROM clients")
    add_people(database.engine, {500 + n: made.rows[n] for n in range(0, 90, 2)}, table="clients")
    a, b = (database.create_records(name, table=name, kinds=KINDS, secret=SECRET) for name in ("clients", "people"))
    a.sync()
    b.sync()
    columns = ("a_id", "b_id")
    assert _agree(database, a, b, columns, one_to_one=True) == 45
    asked = 0
    for step in range(3):
        one, two = rng.randrange(0, 90, 2), rng.randrange(1, 90)
        execute(
            database.engine,
            f"UPDATE clients SET surname = '{_plain(made.rows[two][1])}', city = NULL WHERE id = {500 + one}",
            f"DELETE FROM people WHERE id = {two}",
            f"UPDATE people SET given = '{_plain(made.rows[one][0])}' WHERE id = {rng.randrange(1, 90)}",
        )
        add_people(database.engine, {700 + step: made.rows[rng.randrange(90)]}, table=rng.choice(["clients", "people"]))
        a.sync()
        b.sync()
        asked += _agree(database, a, b, columns, one_to_one=step % 2 == 0)
    assert 0 < asked < 3 * 30
    b.refit()
    b.sync()
    assert a.link(b, into="remembered").asked == a.status().rows  # another model: all probabilities are others


def test_a_text_that_was_not_synced_is_compared_again(database: dbsim.Database) -> None:
    """It decided a link, and was changed back before anybody signed it: nothing but the memory knows."""
    for table in ("notes", "letters"):
        execute(
            database.engine,
            f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, body TEXT)",
            f"INSERT INTO {table} VALUES (1, 'amber brook cedar delta ember fjord grove heath islet kelp')",
            f"INSERT INTO {table} VALUES (2, 'meadow nectar orchard pebble quartz ridge saddle upland valley willow')",
        )
        database.create_index(
            table, table=table, columns="body", words=1, threshold=0.8, rows=1, keys=8, bits=256, secret=SECRET
        ).sync()
    a, b = database.index("notes"), database.index("letters")
    for table in ("notes", "letters"):
        body = fetch(database.engine, f"SELECT body FROM {table} WHERE id = 1")[0][0]
        execute(database.engine, f"UPDATE {table} SET body = 'amber brook cedar delta something else' WHERE id = 1")
        a.link(b, into="remembered")
        execute(database.engine, f"UPDATE {table} SET body = '{body}' WHERE id = 1")
        a.sync()
        b.sync()
        _agree(database, a, b, ("a_id", "b_id"))


def test_who_is_not_linked(
    database: dbsim.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other options or another secret: one sentence with the remedy, which works."""
    for table in ("notes", "letters"):
        execute(
            database.engine,
            f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, title TEXT, body TEXT)",
            f"INSERT INTO {table} VALUES (1, 'a title', 'amber brook cedar delta ember fjord grove heath islet kelp')",
        )
    few: dict[str, Any] = {"words": 2, "threshold": 0.5, "rows": 1, "keys": 4}

    def make(name: str, table: str, **options: Any) -> dbsim.Index:
        made = database.create_index(name, table=table, **(few | options))
        made.sync()
        return made

    notes = make("notes", "notes", columns="body", secret=SECRET)
    with pytest.raises(InvalidOption, match=r"different secrets.*--secret index:other where both"):
        notes.link(make("other", "letters", columns="body"))
    letters = make("letters", "letters", columns="body", secret="index:notes")
    assert [(one.a, one.b) for one in notes.link(letters)] == [(1, 1)]
    with pytest.raises(
        InvalidOption, match="must be of one family, but 'notes' is minhash@1 and 'bits' rabin-minhash@1"
    ):
        notes.link(make("bits", "letters", columns="body", family="rabin-minhash", secret=SECRET))
    with pytest.raises(InvalidOption, match="same kinds of fields in the same order"):
        notes.link(make("three", "letters", columns="body", words=3, secret=SECRET))
    first = make("first", "notes", columns={"title": 1, "body": 3}, secret=SECRET)
    with pytest.raises(InvalidOption, match="have different weights: create one of them anew"):
        first.link(make("second", "letters", columns={"title": 1, "body": 1}, secret=SECRET))
    run_cli = Command(monkeypatch, capsys)
    url = database.engine.url.render_as_string(hide_password=False)
    (tmp_path / "secret").write_text("f" * 40)
    for name in ("notes", "letters"):
        assert run_cli("alter", url, name, "--secret", f"file:{tmp_path / 'secret'}")[0] == 0
        assert run_cli("sync", url, name)[0] == 0
    assert "1 links of 1 rows (1 compared now)" in run_cli("link", url, "notes", "letters")[2]
    assert "1 links of 1 rows (0 compared now)" in run_cli("link", url, "notes", "letters")[2]
    (tmp_path / "secret").unlink()
    code, _, said = run_cli("link", url, "notes", "letters")
    assert code == 2
    assert "cannot be read" in said
    database.index("notes").drop()
    assert not [row for row in _names(database) if row.startswith("dbsim_notes")]


def _plain(name: str) -> str:
    return name.replace("'", "")


def _names(database: dbsim.Database) -> list[str]:
    catalogue = "sqlite_master" if database.engine.dialect.name == "sqlite" else "pg_tables"
    column = "name" if catalogue == "sqlite_master" else "tablename"
    return [row[0] for row in fetch(database.engine, f"SELECT {column} FROM {catalogue}")]

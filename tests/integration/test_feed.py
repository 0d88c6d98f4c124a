"""An index without triggers that follows a column which grows with every change; what it cannot see."""

from __future__ import annotations

import pytest

import dbsim
from dbsim.errors import InvalidOption, UnknownName
from tests.conftest import SECRET
from tests.fixtures.shell import Command
from tests.integration.helpers import corpus, execute, fetch

MOMENT = {"sqlite": "datetime('now', '{}')", "postgresql": "now() + interval '{}'"}


def moment(database: dbsim.Database, shift: str) -> str:
    return MOMENT[database.engine.dialect.name].format(shift)


def fill(database: dbsim.Database, type_: str, first: str) -> dbsim.Index:
    rows = ", ".join(f"({number}, '{body}', {first})" for number, body in corpus(3, 5).items())
    execute(
        database.engine,
        f"CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT, updated_at {type_})",
        f"INSERT INTO articles VALUES {rows}",
    )
    return database.create_index(
        "articles", table="articles", columns="body", threshold=0.6, changed="updated_at", secret=SECRET
    )


@pytest.mark.parametrize("kind", ["moment", "number"])
def test_only_rows_changed_since_are_looked_at(database: dbsim.Database, kind: str) -> None:
    old, now = (moment(database, "-1 hours"), moment(database, "0 hours")) if kind == "moment" else ("1", "2")
    index = fill(database, "TIMESTAMP" if kind == "moment" else "INTEGER", old)
    assert not index.options.triggers
    first = index.sync()
    assert (first.filled, first.compared) == (17, 17)
    again = index.sync()  # those at the largest value, which others may still get
    assert (again.compared, again.repaired) == (17, 0)
    execute(database.engine, f"UPDATE articles SET body = 'now another', updated_at = {now} WHERE id = 5")
    execute(database.engine, f"INSERT INTO articles VALUES (99, 'now another', {now})")
    found = index.sync()
    assert found.repaired == 2
    assert {hit.key for hit in index.search("now another")} == {5, 99}
    assert index.sync().compared == 2, "older rows are left alone from here on"
    assert not index.check()


@pytest.mark.parametrize("kind", ["moment", "number"])
def test_rows_in_which_it_is_null_are_looked_at_every_time(database: dbsim.Database, kind: str) -> None:
    """As where it is set by the first UPDATE only: such a row may be new, or an older one that was emptied."""
    old, now = (moment(database, "-1 hours"), moment(database, "0 hours")) if kind == "moment" else ("1", "2")
    index = fill(database, "TIMESTAMP" if kind == "moment" else "INTEGER", old)
    index.sync()
    execute(
        database.engine,
        f"UPDATE articles SET updated_at = {now} WHERE id = 1",
        "INSERT INTO articles VALUES (99, 'never changed since', NULL)",
        "UPDATE articles SET body = 'put back to nothing', updated_at = NULL WHERE id = 5",
    )
    assert index.sync().repaired == 2
    assert [hit.key for hit in index.search("never changed since", threshold=0.9)] == [99]
    assert index.sync().compared == 3, "rows 1, 5 and 99"
    assert not index.check()


def test_what_it_cannot_see_is_found_by_a_comparison(database: dbsim.Database) -> None:
    index = fill(database, "INTEGER", "1")
    index.sync()
    execute(database.engine, "UPDATE articles SET updated_at = 5 WHERE id = 1")
    index.sync()
    execute(database.engine, "DELETE FROM articles WHERE id = 2", "UPDATE articles SET body = 'x y z' WHERE id = 3")
    assert index.sync().repaired == 0
    assert index.sync(reconcile=True).repaired == 2
    assert not index.check()


def test_a_row_committed_late(new_postgres: str) -> None:
    """Its timestamp is older than one that was seen already."""
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        index = fill(database, "TIMESTAMPTZ", "now()")
        with database.engine.connect() as slow:
            slow.exec_driver_sql("INSERT INTO articles VALUES (50, 'committed late', now())")
            execute(database.engine, "INSERT INTO articles VALUES (51, 'committed soon', now())")
            index.sync()
            slow.commit()
        assert index.sync().repaired == 1
        assert [hit.key for hit in index.search("committed late", threshold=0.9)] == [50]


def test_words(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    execute(database.engine, "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT, updated_at INTEGER)")
    url = database.engine.url.render_as_string(hide_password=False)
    made = Command(monkeypatch, capsys)(
        *("create", url, "t", "--table", "t", "--column", "body", "--changed-column", "updated_at")
    )
    assert made[0] == 0, made
    assert "not seen by updated_at: deleted rows" in made[1]
    with pytest.raises(UnknownName, match="updated_at"):
        database.create_index("other", table="t", columns="body", changed="updatedat")
    with pytest.raises(InvalidOption, match="inline"):
        database.create_index("other", table="t", columns="body", changed="updated_at", inline=True)
    database.drop_index("t")
    named = "name FROM sqlite_master" if url.startswith("sqlite") else "relname FROM pg_class"
    assert not [name for (name,) in fetch(database.engine, f"SELECT {named}") if name.startswith("dbsim_t_")]

"""delete_duplicates and mark_duplicates: what stays, what other tables lose, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

import dbsim
from dbsim.errors import DbsimError, IndexBehind, InvalidOption, NoPrimaryKey, UnknownName
from tests.articles import fill
from tests.conftest import SECRET
from tests.integration.test_duplicates import BASE, FAMILY, OTHER, keys, query, run

TEXTS = [*FAMILY, OTHER, "", OTHER]


def ids(database: dbsim.Database) -> list[int]:
    return [row[0] for row in query(database, "SELECT id FROM articles ORDER BY id")]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("first", [0, 4]),
        ("last", [3, 6]),
        ("longest", [2, 4]),
        ("id = 1", [1, 4]),
        ("CASE WHEN id = 2 THEN 1 END", [2, 4]),
        ("body LIKE '%red%'", [1, 4]),
    ],
)
def test_keep(database: dbsim.Database, keep: str, kept: list[int]) -> None:
    texts = list(TEXTS)
    texts[2] += " and longer"
    index = fill(database, texts, threshold=0.45)
    counted = index.delete_duplicates(keep=keep, dry_run=True)
    assert (counted.groups, counted.removed, counted.done) == (2, 4, False)
    assert len(ids(database)) == 7
    done = index.delete_duplicates(keep=keep, expected=counted)
    assert (done.groups, done.removed, done.done) == (2, 4, True)
    assert ids(database) == sorted([*kept, 5])
    index.sync()
    assert keys(index) == []


def test_only_rows_that_are_all_alike_go(database: dbsim.Database) -> None:
    """The first row has 0.73 in common with 1 and 0.81 with 2, but these two only 0.58: one of them stays.

    What a grouping by representatives would delete is not deleted.
    """
    index = fill(database, FAMILY, threshold=0.7)
    assert keys(index) == [[0, 1, 2, 3]]
    assert index.delete_duplicates().removed == 2
    assert ids(database) == [0, 1]


@pytest.mark.parametrize(("type_", "goes"), [("BOOLEAN", True), ("INTEGER", 0), ("TEXT", "0")])
def test_mark(database: dbsim.Database, type_: str, goes: Any) -> None:
    index = fill(database, [*FAMILY, OTHER], threshold=0.55)
    run(database, f"ALTER TABLE articles ADD COLUMN seen {type_}")
    index.mark_duplicates("seen")
    assert index.status().queued == 0  # no indexed column was touched
    seen = [row[0] for row in query(database, "SELECT seen FROM articles ORDER BY id")]
    assert seen[1:] == [goes, goes, goes, None]
    assert not seen[0]
    index.sync()
    assert index.mark_duplicates("seen", dry_run=True).other_values == 0  # the same marks once more
    other = "true" if type_ == "BOOLEAN" else "7" if type_ == "INTEGER" else "'mine'"
    run(database, f"UPDATE articles SET seen = {other} WHERE id IN (0, 4)")
    index.sync()
    before = query(database, "SELECT * FROM articles ORDER BY id")
    with pytest.raises(InvalidOption, match="holds other values in 1 rows of these groups"):
        index.mark_duplicates("seen")
    assert query(database, "SELECT * FROM articles ORDER BY id") == before
    index.mark_duplicates("seen", overwrite=True)
    seen = [row[0] for row in query(database, "SELECT seen FROM articles ORDER BY id")]
    assert not seen[0]
    assert seen[4] is not None  # of no group


REFERRING = """
CREATE TABLE notes (id INTEGER PRIMARY KEY, article INTEGER REFERENCES articles (id) ON DELETE CASCADE);
CREATE TABLE remarks (id INTEGER PRIMARY KEY, note INTEGER REFERENCES notes (id) ON DELETE CASCADE);
CREATE TABLE stars (id INTEGER PRIMARY KEY, article INTEGER REFERENCES articles (id) ON DELETE SET NULL);
INSERT INTO notes VALUES (1, 0), (2, 1), (3, 3), (4, 4);
INSERT INTO remarks VALUES (1, 2), (2, 2), (3, 3), (4, 1);
INSERT INTO stars VALUES (1, 2), (2, 0)
"""


def refer(database: dbsim.Database, statements: str = REFERRING) -> None:
    for statement in statements.split(";"):
        run(database, statement)


def test_what_other_tables_lose_is_counted_and_happens(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER], threshold=0.55)
    refer(database)
    counted = index.delete_duplicates(dry_run=True)
    assert (dict(counted.cascaded), dict(counted.emptied), dict(counted.blocked)) == (
        {"notes": 2, "remarks": 3},
        {"stars.article": 1},
        {},
    )
    assert counted.consequences().startswith(
        "2 rows of notes go with them; 3 rows of remarks go with them; 1 references"
    )
    index.delete_duplicates(expected=counted)
    assert query(database, "SELECT id FROM notes ORDER BY id") == [(1,), (4,)]
    assert query(database, "SELECT id FROM remarks") == [(4,)]
    assert query(database, "SELECT article FROM stars ORDER BY id") == [(None,), (0,)]


def test_a_foreign_key_that_forbids_it_is_respected(database: dbsim.Database) -> None:
    """On SQLite, too, where a connection does not look at foreign keys unless told so."""
    index = fill(database, [*FAMILY, OTHER], threshold=0.55)
    refer(database, "CREATE TABLE orders (id INTEGER PRIMARY KEY, article INTEGER REFERENCES articles (id))")
    refer(database, "INSERT INTO orders VALUES (1, 1), (2, 2), (3, 0)")
    assert dict(index.delete_duplicates(dry_run=True).blocked) == {"orders": 2}
    with pytest.raises(DbsimError, match="2 rows of orders refer to rows that would go"):
        index.delete_duplicates()
    assert len(ids(database)) == 5
    run(database, "UPDATE orders SET article = 0")
    assert index.delete_duplicates().removed == 3
    if database.engine.dialect.name == "sqlite":  # the application's own setting is as it was
        assert query(database, "PRAGMA foreign_keys") == [(0,)]


def test_rows_that_refer_to_each_other_may_go_together(database: dbsim.Database) -> None:
    run(database, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT, parent INTEGER REFERENCES articles (id))")
    for number, (body, parent) in enumerate([(BASE, None), (BASE, 0), (BASE, 1)]):
        run(database, "INSERT INTO articles VALUES (:id, :body, :parent)", id=number, body=body, parent=parent)
    index = database.create_index("articles", table="articles", columns=["body"], secret=SECRET)
    index.sync()
    assert index.delete_duplicates().removed == 2
    assert ids(database) == [0]


def test_refusals(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER], threshold=0.55)
    with pytest.raises(InvalidOption, match="rows are kept by first, last, longest or a SQL expression"):
        index.delete_duplicates(keep="longst(")
    with pytest.raises(UnknownName, match="did you mean 'body'"):
        index.mark_duplicates("bodi")
    with pytest.raises(InvalidOption, match="part of the key or of the indexed text"):
        index.mark_duplicates("body")
    run(database, "UPDATE articles SET body = :body WHERE id = 1", body=OTHER)
    with pytest.raises(IndexBehind, match="1 changes of the table are not in the index yet"):
        index.delete_duplicates()
    counted = index.delete_duplicates(dry_run=True)
    index.sync()
    with pytest.raises(IndexBehind, match="changed since they were counted"):
        index.delete_duplicates(expected=counted)
    assert len(ids(database)) == 5
    run(database, "UPDATE articles SET body = :body WHERE id = 1", body="now alone in the world")
    assert index.delete_duplicates(even_if_behind=True).done


def test_delete_is_refused_on_what_became_a_view_or_lost_its_key(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER])
    index.delete_duplicates(dry_run=True)
    run(database, "ALTER TABLE articles RENAME TO moved")
    run(database, "CREATE VIEW articles AS SELECT * FROM moved")
    with pytest.raises(DbsimError, match="is a view"):
        index.delete_duplicates(even_if_behind=True)
    run(database, "DROP VIEW articles")
    run(database, "CREATE TABLE articles AS SELECT * FROM moved")
    with pytest.raises(NoPrimaryKey):
        index.delete_duplicates(even_if_behind=True)
    run(database, "DROP TABLE articles")
    with pytest.raises(UnknownName, match="no table 'articles'"):
        index.delete_duplicates(even_if_behind=True)


def test_without_triggers_an_index_may_be_behind(database: dbsim.Database) -> None:
    run(database, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
    run(database, "INSERT INTO articles VALUES (1, :body), (2, :body)", body=BASE)
    index = database.create_index("articles", table="articles", columns=["body"], triggers=False, secret=SECRET)
    index.sync()
    assert keys(index) == [[1, 2]]
    with pytest.raises(IndexBehind, match="without triggers"):
        index.delete_duplicates()
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO articles VALUES (3, :body)"), {"body": BASE})
    index.sync()
    assert keys(index) == [[1, 2, 3]]

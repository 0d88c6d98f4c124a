"""Every door respects what people decided, on both engines: Python, views, SQL functions, granted roles."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, text

import dbsim
from dbsim.engines import views
from dbsim.errors import DatabaseUnavailable, InvalidOption
from tests.integration.helpers import QUICK, articles, corpus, execute, fetch, near_copy, sentence, url_of

# 1 to 4 are near each other (1 and 2 are copies), 5 to 8, 9 to 12; 13 to 16 are alone
OPTIONS: dict[str, Any] = {"table": "articles", "columns": ["body"], "threshold": 0.5, **QUICK}


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(3, singles=4))
    made = database.create_index("articles", **OPTIONS)
    made.sync()
    return made


def decide(index: dbsim.Index) -> None:
    """Copies that are different, near rows that are, two alone that are the same."""
    index.decide(1, 2, "different")
    index.decide(1, 3, "different")
    index.decide(1, 13, "same")
    index.decide(14, 1, "unsure")


def on_postgresql(database: dbsim.Database) -> bool:
    return database.engine.dialect.name == "postgresql"


def keys(database: dbsim.Database, call: str) -> list[int]:
    return [row[0] for row in fetch(database.engine, f"SELECT * FROM dbsim_articles_{call}")]


def test_searches_of_every_kind(index: dbsim.Index, database: dbsim.Database) -> None:
    decide(index)
    question = sentence(0)
    assert [hit.key for hit in index.search(question, decided=1)] == [4, 13]
    first, second = index.search_many([question, question], decided=[1, None])
    assert [hit.key for hit in first] == [4, 13]
    assert [hit.key for hit in second] == [1, 2, 3, 4]
    with pytest.raises(InvalidOption, match="1 texts, but 2 keys"):
        index.search_many([question], decided=[1, 2])
    with database.engine.connect() as connection:
        found = connection.execute(select(index.match(question, decided=1))).all()
        assert [row[0] for row in found] == [4, 13]
        (in_view,) = fetch(database.engine, "SELECT score FROM dbsim_articles_pairs WHERE a = 1 AND b = 13")
        assert found[1].score == pytest.approx(in_view[0])
        assert [row[0] for row in connection.execute(select(index.match(question, decided=13)))] == [1, 2, 3, 4]
        odd = select(index.match(question, decided=1, where="id % 2 = 1"))
        assert [row[0] for row in connection.execute(odd)] == [13]
        assert [row[0] for row in connection.execute(select(index.match(question)))] == [1, 2, 3, 4]


def test_functions_in_sql_give_what_python_gives(owned: dbsim.Database) -> None:
    """On PostgreSQL, which has them."""
    database = owned
    articles(database.engine, corpus(3, singles=4))
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    before = keys(database, "similar(1)")
    decide(index)
    for key in (1, 2, 3, 4, 13, 14):
        for hits in (1, 2, 10):
            rows = fetch(database.engine, f"SELECT id, score FROM dbsim_articles_similar({key}, hits => {hits})")
            found = index.similar(key, limit=hits)
            assert [row[0] for row in rows] == [hit.key for hit in found]
            assert [row[1] for row in rows] == [pytest.approx(hit.score, abs=1e-9) for hit in found]
    assert keys(database, f"search('{sentence(0)}', decided => 1)") == [4, 13]
    assert keys(database, f"search('{sentence(0)}')") == [1, 2, 3, 4]
    assert sorted(fetch(database.engine, "SELECT * FROM dbsim_articles_verdicts(1)")) == [
        (2, "different"),
        (3, "different"),
        (13, "same"),
    ]
    execute(database.engine, f"UPDATE articles SET body = '{near_copy(0, 2)}' WHERE id = 1")  # outdated at the sync
    index.sync()
    assert keys(database, "similar(1)") == before == [2, 3, 4]
    execute(database.engine, "DELETE FROM articles WHERE id = 13")
    index.decide(1, 4, "different")
    index.sync()
    assert keys(database, "similar(1)") == [2, 3]
    assert fetch(database.engine, "SELECT count(*) FROM dbsim_articles_decisions WHERE a = 13 OR b = 13") == [(0,)]


def test_the_view_of_pairs_says_what_was_decided(index: dbsim.Index, database: dbsim.Database) -> None:
    decide(index)
    index.decide(1, 4, "same")
    rows = fetch(database.engine, "SELECT b, decided FROM dbsim_articles_pairs WHERE a = 1 ORDER BY b")
    assert rows == [(4, "same"), (13, "same")]
    rows = fetch(database.engine, "SELECT b, decided FROM dbsim_articles_pairs WHERE a = 4 ORDER BY b")
    assert rows == [(1, "same"), (2, None), (3, None)]


def test_groups_in_views_and_functions(index: dbsim.Index, database: dbsim.Database) -> None:
    """Not through a third row, and the same ones below the threshold."""
    index.duplicates(by="components", publish=True)
    decide(index)
    index.decide(5, 7, "different")
    index.sync()
    rows = fetch(database.engine, "SELECT group_id, id FROM dbsim_articles_groups")
    together: dict[int, set[int]] = {}
    for group, key in rows:
        together.setdefault(group, set()).add(key)
    expected = {frozenset(hit.key for hit in group.members) for group in index.duplicates(by="components")}
    assert {frozenset(group) for group in together.values()} == expected
    assert any({1, 13} <= group for group in expected)
    if on_postgresql(database):
        made: dict[int, set[int]] = {}
        for group, key in fetch(database.engine, "SELECT * FROM dbsim_articles_components(0.5)"):
            made.setdefault(group, set()).add(key)
        assert {frozenset(group) for group in made.values()} == expected
        assert all(len(group) > 1 for group in made.values())
        assert not fetch(database.engine, "SELECT * FROM dbsim_articles_components(1.5) WHERE id NOT IN (1, 13)")


def test_a_composite_key(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE notes (part TEXT, number INTEGER, body TEXT, PRIMARY KEY (part, number))")
    with database.engine.begin() as connection:
        rows = [{"p": f"p{n % 2}", "n": n, "b": body} for n, body in corpus(1, singles=1).items()]
        connection.execute(text("INSERT INTO notes VALUES (:p, :n, :b)"), rows)
    index = database.create_index("notes", **OPTIONS | {"table": "notes"})
    index.sync()
    index.decide(("p1", 1), ("p0", 2), "different")
    index.decide(("p1", 5), ("p1", 1), "same")
    found = [(hit.key["part"], hit.key["number"]) for hit in index.similar(("p1", 1))]
    assert found == [("p1", 3), ("p0", 4), ("p1", 5)]
    with database.engine.connect() as connection:
        rows = connection.execute(select(index.match(sentence(0), decided=("p1", 1)))).all()
    assert [tuple(row[:2]) for row in rows] == found
    if on_postgresql(database):
        for call in ("similar('p1', 1)", f"search('{sentence(0)}', decided_part => 'p1', decided_number => 1)"):
            assert [row[:2] for row in fetch(database.engine, f"SELECT * FROM dbsim_notes_{call}")] == found


def test_a_granted_role_reads_and_one_that_decides_writes(owned: dbsim.Database, role: str) -> None:
    articles(owned.engine, corpus(3, singles=4))
    index = owned.create_index("articles", **OPTIONS)
    index.sync()
    decide(index)
    execute(owned.engine, f'GRANT SELECT ON articles TO "{role}"')
    assert index.grant(role) == []
    insert = "INSERT INTO dbsim_articles_decided (a, b, verdict) VALUES (5, 6, 'different')"
    with dbsim.open(url_of(owned, role)) as theirs:
        reader = theirs.index("articles")
        assert reader.similar(1) == index.similar(1)
        assert [hit.key for hit in reader.similar(1)] == [4, 13]
        assert [hit.key for hit in reader.search(sentence(0), decided=1)] == [4, 13]
        assert [(one.a, one.b, one.verdict) for one in reader.decisions()] == [
            (one.a, one.b, one.verdict) for one in index.decisions()
        ]
        assert keys(theirs, "similar(1)") == [4, 13]
        made = {row[1] for row in fetch(theirs.engine, "SELECT * FROM dbsim_articles_components(0.5)")}
        assert made == set(range(2, 14)) | {1}
        for refused in (insert, "DELETE FROM dbsim_articles_decided", "SELECT * FROM dbsim_articles_decisions"):
            with pytest.raises(Exception, match="permission denied"):
                execute(theirs.engine, refused)
        with pytest.raises(DatabaseUnavailable, match="lacks a right"):
            reader.decide(5, 6, "different")
        index.grant(role, decide=True)
        execute(theirs.engine, insert)
        assert reader.decide(9, 10, "different", who="them").who == "them"
        assert reader.undecide(9, 10)
    index.sync()
    assert [(one.b, one.who) for one in index.decisions() if one.a == 5] == [(6, role)]
    execute(owned.engine, "ALTER TABLE articles RENAME COLUMN body TO content")
    owned.rename("articles", {"body": "content"})  # makes all views anew
    with dbsim.open(url_of(owned, role)) as theirs:
        execute(theirs.engine, "DELETE FROM dbsim_articles_decided WHERE a = 5")
    owned.index("articles").revoke(role)
    with dbsim.open(url_of(owned, role)) as theirs, pytest.raises(Exception, match="permission denied"):
        execute(theirs.engine, insert)


def test_decisions_about_hidden_rows_stay_hidden(owned: dbsim.Database, role: str) -> None:
    articles(owned.engine, corpus(3, singles=4))
    index = owned.create_index("articles", **OPTIONS)
    index.sync()
    decide(index)
    index.decide(4, 2, "different")
    execute(owned.engine, f'GRANT SELECT ON articles TO "{role}"', "ALTER TABLE articles ENABLE ROW LEVEL SECURITY")
    execute(owned.engine, "CREATE POLICY even ON articles USING (id % 2 = 0)")
    index.grant(role, decide=True)
    with dbsim.open(url_of(owned, role)) as theirs:
        assert fetch(theirs.engine, "SELECT a, b FROM dbsim_articles_decided") == [(2, 4)]
        assert keys(theirs, "similar(2)") == [hit.key for hit in theirs.index("articles").similar(2)] == []
        for hidden in ("(3, 4, 'same')", "(2, 3, 'same')"):
            with pytest.raises(Exception, match="violates check option"):
                execute(theirs.engine, f"INSERT INTO dbsim_articles_decided (a, b, verdict) VALUES {hidden}")
        execute(theirs.engine, "INSERT INTO dbsim_articles_decided (a, b, verdict) VALUES (2, 14, 'same')")
        execute(theirs.engine, "DELETE FROM dbsim_articles_decided WHERE a = 1")
        assert keys(theirs, "similar(2)") == [14]
    assert [(one.a, one.b) for one in index.decisions()] == [(1, 2), (1, 3), (1, 13), (1, 14), (2, 4), (2, 14)]


def test_views_of_the_revision_before_are_brought_up(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index whose views knew nothing of `decided`; the first sync makes them anew and keeps what was decided."""
    articles(database.engine, corpus(3, singles=4))
    with monkeypatch.context() as earlier:
        earlier.setattr(views, "MARK", f"dbsim revision {views.REVISION - 1}")
        index = database.create_index("articles", **OPTIONS)
        index.sync()
    if on_postgresql(database):
        execute(database.engine, "DROP VIEW dbsim_articles_decided CASCADE", "DROP VIEW dbsim_articles_pairs CASCADE")
        execute(database.engine, "CREATE VIEW dbsim_articles_pairs AS SELECT 1 AS a, 2 AS b, 1.0::float8 AS score, "
                "1 AS shared_keys, 1.0::float8 AS standard_error")  # fmt: skip
    execute(database.engine, "INSERT INTO dbsim_articles_decisions (a, b, verdict) VALUES (1, 13, 'same')")
    assert "of an earlier dbsim: run `dbsim sync`" in "".join(index.status().problems)
    assert index.sync().renewed
    assert index.status().problems == ()
    rows = fetch(database.engine, "SELECT b, decided FROM dbsim_articles_pairs WHERE a = 1 ORDER BY b")
    assert rows == [(2, None), (3, None), (4, None), (13, "same")]
    if on_postgresql(database):
        assert keys(database, "similar(1)") == [2, 3, 4, 13]
    assert index.sync().idle

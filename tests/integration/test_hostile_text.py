"""Any text is safe: what cannot be read goes to quarantine, and no other row is lost."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import insert, text
from sqlalchemy import table as table_clause
from sqlalchemy.sql import column

import dbsim
from tests.conftest import SECRET
from tests.integration.helpers import QUICK, add, articles, corpus, execute, fetch, near_copy, sentence
from tests.oracle import assert_in_step

sqlite_only = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
LARGE = 10_000_000


def indexed(database: dbsim.Database, texts: dict[int, str | None], **options: Any) -> dbsim.Index:
    articles(database.engine, texts)
    index = database.create_index("articles", table="articles", columns="body", **{**QUICK, **options})
    index.sync()
    return index


def test_empty_texts_match_nothing(database: dbsim.Database) -> None:
    blank = {1: "", 2: None, 3: "   ", 4: "…!?", 5: "\n\t", 6: "", 7: None, 8: sentence(1)}
    index = indexed(database, blank, words=3)
    for key in (1, 2, 3, 4, 5, 6, 7):
        assert index.similar(key, threshold=0) == []
    for query in ("", " ", "?!", "\u200b"):
        assert index.search(query, threshold=0) == []
        assert index.search_many([query, sentence(1), query], threshold=0)[0] == []
    assert [hit.key for hit in index.search_many(["", sentence(1)])[1]] == [8]
    status = index.status()
    assert (status.rows, status.indexed, status.quarantined) == (8, 8, 0)
    assert_in_step(database, "articles")


@pytest.mark.parametrize(("unit", "size"), [("words", 3), ("characters", 5)])
def test_a_text_shorter_than_a_shingle_matches_only_its_equal(database: dbsim.Database, unit: str, size: int) -> None:
    texts = {1: "ab", 2: "AB!", 3: "ab.", 4: "ab c" if unit == "words" else "abx", 5: "b a", 6: "a", 7: sentence(1)}
    index = indexed(database, texts, **{unit: size})
    assert [(hit.key, hit.score) for hit in index.search("Ab")] == [(1, 1.0), (2, 1.0), (3, 1.0)]
    assert [hit.key for hit in index.similar(1)] == [2, 3]
    assert index.similar(6) == []
    assert [hit.key for hit in index.search("a")] == [6]


@sqlite_only
def test_nul_characters_separate_words(database: dbsim.Database) -> None:
    index = indexed(
        database, {1: "one\0two\0three four five", 2: "one two three four five", 3: "\0", 4: "one"}, words=3
    )
    assert [(hit.key, hit.score) for hit in index.similar(1)] == [(2, 1.0)]
    assert [hit.key for hit in index.search("one\0two three\0four five")] == [1, 2]
    assert index.similar(3) == []
    assert_in_step(database, "articles")


def test_lone_surrogates_and_nul_in_a_query(database: dbsim.Database) -> None:
    index = indexed(database, corpus(1))
    for odd in ("\ud800", "\udfff", "\0", "\udc80\udcff"):
        assert index.search(odd) == []
        assert [hit.key for hit in index.search(f"{odd} {sentence(0)} {odd}")] == [1, 2, 3, 4]
        assert [hit.key for hit in index.search_many([odd, f"{odd} {sentence(0)}"])[1]] == [1, 2, 3, 4]


@sqlite_only
def test_poison_rows_go_to_quarantine_and_the_others_are_indexed(database: dbsim.Database) -> None:
    articles(database.engine, corpus(1))
    execute(
        database.engine,
        "INSERT INTO articles VALUES (101, CAST(x'ff41fe' AS TEXT)), (102, x'00ff')",
        "INSERT INTO articles VALUES (103, CAST(x'c3' AS TEXT)), (-5, CAST(x'eda080' AS TEXT))",
    )
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    assert index.sync().filled == 8
    assert [hit.key for hit in index.similar(1)] == [2, 3, 4]
    assert index.status().quarantined == 4
    reasons = dict(fetch(database.engine, "SELECT source_key, reason FROM dbsim_quarantine"))
    assert reasons == {
        "[101]": "not valid UTF-8",
        "[102]": "a BLOB, not a text",
        "[103]": "not valid UTF-8",
        "[-5]": "not valid UTF-8",
    }
    assert_in_step(database, "articles")

    execute(
        database.engine,
        f"UPDATE articles SET body = '{sentence(0)}' WHERE id = 101",
        "DELETE FROM articles WHERE id = 102",
        "UPDATE articles SET body = x'01' WHERE id = 103",  # from one poison to another
        "UPDATE articles SET body = x'02' WHERE id = 4",  # a good row turns bad
        "UPDATE articles SET id = 200 WHERE id = -5",
    )
    index.sync()
    assert [hit.key for hit in index.similar(1)] == [2, 101, 3]
    reasons = dict(fetch(database.engine, "SELECT source_key, reason FROM dbsim_quarantine"))
    assert reasons == {"[103]": "a BLOB, not a text", "[4]": "a BLOB, not a text", "[200]": "not valid UTF-8"}
    assert_in_step(database, "articles")

    execute(database.engine, "UPDATE articles SET body = 'x' || id WHERE id IN (4, 103, 200)")
    index.sync()
    assert index.status().quarantined == 0
    assert_in_step(database, "articles")


@sqlite_only
@pytest.mark.parametrize("good", ["''", "NULL"])
def test_without_triggers_the_quarantine_is_kept_in_step_by_comparison(database: dbsim.Database, good: str) -> None:
    """An empty text and a poison row have the same signature, none; only the quarantine tells them apart."""
    articles(database.engine, corpus(1))
    execute(database.engine, f"INSERT INTO articles VALUES (10, {good}), (11, x'00')")
    index = database.create_index("articles", table="articles", columns="body", triggers=False, **QUICK)
    index.sync()
    assert index.status().quarantined == 1
    execute(database.engine, "UPDATE articles SET body = x'00' WHERE id = 10")
    assert index.check().different == [(10,)]
    index.sync()
    assert index.status().quarantined == 2
    execute(database.engine, f"UPDATE articles SET body = {good} WHERE id > 9")
    index.sync()
    assert index.status().quarantined == 0
    assert not index.check()


@sqlite_only
def test_one_bad_column_quarantines_the_row(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT, body TEXT)",
        f"INSERT INTO t VALUES (1, '{sentence(1)}', x'00'), (2, '{sentence(1)}', '{sentence(2)}')",
    )
    index = database.create_index("t", table="t", columns={"title": 0.5, "body": 0.5}, **QUICK)
    index.sync()
    assert index.status().quarantined == 1
    assert [hit.key for hit in index.search({"title": sentence(1)})] == [2]


@sqlite_only
def test_numbers_are_read_as_the_text_they_show(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, body)",
        "INSERT INTO t VALUES (1, 12345), (2, '12345'), (3, 1.5), (4, '1.5'), (5, 1e300), (6, -0.0)",
    )
    index = database.create_index("t", table="t", columns="body", characters=2, **QUICK)
    index.sync()
    assert [hit.key for hit in index.search("12345")] == [1, 2]
    assert [hit.key for hit in index.similar(3)] == [4]
    assert index.status().quarantined == 0


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_columns_of_other_types_are_read_as_the_text_they_show(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, j JSONB, v VARCHAR(9), c CHAR(9), d DATE, a TEXT[])",
        "INSERT INTO t VALUES (1, 12345, '{\"name\": \"Erika\"}', 'v', 'c', '2024-02-29', '{one,two}')",
    )
    for number, (name, query) in enumerate(
        [
            ("n", "12345"),
            ("j", '{"name": "Erika"}'),
            ("c", "c"),
            ("d", "2024-02-29"),
            ("a", "{one,two}"),
        ]
    ):
        index = database.create_index(f"t{number}", table="t", columns=name, characters=2, **QUICK)
        index.sync()
        assert index.search(query) == [dbsim.Hit(1, 1.0)], name


def test_ten_megabytes_of_text(database: dbsim.Database) -> None:
    """Two texts that differ in one word of 1.4 million, a third of a single word, between ordinary rows."""
    long = " ".join(f"w{number % 99991}" for number in range(LARGE // 7))
    articles(database.engine, corpus(1))
    add(database.engine, {10: long, 11: long.replace(" w777 ", " changed "), 12: "x" * LARGE})
    index = database.create_index("articles", table="articles", columns="body", words=3, **QUICK)
    assert index.sync().filled == 7
    assert [hit.key for hit in index.similar(10)] == [11]
    assert [hit.key for hit in index.search("X" * LARGE)] == [12]
    assert [hit.key for hit in index.similar(1)] == [2, 3, 4]
    execute(database.engine, "UPDATE articles SET body = body || '.' WHERE id IN (1, 12)")
    assert index.sync().changed == 2
    assert [hit.key for hit in index.similar(12)] == []
    assert index.status().quarantined == 0


def test_every_plane_of_unicode(database: dbsim.Database) -> None:
    """A row for each block of code points, all indexed, each found by itself."""
    texts = {
        start: "".join(chr(code) for code in range(max(start, 1), start + 0x400) if not 0xD800 <= code < 0xE000)
        for start in range(0, 0x110000, 0x2C00)
    }
    index = indexed(database, {key: body for key, body in texts.items() if body}, characters=2, secret=SECRET)
    status = index.status()
    assert (status.indexed, status.quarantined) == (len([body for body in texts.values() if body]), 0)
    assert index.search(texts[0])[0] == dbsim.Hit(0, 1.0)
    assert_in_step(database, "articles")


def test_texts_with_quotes_percents_and_colons_are_data(database: dbsim.Database) -> None:
    hostile = {
        1: "'; DROP TABLE articles; -- %s %(x)s :name {0} \\ \" $1 ?",
        2: near_copy(1) + "\\.\n\\N\t%%",
        3: sentence(2),
    }
    execute(database.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
    with database.engine.begin() as connection:
        host = table_clause("articles", column("id"), column("body"))
        connection.execute(insert(host), [{"id": key, "body": body} for key, body in hostile.items()])
    index = database.create_index("articles", table="articles", columns="body", words=1, **QUICK)
    index.sync()
    for key, body in hostile.items():
        assert index.search(body)[0] == dbsim.Hit(key, 1.0)
        assert index.search_many([body])[0][0] == dbsim.Hit(key, 1.0)
        assert index.texts([key]) == [body]
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM articles")) == 3

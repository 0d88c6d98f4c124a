"""Word signatures on both engines: answers equal a search of the normalised texts, whatever happened to the table."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

import dbsim
from dbsim.errors import DbsimError
from dbsim.lifecycle import create
from dbsim.search.containing.words import Words
from dbsim.text.normalise import fold
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, add, articles, execute, fetch, sentence
from tests.oracle import assert_in_step

SIGNED: dict[str, Any] = {**QUICK, "false_drops": 0.3}  # many false drops, so that leaving them in would be seen


def made(database: dbsim.Database, texts: dict[int, str | None], **options: Any) -> dbsim.Index:
    articles(database.engine, texts)
    index = database.create_index("articles", table="articles", columns="body", **{**SIGNED, **options})
    index.sync()
    return index


def grep(database: dbsim.Database, all_: tuple[str, ...] = (), none_of: tuple[str, ...] = ()) -> list[int]:
    """Every row whose normalised text has these runs of words."""

    def inside(run: str, words: str) -> bool:
        return f" {fold(run).decode()} " in words

    found = []
    for key, body in fetch(database.engine, "SELECT id, body FROM articles ORDER BY id"):
        words = f" {' '.join(fold(body or '').decode().split())} "
        if all(inside(run, words) for run in all_) and not any(inside(run, words) for run in none_of):
            found.append(key)
    return found


def test_words_phrases_and_negation(database: dbsim.Database) -> None:
    index = made(
        database,
        {
            1: "To be, or not to be: that is the question",
            2: "not to be or to be, that is no question",
            3: "The STRASSE is long; Café au lait",
            4: "die Straße ist lang, cafe",
            5: "",
            6: None,
        },
    )
    assert index.contains("question") == [1, 2]
    assert index.contains("be", "the") == [1]
    assert index.contains(phrase="or not to be") == [1]
    assert index.contains(phrase=["to be", "no question"]) == [2]
    assert index.contains("STRAẞE") == [3, 4]
    assert index.contains("CAFÉ", none_of="lait") == [4]
    assert index.contains(none_of=["question", "cafe"]) == [5, 6]
    assert index.contains("question", none_of="or not") == [2]
    assert index.contains("long-lait") == []
    assert index.contains("uest") == []  # part of a word
    assert index.contains("question", where="id > 1") == [2]
    assert index.contains("question", limit=1) == [1]


def test_every_word_counts_where_signatures_prove_nothing(database: dbsim.Database) -> None:
    """Two fields, in which no short look at a text decides; a long row has all marks of all words."""
    articles(database.engine, {n: sentence(n, 8) for n in range(1, 31)})
    execute(database.engine, "ALTER TABLE articles ADD COLUMN title TEXT DEFAULT 'one of many'")
    fields = {"title": 0.2, "body": 0.8}
    index = database.create_index("articles", table="articles", columns=fields, **SIGNED)
    add(database.engine, {31: "needle " + " ".join(f"w{n}" for n in range(4000))})
    index.sync()
    assert index.contains("needle") == [31]
    assert index.contains("needle", "haystack") == []
    assert index.contains("w17", "needle", none_of="haystack") == [31]
    assert index.contains("w17", phrase="needle haystack") == []
    assert index.contains("w17", phrase="needle w0") == [31]


def test_answers_equal_a_search_of_the_texts_over_random_changes(database: dbsim.Database) -> None:
    rng = np.random.default_rng(11)
    index = made(database, {n: sentence(n, 12) for n in range(1, 121)})
    engine = database.engine
    for step in range(4):
        for key in rng.choice(np.arange(1, 121), 10, replace=False).tolist():
            with engine.begin() as connection:
                if key % 3:
                    values = {"id": key, "body": sentence(1000 * step + key, 12)}
                    connection.execute(text("UPDATE articles SET body = :body WHERE id = :id"), values)
                else:
                    connection.execute(text("DELETE FROM articles WHERE id = :id"), {"id": key})
        add(engine, {1000 + 10 * step + n: sentence(5000 + 10 * step + n, 12) for n in range(5)})
        index.sync()
        for _ in range(15):
            a, b, c = rng.choice(sentence(int(rng.integers(200)), 60).split(), 3).tolist()
            assert index.contains(a) == grep(database, (a,))
            assert index.contains(a, b) == grep(database, (a, b))
            assert index.contains(a, none_of=c) == grep(database, (a,), (c,))
            assert index.contains(none_of=[a, b]) == grep(database, (), (a, b))
            words = fetch(engine, f"SELECT body FROM articles WHERE id > {int(rng.integers(50))} ORDER BY id LIMIT 1")[
                0
            ]
            run = " ".join(words[0].split()[3:6])
            found = index.contains(phrase=run)
            assert found == grep(database, (run,))
            assert found
    assert_in_step(database, "articles")


def test_false_drops_are_read_and_left_out(database: dbsim.Database) -> None:
    index = made(database, {n: sentence(n, 40) for n in range(1, 101)}, false_drops=0.2)
    dropped = sum(index.contains(f"absent{n}").false_drops for n in range(60))
    assert [index.contains(f"absent{n}") for n in range(5)] == [[]] * 5
    field = index.options.fields[0]
    assert field.word_bits % 64 == 0
    assert 0 < dropped / 6000 < 0.35  # wanted 0.2 over the lengths of the table


def different(seed: int, words: int) -> str:
    """A text of so many different words."""
    return " ".join(f"w{number}" for number in np.random.default_rng(seed).choice(10_000, words, replace=False))


def test_the_rate_asked_for_is_that_of_all_rows(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts stand where a look at both ends of the table does not see them, and later more of them come."""
    monkeypatch.setattr(create, "SAMPLE", 20)
    index = made(database, {n: different(n, 150 if 50 <= n < 80 else 12) for n in range(1, 151)}, false_drops=0.05)
    dropped = [index.contains(f"absent{n}").false_drops for n in range(60)]
    realised = index.status().false_drops["body"]
    assert 0.01 < realised <= 0.05
    assert np.mean(dropped) / 150 == pytest.approx(realised, abs=0.02)
    (words,) = index.evaluate(sample=150).words
    assert (words.field, words.asked, words.words, words.missed) == ("body", 0.05, 200, 0)
    assert words.rate.low <= realised <= words.rate.high
    assert not index.status().problems
    add(database.engine, {n: different(n, 600) for n in range(200, 240)})
    index.sync()
    (problem,) = index.status().problems
    assert "`dbsim alter DB articles --signature --false-drops 0.05` fits the filters anew" in problem
    assert any("fits anew" in one for one in index.evaluate(sample=190).problems)
    database.alter_index("articles", false_drops=0.05).sync()
    index = database.index("articles")
    assert index.status().false_drops["body"] <= 0.05
    assert not index.status().problems


def test_rows_that_surely_lack_a_word_are_not_read(database: dbsim.Database) -> None:
    index = made(database, {n: sentence(n, 10) for n in range(1, 101)}, false_drops=0.01)
    found = index.contains(none_of="amber")
    assert found == grep(database, (), ("amber",))
    assert found.looked < 60


def test_rows_that_are_gone_are_no_answers_before_the_next_sync(database: dbsim.Database) -> None:
    index = made(database, {1: "alpha", 2: "beta", 3: "gamma"})
    execute(database.engine, "DELETE FROM articles WHERE id = 2")
    assert index.contains(none_of="alpha") == [3]
    assert index.contains("beta") == []


def test_fields_and_character_indexes(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE people (a INTEGER, b INTEGER, name TEXT, town TEXT, PRIMARY KEY (a, b))")
    execute(
        database.engine,
        "INSERT INTO people VALUES (1, 1, 'Erika Muster', 'Bad Berg'), (1, 2, 'Max Berg', 'Muster'), (2, 1, NULL, 'X')",
    )
    index = database.create_index(
        "people", table="people", columns={"name": 0.5, "town": 0.5}, characters=3, false_drops=0.05
    )
    index.sync()
    assert index.contains("berg") == [{"a": 1, "b": 1}, {"a": 1, "b": 2}]
    assert index.contains(phrase="bad berg") == [{"a": 1, "b": 1}]
    assert index.contains(phrase="muster bad") == []  # a phrase does not run from one field into the next
    assert index.contains("muster", none_of="erika") == [{"a": 1, "b": 2}]


def test_as_a_filter_of_search(database: dbsim.Database) -> None:
    body = sentence(1)
    index = made(database, {1: body + " alpha", 2: body + " beta", 3: body + " alpha beta", 4: sentence(2) + " alpha"})
    assert {hit.key for hit in index.search(body, threshold=0.5)} == {1, 2, 3}
    assert {hit.key for hit in index.search(body, threshold=0.5, containing="alpha")} == {1, 3}
    assert {hit.key for hit in index.search(body, containing=Words(all=("alpha",), none_of=("beta",)))} == {1}
    with database.engine.connect() as connection:
        found = index.search(body, containing="beta", limit=1, where="id > 2", connection=connection)
    assert [hit.key for hit in found] == [3]


def test_signatures_come_and_go_with_the_options(database: dbsim.Database) -> None:
    articles(database.engine, {1: "alpha beta", 2: "gamma"})
    index = database.create_index("articles", table="articles", columns="body", words=1, **QUICK)
    index.sync()
    with pytest.raises(DbsimError, match="no word signatures"):
        index.contains("alpha")
    database.alter_index("articles", false_drops=0.01).sync()
    assert database.index("articles").contains("alpha") == [1]
    database.alter_index("articles", false_drops=0.0).sync()
    with pytest.raises(DbsimError, match="no word signatures"):
        database.index("articles").contains("alpha")


def test_a_broken_signature_is_found_and_repaired(database: dbsim.Database) -> None:
    index = made(database, {n: sentence(n) for n in range(1, 21)})
    table, column = index._tables.signatures.name, index._tables.names.words[0][0]
    execute(database.engine, f"UPDATE {table} SET {column} = 0 WHERE id = 7")
    assert index.check().different == [(7,)]
    assert any("miss" in problem for problem in index.evaluate().problems)
    index.check(repair=True)
    assert not index.check()


@pytest.mark.parametrize("question", [{}, {"phrase": "!?"}])
def test_questions_without_words_are_refused(database: dbsim.Database, question: dict[str, Any]) -> None:
    index = made(database, {1: "alpha"})
    with pytest.raises(DbsimError, match="word"):
        index.contains(**question)


def test_words_that_are_no_texts_are_refused(database: dbsim.Database) -> None:
    index = made(database, {1: "alpha"})
    for words in ([["alpha", "beta"]], [1], [None], [b"alpha"]):
        with pytest.raises(DbsimError, match="words are texts"):
            index.contains(*words)


def test_command(
    database: dbsim.Database, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    articles(database.engine, {1: "one two three", 2: "two three four", 3: "five"})
    dbsim_ = Command(monkeypatch, capsys)
    assert dbsim_("create", url, "words", "--table", "articles", "--column", "body", "--signature")[0] == 0
    assert dbsim_("sync", url, "words")[0] == 0
    assert dbsim_("contains", url, "words", "two", "three")[1] == "1\n2\n"
    assert dbsim_("contains", url, "words", "two", "--not", "one")[1] == "2\n"
    assert json.loads(dbsim_("contains", url, "words", "--phrase", "three four", "--json")[1]) == [2]
    assert dbsim_("contains", url, "words", "six")[0] == 1
    assert "of the rows are read in vain for a word" in dbsim_("status", url)[1]
    assert "rows read in vain for a word of body" in dbsim_("evaluate", url, "words")[1]
    assert dbsim_("contains", url, "words")[0] == 2

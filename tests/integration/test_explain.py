"""Why two rows are near-duplicates: the same answer from Python, from the shell and from SQL."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from sqlalchemy import text

import dbsim
from dbsim.errors import UnknownKey
from tests.conftest import SECRET
from tests.integration.sql_helpers import indexed, make_people, plain


def articles(database: dbsim.Database) -> dbsim.Index:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
        connection.execute(
            text(
                "INSERT INTO articles VALUES (1, 'The quick brown fox jumps'), (2, 'A QUICK brown fox jumped!'), "
                "(3, 'fox'), (4, ''), (5, NULL), (6, 'nothing in common with the others')"
            )
        )
    index = database.create_index("articles", table="articles", columns=["body"], words=2, threshold=0.3, secret=SECRET)
    index.sync()
    return index


def test_shingles_in_common(database: dbsim.Database) -> None:
    found = articles(database).explain(1, 2)
    (field,) = found.fields
    assert field.shared == ["quick brown", "brown fox"]
    assert field.only_a == ["the quick", "fox jumps"]
    assert field.only_b == ["a quick", "fox jumped"]
    assert found.exact == field.exact == 2 / 6
    assert found.score == field.estimate == pytest.approx(1 / 3, abs=0.05)
    assert found.found == (bool(found.shared_keys) and found.score >= 0.3)


def test_keys_in_common_with_a_text(database: dbsim.Database) -> None:
    index = articles(database)
    explained = index.explain(1, 2)
    found = index.keys_in_common("The quick brown fox jumps", [1, 2, 4, 4711])
    assert found == [explained.keys, len(explained.shared_keys), 0, 0]
    assert index.keys_in_common("", [1]) == [0]


def test_missing_texts_and_rows(database: dbsim.Database) -> None:
    index = articles(database)
    for other in (4, 5):
        found = index.explain(1, other)
        assert (found.score, found.exact, found.shared_keys, found.found) == (None, None, [], False)
    assert index.explain(3, 3).score == 1.0
    assert index.explain(3, 3).fields[0].shared == ["fox"]
    assert index.explain(1, 6).exact == 0
    with pytest.raises(UnknownKey, match="4711"):
        index.explain(1, 4711)


def test_the_score_is_that_of_the_search(database: dbsim.Database) -> None:
    index = indexed(database)
    for key in range(0, 40, 3):
        for hit in index.similar(key):
            found = index.explain(key, hit.key)
            assert found.found
            assert found.score == hit.score
            assert found.exact == pytest.approx(hit.score, abs=0.12)


def test_weights_and_missing_fields(database: dbsim.Database) -> None:
    index = make_people(database)
    everyone = [{"tenant": number % 2, "nr": number} for number in range(7)]
    for key in everyone:
        for hit in index.similar(key, threshold=0.0):
            assert index.explain(key, hit.key).score == hit.score
    found = index.explain(everyone[2], everyone[1])  # one has no town
    assert [field.estimate is None for field in found.fields] == [False, True]
    assert found.score == pytest.approx(found.fields[0].estimate)


def test_sql_says_the_same(new_postgres: str) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    index = articles(database)
    people = make_people(database)
    for a, b in ((1, 2), (1, 3), (1, 4), (1, 5), (2, 6), (3, 3)):
        rows = plain(database, f"SELECT * FROM dbsim_articles_explain({a}, {b})")
        assert_same(rows, index.explain(a, b))
    for a, b in ((0, 1), (3, 4), (2, 1), (5, 4), (6, 5)):
        rows = plain(database, f"SELECT * FROM dbsim_people_explain({a % 2}, {a}, {b % 2}, {b})")
        assert_same(rows, people.explain((a % 2, a), (b % 2, b)))
    assert plain(database, "SELECT * FROM dbsim_articles_explain(1, 4711)") == []
    database.close()


def assert_same(rows: list[tuple[object, ...]], found: dbsim.Explanation) -> None:
    *fields, total = rows
    assert total[2:5] == (found.score, found.exact, len(found.shared_keys))
    assert fields == [
        (f.field, f.weight, f.estimate, f.exact, len(found.shared_keys), f.shared, f.only_a, f.only_b)
        for f in found.fields
    ]


def test_from_the_shell(url: str, database: dbsim.Database) -> None:
    articles(database)
    command = [sys.executable, "-c", "from dbsim.cli import main; main()", "explain", url, "articles", "1", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert "in both      2: quick brown | brown fox" in done.stdout
    assert "bucket keys in common" in done.stdout
    shown = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert json.loads(shown.stdout)["fields"][0]["only_b"] == ["a quick", "fox jumped"]

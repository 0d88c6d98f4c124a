"""Secrets that the database never sees: from a variable or a file, known by a check value, replaced while in use."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import dbsim
from benchmarks.register import register
from dbsim.errors import IndexExists, InvalidOption, SecretMissing
from dbsim.outside import read_secret
from tests.integration.helpers import articles, corpus, execute, fetch
from tests.people import people

OLD, NEW = "a secret of more than sixteen bytes", "another secret of some length"
PLACE = "DBSIM_TEST_SECRET"

Pair = tuple[int, int]


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PLACE, OLD)
    monkeypatch.delenv(f"{PLACE}_2", raising=False)


def make(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(3, 4))
    index = database.create_index(
        "articles", table="articles", columns="body", secret=f"env:{PLACE}", rows=2, keys=4, words=3
    )
    index.sync()
    return index


def everything_stored(database: dbsim.Database) -> str:
    """Of dbsim's own tables, as text."""
    tables = ("dbsim_index", "dbsim_generation", "dbsim_model")
    return repr([fetch(database.engine, f"SELECT * FROM {table}") for table in tables])


def test_an_index_works_with_a_secret_that_is_stored_nowhere(database: dbsim.Database) -> None:
    index = make(database)
    assert {hit.key for hit in index.similar(1)} == {2, 3, 4}
    assert 5 in {hit.key for hit in index.search(corpus(3)[5])}
    assert not index.check()
    found = read_secret(f"env:{PLACE}")
    assert index.secret == found.key
    stored = everything_stored(database)
    assert OLD not in stored
    assert found.key.hex() not in stored
    assert repr(found.key) not in stored
    assert found.check in stored
    assert fetch(database.engine, "SELECT secret FROM dbsim_index") == [("",)]


def test_nothing_that_needs_it_is_done_without_it(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    make(database)
    execute(database.engine, "INSERT INTO articles (id, body) VALUES (99, 'a row that came later')")
    before = fetch(database.engine, "SELECT * FROM dbsim_articles ORDER BY id")
    for value, words in ((None, f"variable {PLACE} is not set"), (NEW, "not the one that the index was made with")):
        monkeypatch.delenv(PLACE, raising=False)
        if value:
            monkeypatch.setenv(PLACE, value)
        index = database.index("articles")
        for verb in (index.sync, index.check, lambda i=index: i.search("some text"), lambda i=index: i.secret):
            with pytest.raises(SecretMissing, match=words) as caught:
                verb()
            assert OLD not in str(caught.value)
            assert NEW not in str(caught.value)
        assert index.status().queued == 1  # what needs no secret works
        assert fetch(database.engine, "SELECT * FROM dbsim_articles ORDER BY id") == before
    monkeypatch.setenv(PLACE, OLD)
    index = database.index("articles")
    index.sync()
    assert not index.check()
    monkeypatch.delenv(PLACE)
    database.drop_index("articles")


def test_a_file_holds_a_secret(database: dbsim.Database, tmp_path: Path) -> None:
    articles(database.engine, corpus(2))
    file = tmp_path / "secret"
    with pytest.raises(SecretMissing, match="cannot be read"):
        database.create_index("articles", table="articles", columns="body", secret=f"file:{file}")
    file.write_text("short\n")
    with pytest.raises(InvalidOption, match="has 5 bytes"):
        database.create_index("articles", table="articles", columns="body", secret=f"file:{file}")
    file.write_text(OLD + "\n")
    index = database.create_index("articles", table="articles", columns="body", secret=f"file:{file}", rows=2, keys=4)
    index.sync()
    assert {hit.key for hit in index.similar(1)} == {2, 3, 4}
    index.alter(secret=f"env:{PLACE}")  # the same one in another place: nothing is built
    assert not index.sync().switched
    file.unlink()
    assert not database.index("articles").check()


def test_what_is_no_place_is_refused_without_repeating_it(database: dbsim.Database) -> None:
    articles(database.engine, corpus(1))
    for given in (OLD, "env:", "vault:x"):
        with pytest.raises(InvalidOption, match="env:NAME or file:PATH") as caught:
            database.create_index("articles", table="articles", columns="body", secret=given)
        assert given not in str(caught.value).replace("env:NAME", "")
    with pytest.raises(InvalidOption, match="never sees a secret kept outside"):
        database.create_index("articles", table="articles", columns="body", secret=f"env:{PLACE}", inline=True)


def test_the_same_call_again_needs_the_same_secret(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    make(database)
    place = f"env:{PLACE}"
    same = {"table": "articles", "columns": "body", "rows": 2, "keys": 4}
    assert database.create_index("articles", **same, secret=place).options.secret == place  # type: ignore[arg-type]
    monkeypatch.setenv(PLACE, NEW)
    with pytest.raises(IndexExists, match="is another one"):
        database.create_index("articles", **same, secret=place)  # type: ignore[arg-type]


def rotate(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch, name: str) -> tuple[set[Pair], set[Pair]]:
    """Pairs before and after; the old secret may go at once, as may what is stored of it ten minutes later."""
    index = database.index(name)
    before = pairs_of(index)
    monkeypatch.setenv(f"{PLACE}_2", NEW)
    index.alter(secret=f"env:{PLACE}_2")
    assert pairs_of(index) == before  # the old generation answers
    assert index.sync().switched
    index = database.index(name)
    assert index.secret == read_secret(f"env:{PLACE}_2").key
    monkeypatch.delenv(PLACE)
    if not index.options.secret:
        assert fetch(database.engine, "SELECT secret FROM dbsim_index") != [("",)]
    real = time.time
    monkeypatch.setattr("dbsim.lifecycle.retire.time.time", lambda: real() + 700)
    execute(database.engine, f"INSERT INTO {index.options.table} (id) VALUES (999)")
    database.index(name).sync()
    database.index(name).sync()
    assert fetch(database.engine, "SELECT secret FROM dbsim_index") == [("",)]
    assert fetch(database.engine, "SELECT count(*) FROM dbsim_generation") == [(0,)]
    assert not database.index(name).check()
    return before, pairs_of(database.index(name))


def pairs_of(index: dbsim.Index) -> set[Pair]:
    return {(min(pair.a, pair.b), max(pair.a, pair.b)) for pair in index.pairs()}


def test_a_secret_goes_out_of_the_database_while_searches_go_on(
    database: dbsim.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    articles(database.engine, corpus(3, 4))
    database.create_index("articles", table="articles", columns="body", rows=2, keys=8, words=3).sync()
    before, after = rotate(database, monkeypatch, "articles")
    assert before == after


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)  # as above; the keys of persons are planned anew with it
def test_a_secret_of_persons_is_replaced(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    people(database.engine, 120)
    index = database.create_records("people", table="people", secret=f"env:{PLACE}", fold=1)
    index.sync()
    assert all(field.fold == 1 and field.bits == 256 for field in index.options.fields)
    before, after = rotate(database, monkeypatch, "people")
    true = {(a + 1, b + 1) for a, b in register(120, 5).pairs()}
    assert len(true) > 10
    assert len(before & true) >= 0.8 * len(true)
    assert len(after & true) >= 0.8 * len(true)


def test_the_new_secret_needs_a_place_of_its_own(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    index = make(database)
    monkeypatch.setenv(PLACE, NEW)
    with pytest.raises(InvalidOption, match="name another place for the new one"):
        index.alter(secret=f"env:{PLACE}")


def test_filters_are_folded_once_and_for_persons_only(database: dbsim.Database) -> None:
    articles(database.engine, corpus(1))
    with pytest.raises(InvalidOption, match="folded once"):
        database.create_records("twice", table="articles", kinds={"body": "name"}, fold=2)
    with pytest.raises(InvalidOption, match="for records of persons"):
        database.create_index("texts", table="articles", fields=[dbsim.Field(columns=("body",), fold=1)])


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite signs nothing by itself
def test_the_database_has_no_function_that_signs(database: dbsim.Database) -> None:
    index = make(database)
    names = fetch(database.engine, "SELECT proname FROM pg_proc WHERE proname LIKE 'dbsim_articles_%'")
    assert ("dbsim_articles_sign",) not in names
    with pytest.raises(InvalidOption, match="never sees a secret kept outside"):
        index.inline()

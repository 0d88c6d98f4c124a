"""check: stored signatures against recomputed ones, in both directions, all rows or a sample, repaired on demand."""

from __future__ import annotations

import json

import pytest

import dbsim
from dbsim.engines.postgresql.backend import PostgreSQL
from dbsim.engines.sqlite.backend import SQLite
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, corpus, execute, sentence
from tests.oracle import assert_in_step, stored

COLUMNS = "fingerprint, k0, k1, k2, k3, body_bits, body_count"


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(3))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    return index


def damage(database: dbsim.Database) -> None:
    """Behind dbsim's back: a signature lost, one too many, and each kind of column changed."""
    bits = {"sqlite": "zeroblob(32)", "postgresql": "repeat('0', 1024)::bit(1024)"}[database.engine.dialect.name]
    execute(
        database.engine,
        "DELETE FROM dbsim_articles WHERE id = 1",
        f"INSERT INTO dbsim_articles (id, {COLUMNS}) SELECT 99, {COLUMNS} FROM dbsim_articles WHERE id = 2",
        "UPDATE dbsim_articles SET k2 = k2 + 1 WHERE id = 3",
        f"UPDATE dbsim_articles SET body_bits = {bits} WHERE id = 4",
        "UPDATE dbsim_articles SET body_count = body_count + 1 WHERE id = 5",
        "UPDATE dbsim_articles SET fingerprint = 7 WHERE id = 6",
        "UPDATE dbsim_articles SET k0 = NULL WHERE id = 7",
    )


def test_check_finds_every_difference_and_repairs_on_demand(database: dbsim.Database, index: dbsim.Index) -> None:
    before = stored(database, "articles")
    assert not index.check()
    assert index.check().compared == 12
    damage(database)
    found = index.check()
    assert found
    assert found.compared == 13
    assert (found.missing, found.orphaned) == ([(1,)], [(99,)])
    assert sorted(found.different) == [(3,), (4,), (5,), (6,), (7,)]
    assert found.repaired == 0
    assert index.check().keys == found.keys  # looking changes nothing
    assert index.check(repair=True).repaired == 7
    assert not index.check()
    assert stored(database, "articles") == before
    assert_in_step(database, "articles")


def test_check_in_small_ranges(database: dbsim.Database, index: dbsim.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    for backend in (SQLite, PostgreSQL):
        monkeypatch.setattr(backend, "fill_batch", 2)
        monkeypatch.setattr(backend, "key_batch", 2)
    damage(database)
    steps: list[tuple[str, int, int]] = []
    found = index.check(progress=lambda *step: steps.append(step))
    assert (found.missing, found.orphaned, len(found.different)) == ([(1,)], [(99,)], 5)
    assert len(steps) > 5
    assert all(stage == "checking" and done <= total for stage, done, total in steps)
    index.check(repair=True)
    assert_in_step(database, "articles")


def test_a_sample_looks_at_both_tables(database: dbsim.Database, index: dbsim.Index) -> None:
    for size in (1, 5, 1000):
        found = index.check(sample=size)
        assert not found
        assert size <= found.compared <= 2 * size or found.compared == 12
    damage(database)
    assert len(index.check(sample=1000).keys) == 7
    assert index.check(sample=1000, repair=True).repaired == 7
    assert not index.check()


def test_changes_still_in_the_queue_are_not_differences(database: dbsim.Database, index: dbsim.Index) -> None:
    execute(
        database.engine,
        f"INSERT INTO articles VALUES (100, '{sentence(8)}')",
        "DELETE FROM articles WHERE id = 1",
        f"UPDATE articles SET body = '{sentence(9)}' WHERE id = 2",
    )
    assert not index.check()
    execute(database.engine, "DELETE FROM dbsim_articles WHERE id = 5")
    assert index.check().keys == [(5,)]
    assert index.check(repair=True).repaired == 4  # a repair takes the queued ones along
    assert index.status().queued == 3
    index.sync()
    assert_in_step(database, "articles")


def test_a_repair_of_a_half_filled_index_fills_it_first(
    database: dbsim.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row repaired beyond the last one filled would make the filling go on behind it."""
    for backend in (SQLite, PostgreSQL):
        monkeypatch.setattr(backend, "fill_batch", 2)
    articles(database.engine, corpus(4))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)

    def stop(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.sync(progress=stop)
    assert len(index.check().missing) == 14
    index.check(sample=3, repair=True)
    index.sync()
    assert_in_step(database, "articles")


def test_check_on_the_command_line(
    database: dbsim.Database, index: dbsim.Index, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Command(monkeypatch, capsys)
    url = database.engine.url.render_as_string(hide_password=False)
    assert shell("check", url, "articles") == (0, "12 rows compared, 0 differ\n", "")
    damage(database)
    code, out, err = shell("check", url, "articles")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "missing: 1 (1)"
    assert lines[1] == "orphaned: 1 (99)"
    assert lines[2].startswith("different: 5 (")
    assert lines[3:] == ["13 rows compared, 7 differ", f"repair with: dbsim check {url} articles --repair"]
    code, out, _ = shell("check", url, "articles", "--json")
    assert code == 1
    shown = json.loads(out)
    assert (shown["compared"], shown["missing"], shown["orphaned"], shown["repaired"]) == (13, [1], [99], 0)
    assert sorted(shown["different"]) == [3, 4, 5, 6, 7]
    code, out, _ = shell("check", url, "articles", "--repair", "--sample", "100")
    assert code == 0
    assert out.splitlines()[-1] == "13 rows compared, 7 differ, 7 repaired"
    assert shell("check", url, "articles")[0] == 0

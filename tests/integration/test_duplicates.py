"""Stored groups: what they hold, that changes keep them equal to a full run, what is kept, deleted and marked."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event, inspect, text

import dbsim
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.kernels.grouping.registry import METHODS
from dbsim.dedupe.people.claims import Claims
from dbsim.engines.sqlite.backend import SQLite
from dbsim.errors import InvalidOption
from dbsim.hashing.bloom import jaccard
from dbsim.index import keeping_up
from dbsim.tables.names import quote
from tests.articles import edited, fill, forget_pairs, generated, stored_groups, stored_pairs
from tests.conftest import SECRET

BASE = "the quick brown fox jumps over the lazy dog and sleeps in the warm afternoon sun until it is dark again"
FAMILY = [BASE, BASE.replace("brown", "red"), BASE.replace("dark", "cold"), BASE.upper()]
OTHER = "something about indexes that has nothing in common with the animals which were mentioned before"


def run(database: dbsim.Database, statement: str, **values: Any) -> None:
    with database.engine.begin() as connection:
        connection.execute(text(statement), values)


def keys(index: dbsim.Index, **options: Any) -> list[list[int]]:
    return [[hit.key for hit in group.members] for group in index.duplicates(**options)]


def test_groups_and_the_view(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER, "", OTHER])
    found = index.duplicates()
    assert (len(found), found.rows) == (2, 6)
    first, second = found
    assert (first.representative, [hit.key for hit in first.members]) == (0, [0, 1, 2, 3])
    assert [hit.score for hit in first.members][::3] == [1.0, 1.0]
    scores = {
        exact: {hit.key: hit.score for hit in index.similar(0, threshold=0.5, verify=exact)} for exact in (True, False)
    }
    assert {*scores[True]} == {hit.key for hit in first.members[1:]}
    for hit in first.members[1:]:
        assert hit.score == pytest.approx(scores[hit.exact][hit.key])
    filters = index.options.signer(SECRET).sign([FAMILY]).filters[0]
    common = int(np.bitwise_count(filters.bits[1] & filters.bits[2]).sum())
    one, two = filters.counts[1:3].tolist()
    (between,) = [pair.score for pair in index.pairs(copies="first") if (pair.a, pair.b) == (1, 2)] or [
        jaccard(one, two, common, index.options.fields[0].bits)
    ]
    assert first.diameter == 1 - between
    assert first.smallest == pytest.approx(between)
    assert (second.representative, [hit.key for hit in second.members], second.diameter) == (4, [4, 6], 0.0)
    rows = stored_groups(database)
    assert [row[0] for row in rows] == [0, 1, 2, 3, 4, 6]
    assert {row[1] for row in rows} == {first.id, second.id}
    assert [row[4] for row in rows] == [0, 0, 0, 0, 4, 4]
    assert found.to_list()[1] == {
        "group": str(second.id),
        "representative": 4,
        "diameter": 0.0,
        "smallest": 1.0,
        "members": [{"key": 4, "score": 1.0}, {"key": 6, "score": 1.0}],
    }


def test_group_ids_stay(database: dbsim.Database) -> None:
    index = fill(database, generated(200))
    index.duplicates()
    before = stored_groups(database)
    forget_pairs(database)
    index.duplicates()
    assert stored_groups(database) == before
    run(database, "INSERT INTO articles VALUES (1000, :body)", body=generated(200)[3] + " more")
    index.sync()
    after = stored_groups(database)
    assert [row for row in after if row[0] != 1000 and row[0] != 3][:50] == [row for row in before if row[0] != 3][:50]


@pytest.mark.parametrize("by", METHODS)
def test_methods_keep_their_promise(database: dbsim.Database, by: str) -> None:
    index = fill(database, generated(300))
    pairs = {(pair.a, pair.b): pair.score for pair in index.pairs()}
    groups = list(index.duplicates(by=by))
    members = [hit.key for group in groups for hit in group.members]
    assert len(set(members)) == len(members)
    assert all(len(group.members) > 1 and group.members[0].key == group.representative for group in groups)
    if by == "components":
        assert set(members) == {key for pair in pairs for key in pair}
    if by == "tight":
        assert all(hit.score >= 0.7 for group in groups for hit in group.members)
    assert {group.diameter for group in groups} >= {0.0}


def ways() -> list[Any]:
    """Every method, in turns by estimates and by texts; the other way round takes as long again."""
    found = [(by, verify) for by in METHODS for verify in (False, True)]
    often = [(number // 2 + verify) % 2 for number, (_, verify) in enumerate(found)]
    return [pytest.param(*way, marks=[pytest.mark.long] * late) for way, late in zip(found, often, strict=True)]


@pytest.mark.parametrize(("by", "verify"), ways())
def test_incremental_equals_full(database: dbsim.Database, by: str, verify: bool) -> None:
    """Random changes, among them copies, vanishing copies and buckets that grow beyond their limit and shrink again."""
    rng = random.Random(f"{by} {verify}")
    texts = generated(120, length=30)
    limits = Limits(bucket=4, representatives=2)
    index = fill(database, texts)
    options: dict[str, Any] = {"by": by, "verify": verify, "limits": limits}
    index.duplicates(**options)
    for _ in range(4):
        for _ in range(rng.randint(1, 12)):
            key, draw = rng.randrange(150), rng.random()
            run(database, "DELETE FROM articles WHERE id = :id", id=key)
            if draw < 0.75:
                base = rng.choice(texts[:10] if draw < 0.4 else texts)
                body = base if draw < 0.2 else edited(base, 2, rng)
                run(database, "INSERT INTO articles VALUES (:id, :body)", id=key, body=body)
        index.sync()
        incremental = (stored_groups(database), stored_pairs(database))
        forget_pairs(database)
        index.duplicates(**options)
        assert (stored_groups(database), stored_pairs(database)) == incremental


def test_only_what_is_touched_is_written(database: dbsim.Database) -> None:
    index = fill(database, generated(200))
    index.duplicates()
    before = versions(database)
    run(database, "INSERT INTO articles VALUES (500, :body)", body=f"{OTHER} a b c")
    run(database, "INSERT INTO articles VALUES (501, :body)", body=f"{OTHER} a b d")
    index.sync()
    after = versions(database)
    assert len(after) == len(before) + 2
    assert before.items() <= after.items()


def versions(database: dbsim.Database) -> dict[int, Any]:
    """Where each stored content lies, which changes when it is written again."""
    place = "rowid" if database.engine.dialect.name == "sqlite" else "ctid::text"
    with database.engine.connect() as connection:
        rows = connection.execute(text(f"SELECT fingerprint, {place} FROM dbsim_articles_contents"))
        return {row[0]: row[1] for row in rows}


def test_deleted_rows_leave_no_trace_after_sync(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER])
    index.duplicates()
    fingerprints = {row[0] for row in query(database, "SELECT fingerprint FROM dbsim_articles WHERE id IN (0, 1, 3)")}
    run(database, "DELETE FROM articles WHERE id IN (0, 1, 3)")
    index.sync()
    assert stored_groups(database) == []
    for table in ("edges", "contents", "changes"):
        rows = query(database, f"SELECT * FROM dbsim_articles_{table}")
        assert not fingerprints & {value for row in rows for value in row}


def query(database: dbsim.Database, statement: str) -> list[Any]:
    with database.engine.connect() as connection:
        return list(connection.execute(text(statement)))


def test_a_new_first_row_becomes_the_representative(database: dbsim.Database) -> None:
    index = fill(database, ["", *FAMILY])
    assert keys(index) == [[1, 2, 3, 4]]
    run(database, "UPDATE articles SET body = :body WHERE id = 0", body=BASE)
    index.sync()
    assert keys(index) == [[0, 1, 2, 3, 4]]
    assert next(iter(index.duplicates())).representative == 0


def test_another_threshold_or_method_regroups(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER])
    assert keys(index) == [[0, 1, 2, 3]]
    assert keys(index, threshold=0.95) == [[0, 3]]
    assert keys(index, by="components") == [[0, 1, 2, 3]]
    assert keys(index, by="complete", threshold=0.75) == [[0, 2, 3]]


def test_explorations_leave_the_published_groups_alone(database: dbsim.Database) -> None:
    index = fill(database, generated(100), threshold=0.6)
    published = index.duplicates(by="components", threshold=0.6)
    assert (published.result, published.published, published.warnings) == ("published", True, ())
    before = stored_groups(database)
    explored = index.duplicates(threshold=0.9)
    assert not explored.published
    assert "still shows the published ones (components, 0.6)" in explored.warnings[0]
    index.pairs(verify=True)
    named = index.duplicates(by="tight", threshold=0.6, save="mine")
    assert named.result == "mine"
    assert stored_groups(database) == before
    assert {row[0] for row in query(database, "SELECT DISTINCT result FROM dbsim_articles_saved_groups")} == {
        "published",
        "mine",
        "tight, 0.9",
    }
    run(database, "UPDATE articles SET body = body || ' more' WHERE id < 20")
    index.sync()  # all results are kept up to date
    for name, by, threshold in (("mine", "tight", 0.6), ("tight, 0.9", "tight", 0.9), ("published", "components", 0.6)):
        kept = saved_groups(database, name)
        forget_pairs(database)
        index.duplicates(by=by, threshold=threshold, save=name if name == "mine" else None)
        assert saved_groups(database, name) == kept != []
    index.duplicates(threshold=0.9, publish=True)
    assert stored_groups(database) == saved_groups(database, "tight, 0.9")
    assert [result["name"] for result in index.results()] == ["mine", "published", "tight, 0.9"]
    with pytest.raises(InvalidOption, match="cannot name a result"):
        index.duplicates(save="published")


def test_a_change_looks_at_its_own_pairs_only(tmp_path: Path) -> None:
    """SQLite's planner does not know how many pairs there are: no statement may leave it a way to read them all."""
    database = dbsim.open(tmp_path / "articles.db", create=True)
    database.upgrade()
    index = fill(database, generated(100))
    index.duplicates()
    plans: list[str] = []

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "dbsim_articles_edges" in statement and "wanted" in statement:
            plans.extend(
                row[3] for row in connection.connection.cursor().execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            )

    run(database, "UPDATE articles SET body = body || ' more' WHERE id < 20")
    event.listen(database.engine, "before_cursor_execute", explain)
    index.sync()
    found = [step for step in plans if "dbsim_articles_edges" in step]
    assert len(found) > 3
    assert [step for step in found if not step.endswith(("(pairing=? AND a=?)", "(pairing=? AND b=?)"))] == []
    database.close()


def saved_groups(database: dbsim.Database, name: str) -> list[tuple[Any, ...]]:
    rows = query(database, f"SELECT * FROM dbsim_articles_saved_groups WHERE result = '{name}'")
    return sorted(tuple(row)[1:] for row in rows)


def test_explorations_go_after_an_hour(database: dbsim.Database) -> None:
    index = fill(database, generated(60))
    index.duplicates()
    index.duplicates(threshold=0.9)
    index.pairs(threshold=0.8)
    run(database, "UPDATE dbsim_articles_results SET asked = asked - 4000")
    run(database, "UPDATE dbsim_articles_grouping SET seen = seen - 4000")
    index.sync()
    assert [result["name"] for result in index.results()] == ["published"]
    assert query(database, "SELECT count(*) FROM dbsim_articles_grouping") == [(1,)]
    assert query(database, "SELECT count(DISTINCT pairing) FROM dbsim_articles_edges") == [(1,)]


def test_claims_that_nobody_has_answered_go(database: dbsim.Database) -> None:
    """They name pairs, and a row of the pair may be gone."""
    index = fill(database, generated(60))
    index.duplicates()
    assert Claims(index._search.context).take("a browser", ["(1, 2)"]) == 0
    index.sync()
    assert query(database, "SELECT holder FROM dbsim_articles_claims") == [("a browser",)]
    run(database, "UPDATE dbsim_articles_claims SET until = until - 1000")
    index.sync()
    assert query(database, "SELECT holder FROM dbsim_articles_claims") == []


def test_many_changes_start_a_full_run(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbsim.dedupe.run.FULL_FROM", 5)
    index = fill(database, generated(60))
    index.duplicates()
    run(database, "UPDATE articles SET body = body || ' more' WHERE id < 20")
    index.sync()
    incremental = stored_groups(database)
    forget_pairs(database)
    index.duplicates()
    assert stored_groups(database) == incremental


def test_drop_removes_everything(database: dbsim.Database) -> None:
    fill(database, FAMILY).duplicates()
    database.drop_index("articles")
    inspector = inspect(database.engine)
    left = [*inspector.get_table_names(), *inspector.get_view_names()]
    assert not [name for name in left if name.startswith("dbsim_articles")]


def test_status_counts_groups(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER])
    assert index.status().groups is None
    index.duplicates()
    assert index.status().groups == 1


@pytest.mark.parametrize("name", ['we"ird %s: né', "x" * 60, "SELECT", "a(b)?"])
def test_hostile_names(database: dbsim.Database, name: str) -> None:
    """Of the index, the key and the columns, among them names that dbsim uses itself."""
    quoted = quote(name)
    with database.engine.begin() as connection:
        for statement in (
            f'CREATE TABLE {quoted} ({quoted} INTEGER, "group_id" INTEGER, "bo%dy" TEXT, "dup %s" BOOLEAN, '
            f'PRIMARY KEY ({quoted}, "group_id"))',
            *(
                f'INSERT INTO {quoted} ({quoted}, "group_id", "bo%dy") VALUES ({number}, 1, \'{body}\')'
                for number, body in enumerate([*FAMILY, OTHER])
            ),
        ):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    index = database.create_index(name, table=name, columns=["bo%dy"], secret=SECRET, threshold=0.55)
    index.sync()
    assert [group.representative for group in index.duplicates(verify=True)] == [{name: 0, "group_id": 1}]
    assert len(list(index.pairs(verify=True, copies="first"))) == 4
    keep = "\"bo%dy\" LIKE '%brown%'"
    counted = index.mark_duplicates("dup %s", keep=keep, dry_run=True)
    assert index.mark_duplicates("dup %s", keep=keep, expected=counted).removed == 3
    index.sync()
    assert len(index.duplicates(by="components", publish=True)) == 1
    assert index.delete_duplicates(keep='"bo%dy"').removed == 3
    index.sync()
    assert len(index.duplicates()) == 0
    database.drop_index(name)


def test_groups_follow_while_the_queue_is_emptied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On SQLite, where a look at many changes keeps writers out; in the end they are those of a run from nothing."""
    monkeypatch.setattr(keeping_up, "EACH", 3)
    monkeypatch.setattr(SQLite, "queue_batch", 2)
    seen: list[tuple[int, int]] = []
    told = keeping_up.KeepingUp.__call__

    def look(self: keeping_up.KeepingUp, rows: int, waited: int) -> None:
        told(self, rows, waited)
        with database.engine.connect() as connection:
            counts = (f"SELECT count(*) FROM dbsim_articles_{part}" for part in ("queue", "changes"))
            seen.append(tuple(connection.exec_driver_sql(count).scalar_one() for count in counts))  # type: ignore[arg-type]

    monkeypatch.setattr(keeping_up.KeepingUp, "__call__", look)
    with dbsim.open(tmp_path / "a.db", create=True) as database:
        database.upgrade()
        index = fill(database, generated(12))
        list(index.duplicates(by="components", threshold=0.5))
        run(database, "UPDATE articles SET body = (SELECT body FROM articles WHERE id = 1) WHERE id % 2 = 0")
        index.sync()
        assert any(left and not noted for left, noted in seen), seen
        assert any(noted for _, noted in seen), seen
        before = stored_groups(database), stored_pairs(database)
        assert before[0]
        forget_pairs(database)
        list(index.duplicates(by="components", threshold=0.5))
        assert (stored_groups(database), stored_pairs(database)) == before

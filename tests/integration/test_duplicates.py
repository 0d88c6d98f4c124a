"""Stored groups: what they hold, that changes keep them equal to a full run, what is kept, deleted and marked."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from sqlalchemy import inspect, text

import dbsim
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.kernels.clustering import METHODS
from dbsim.errors import DbsimError, IndexBehind, InvalidOption, NoPrimaryKey, UnknownName
from dbsim.hashing.bloom import jaccard
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
    scores = {hit.key: hit.score for hit in index.similar(0)}
    assert {hit.key: hit.score for hit in first.members[1:]} == scores
    filters = index.options.signer(SECRET).sign([FAMILY]).filters[0]
    common = int(np.bitwise_count(filters.bits[1] & filters.bits[2]).sum())
    one, two = filters.counts[1:3].tolist()
    assert first.diameter == 1 - jaccard(one, two, common, index.options.fields[0].bits)
    assert (second.representative, [hit.key for hit in second.members], second.diameter) == (4, [4, 6], 0.0)
    rows = stored_groups(database)
    assert [row[0] for row in rows] == [0, 1, 2, 3, 4, 6]
    assert {row[1] for row in rows} == {first.id, second.id}
    assert [row[4] for row in rows] == [0, 0, 0, 0, 4, 4]
    assert found.to_json()[1] == {
        "group": str(second.id),
        "representative": 4,
        "diameter": 0.0,
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


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("by", METHODS)
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


def test_groups_follow_their_pairs(database: dbsim.Database) -> None:
    """Pairs sought in another way are those of the groups from then on, for later changes too."""
    index = fill(database, generated(100))
    index.duplicates(by="components", threshold=0.6)
    before = stored_groups(database)
    index.pairs(verify=True)
    after = stored_groups(database)
    assert after != before
    index.duplicates(by="components", threshold=0.6, verify=True)
    assert stored_groups(database) == after
    forget_pairs(database)
    index.duplicates(by="components", threshold=0.6, verify=True)
    assert stored_groups(database) == after


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


# ── what to keep ──
@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("first", [0, 4]),
        ("last", [3, 6]),
        ("longest", [2, 4]),
        ("id = 1", [1, 4]),
        ("-id", [0, 4]),
        ("CASE WHEN id = 2 THEN 1 END", [2, 4]),
        ("body LIKE '%red%'", [1, 4]),
    ],
)
def test_keep(database: dbsim.Database, keep: str, kept: list[int]) -> None:
    texts = [*FAMILY, OTHER, "", OTHER]
    texts[2] += " and longer"
    index = fill(database, texts)
    index.duplicates()
    counted = index.resolve(keep=keep)
    assert (counted.groups, counted.removed, counted.done) == (2, 4, False)
    assert len(query(database, "SELECT id FROM articles")) == 7
    done = index.resolve(keep=keep, delete=True, expected=counted, dry_run=False)
    assert (done.groups, done.removed, done.done) == (2, 4, True)
    assert [row[0] for row in query(database, "SELECT id FROM articles ORDER BY id")] == sorted([*kept, 5])
    index.sync()
    assert keys(index) == []


@pytest.mark.parametrize(("type_", "goes"), [("BOOLEAN", True), ("INTEGER", 0), ("TEXT", "0")])
def test_mark(database: dbsim.Database, type_: str, goes: Any) -> None:
    index = fill(database, [*FAMILY, OTHER])
    run(database, f"ALTER TABLE articles ADD COLUMN seen {type_}")
    index.duplicates()
    index.resolve(mark="seen", dry_run=False)
    seen = [row[0] for row in query(database, "SELECT seen FROM articles ORDER BY id")]
    assert seen[1:] == [goes, goes, goes, None]
    assert not seen[0]


def test_refusals(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER])
    index.duplicates()
    with pytest.raises(InvalidOption, match="either delete=True or mark"):
        index.resolve(dry_run=False)
    with pytest.raises(InvalidOption, match="rows are kept by first, last, longest or a SQL expression"):
        index.resolve(keep="longst(")
    with pytest.raises(UnknownName, match="did you mean 'body'"):
        index.resolve(mark="bodi", dry_run=False)
    with pytest.raises(InvalidOption, match="part of the key or of the indexed text"):
        index.resolve(mark="body", dry_run=False)
    run(database, "UPDATE articles SET body = :body WHERE id = 1", body=OTHER)
    with pytest.raises(IndexBehind, match="1 changes of the table are not in the index yet"):
        index.resolve(delete=True, dry_run=False)
    counted = index.resolve()
    index.sync()
    with pytest.raises(IndexBehind, match="changed since they were counted"):
        index.resolve(delete=True, expected=counted, dry_run=False)
    assert len(query(database, "SELECT * FROM articles")) == 5
    run(database, "UPDATE articles SET body = :body WHERE id = 1", body="now alone in the world")
    assert index.resolve(delete=True, even_if_behind=True, dry_run=False).done


def test_delete_is_refused_on_what_became_a_view_or_lost_its_key(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER])
    index.duplicates()
    run(database, "ALTER TABLE articles RENAME TO moved")
    run(database, "CREATE VIEW articles AS SELECT * FROM moved")
    with pytest.raises(DbsimError, match="is a view"):
        index.resolve(delete=True, even_if_behind=True, dry_run=False)
    run(database, "DROP VIEW articles")
    run(database, "CREATE TABLE articles AS SELECT * FROM moved")
    with pytest.raises(NoPrimaryKey):
        index.resolve(delete=True, even_if_behind=True, dry_run=False)
    run(database, "DROP TABLE articles")
    with pytest.raises(UnknownName, match="no table 'articles'"):
        index.resolve(delete=True, even_if_behind=True, dry_run=False)


def test_without_triggers_an_index_may_be_behind(database: dbsim.Database) -> None:
    run(database, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
    run(database, "INSERT INTO articles VALUES (1, :body), (2, :body)", body=BASE)
    index = database.create_index("articles", table="articles", columns=["body"], triggers=False, secret=SECRET)
    index.sync()
    assert keys(index) == [[1, 2]]
    with pytest.raises(IndexBehind, match="without triggers"):
        index.resolve(delete=True, dry_run=False)
    run(database, "INSERT INTO articles VALUES (3, :body)", body=BASE)
    index.sync()
    assert keys(index) == [[1, 2, 3]]


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
    index = database.create_index(name, table=name, columns=["bo%dy"], secret=SECRET)
    index.sync()
    assert [group.representative for group in index.duplicates(verify=True)] == [{name: 0, "group_id": 1}]
    assert len(list(index.pairs(verify=True))) == 3
    counted = index.resolve(keep="\"bo%dy\" LIKE '%brown%'")
    assert index.resolve(mark="dup %s", expected=counted, dry_run=False).removed == 3
    index.sync()
    assert len(index.duplicates(by="components")) == 1
    assert index.resolve(keep='"bo%dy"', delete=True, dry_run=False).removed == 3
    index.sync()
    assert len(index.duplicates()) == 0
    database.drop_index(name)

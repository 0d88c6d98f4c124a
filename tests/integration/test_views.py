"""The views give in any client what Python gives, use the indexes, and never stand in the host's way."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Integer, String, text

import dbsim
from dbsim.errors import InvalidOption
from tests.conftest import SECRET
from tests.integration.sql_helpers import indexed, make_people, make_table, plain


def python_pairs(index: dbsim.Index, keys: list[object]) -> dict[tuple[object, object], float]:
    return {(key, hit.key): hit.score for key in keys for hit in index.similar(key, limit=1000, verify=False)}


def test_pairs_are_those_of_python_to_the_last_bit(database: dbsim.Database) -> None:
    index = indexed(database)
    expected = python_pairs(index, list(range(42)))
    wanted = f"WHERE score >= {index.options.threshold}"  # the view goes lower, by the error of the estimate
    found = plain(database, f"SELECT a, b, score, shared_keys FROM dbsim_articles_pairs {wanted}")
    assert {(a, b): score for a, b, score, _ in found} == expected
    assert len(expected) >= 40
    keys = {row[0]: row[2:] for row in plain(database, "SELECT * FROM dbsim_articles")}
    for a, b, _, shared in found:
        assert shared == sum(x == y for x, y in zip(keys[a][: index.options.keys], keys[b], strict=False))


def test_composite_keys_and_weights(database: dbsim.Database) -> None:
    index = make_people(database)
    expected = {
        (number % 2, number, hit.key["tenant"], hit.key["nr"]): hit.score
        for number in range(7)
        for hit in index.similar({"tenant": number % 2, "nr": number}, limit=100, verify=False)
    }
    wanted = f"WHERE score >= {index.options.threshold}"
    found = plain(database, f"SELECT a_tenant, a_nr, b_tenant, b_nr, score FROM dbsim_people_pairs {wanted}")
    assert {row[:4]: row[4] for row in found} == expected
    assert len(expected) >= 8


def test_pairs_are_live(database: dbsim.Database) -> None:
    index = indexed(database, 10)
    before = plain(database, "SELECT b FROM dbsim_articles_pairs WHERE a = 0")
    assert before == [(1,)]
    with database.engine.begin() as connection:
        connection.execute(text("DELETE FROM articles WHERE id = 1"))
    index.sync()
    assert plain(database, "SELECT b FROM dbsim_articles_pairs WHERE a = 0") == []


def test_a_filter_on_one_key_uses_the_indexes(database: dbsim.Database) -> None:
    index = indexed(database, 2000)
    question = "SELECT * FROM dbsim_articles_pairs WHERE a = 7"
    if database.engine.dialect.name == "sqlite":
        plan = "\n".join(row[-1] for row in plain(database, f"EXPLAIN QUERY PLAN {question}"))
        assert "SEARCH a USING INTEGER PRIMARY KEY" in plan
        for key in range(index.options.keys):
            assert f"SEARCH b USING COVERING INDEX dbsim_articles_k{key} " in plan
    else:
        plan = "\n".join(row[0] for row in plain(database, f"EXPLAIN {question}"))
        assert "Index Scan using dbsim_articles_pkey on dbsim_articles a" in plan
        for key in range(index.options.keys):
            assert re.search(rf"Index (Only )?Scan (using|on) dbsim_articles_k{key} ", plan)
    assert "SCAN a" not in plan
    assert "Seq Scan on dbsim_articles a" not in plan  # the few pairs found may meet b by a hash at this size


def test_all_pairs_are_one_join_a_key(database: dbsim.Database) -> None:
    """Not one look-up a row and key, which took 10 to 14 s for 50,000 rows."""
    index = indexed(database, 2000)
    question = "SELECT * FROM dbsim_articles_pairs"
    if database.engine.dialect.name == "sqlite":
        plan = "\n".join(row[-1] for row in plain(database, f"EXPLAIN QUERY PLAN {question}"))
        for key in range(index.options.keys):
            assert f"SCAN a USING COVERING INDEX dbsim_articles_k{key}" in plan
    else:
        plan = "\n".join(row[0] for row in plain(database, f"EXPLAIN {question}"))
        assert len(re.findall(r"Hash Join|Merge Join", plan)) >= index.options.keys


def test_the_view_is_small(tmp_path: Path) -> None:
    """SQLite reads every view again whenever the host alters any table: the score stands in it once."""
    database = dbsim.open(f"{tmp_path}/small.db", create=True)
    database.upgrade()
    make_table(database, {1: "a b c"})
    fields = {"id": 0.3, "body": 0.7}
    database.create_index("articles", table="articles", columns=fields, bits=1024, rows=6, keys=24).sync()
    ((length,),) = plain(database, "SELECT length(sql) FROM sqlite_master WHERE name = 'dbsim_articles_pairs'")
    assert length < 13_000
    for condition in (
        "",
        " WHERE a = 7",
        " WHERE score > 0.5",
        " WHERE a = 2 AND b = 7 AND score > 0.5 ORDER BY score",
    ):
        asked = f"EXPLAIN QUERY PLAN SELECT * FROM dbsim_articles_pairs{condition}"
        plan = "\n".join(row[-1] for row in plain(database, asked))
        assert plan.count("SEARCH eu ") == len(fields), condition  # the size of a union, looked up once a field
    database.close()


def test_a_key_may_be_asked_for_as_text(database: dbsim.Database) -> None:
    """As a browser does, which knows no numbers."""
    indexed(database, 10)
    assert plain(database, "SELECT b FROM dbsim_articles_pairs WHERE a = '3'") == [(2,)]
    assert plain(database, "SELECT b FROM dbsim_articles_pairs WHERE a = '3' AND b = '2'") == [(2,)]


def test_buckets(database: dbsim.Database) -> None:
    index = indexed(database)
    rows = plain(database, "SELECT * FROM dbsim_articles ORDER BY id")
    expected = Counter(
        (number, row[2 + number]) for row in rows for number in range(index.options.keys) if row[2 + number] is not None
    )
    found = plain(database, "SELECT key_number, bucket, size FROM dbsim_articles_buckets")
    assert {row[:2]: row[2] for row in found} == dict(expected)


def test_status_of_all_indexes(database: dbsim.Database) -> None:
    index = indexed(database, 10)
    make_table(database, {1: "one two three"}, "others")
    database.create_index("others", table="others", columns=["body"], secret=SECRET)
    columns = "index_name, rows, indexed, queued, quarantined, triggers_in_place, generation, state"
    found = plain(database, f"SELECT {columns} FROM dbsim_status ORDER BY index_name")
    assert [tuple(row) for row in found] == [
        ("articles", 12, 10, 0, 0, True, 1, "ready"),
        ("others", 0, 0, 0, 0, True, 1, "filling"),
    ]
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE articles SET body = 'changed'"))
    assert plain(database, "SELECT queued FROM dbsim_status WHERE index_name = 'articles'") == [(12,)]
    assert plain(database, "SELECT oldest_queued FROM dbsim_status WHERE index_name = 'articles'") != [(None,)]
    with database.engine.begin() as connection:
        on = "" if database.engine.dialect.name == "sqlite" else " ON articles"
        connection.execute(text(f"DROP TRIGGER dbsim_articles_update{on}"))
    in_place = plain(database, "SELECT triggers_in_place FROM dbsim_status WHERE index_name = 'articles'")
    assert not in_place[0][0]
    index.sync()
    database.drop_index("others")
    assert plain(database, "SELECT index_name FROM dbsim_status") == [("articles",)]


def test_the_sqlite_shell(tmp_path: Path) -> None:
    shell = shutil.which("sqlite3")
    if shell is None:  # the module without a function, in the other tests, is the same engine
        return
    database = dbsim.open(f"{tmp_path}/shell.db", create=True)
    database.upgrade()
    index = indexed(database, 10)
    asked = "SELECT a, b, printf('%!.20g', score) FROM dbsim_articles_pairs WHERE a = 3"
    own = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # .ci/versions, of another SQLite
    done = subprocess.run(
        [shell, f"{tmp_path}/shell.db", asked], capture_output=True, text=True, check=True, timeout=300, env=own
    )
    (hit,) = index.similar(3, verify=False)
    a, b, score = done.stdout.strip().split("|")
    assert (int(a), int(b), float(score)) == (3, hit.key, hit.score)
    database.close()


def test_missing_views_are_reported_and_restored(database: dbsim.Database) -> None:
    index = indexed(database, 4)
    with database.engine.begin() as connection:
        cascade = "" if database.engine.dialect.name == "sqlite" else " CASCADE"
        connection.execute(text(f"DROP VIEW dbsim_articles_pairs{cascade}"))
        connection.execute(text(f"DROP VIEW dbsim_status{cascade}"))
    assert any("views or functions" in problem for problem in index.status().problems)
    assert "dbsim_articles_pairs" in index.sync().views_restored
    assert not index.status().problems
    assert plain(database, "SELECT count(*) FROM dbsim_status") == [(1,)]


def test_drop_leaves_nothing(database: dbsim.Database) -> None:
    indexed(database, 4)
    database.drop_index("articles")
    if database.engine.dialect.name == "sqlite":
        left = plain(database, "SELECT name FROM sqlite_master WHERE name LIKE 'dbsim_%' AND type = 'view'")
    else:
        left = plain(
            database,
            "SELECT relname FROM pg_class WHERE relname LIKE 'dbsim_articles%' OR relname = 'dbsim_status' "
            "UNION SELECT proname FROM pg_proc WHERE proname LIKE 'dbsim%' "
            "UNION SELECT typname FROM pg_type WHERE typname = 'dbsim_field'",
        )
    assert left == []
    database.downgrade()


@pytest.mark.parametrize("name", ["articles_pairs", "articles_buckets", "x_groups", "status", "x_signatures"])
def test_names_of_views_are_reserved(database: dbsim.Database, name: str) -> None:
    make_table(database, {1: "a b c"})
    with pytest.raises(InvalidOption, match="needs that name itself"):
        database.create_index(name, table="articles", columns=["body"])


def test_the_host_migrates_freely(database: dbsim.Database) -> None:
    """Column type, dropped and renamed columns, an Alembic batch rebuild: nothing of dbsim is in the way."""
    index = indexed(database, 6)
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE articles ADD COLUMN extra INTEGER"))
    with database.engine.begin() as connection:
        migrate = Operations(MigrationContext.configure(connection))
        with migrate.batch_alter_table("articles", recreate="auto") as batch:
            batch.drop_column("extra")
            batch.alter_column("body", existing_type=String, type_=String(100000))
        with migrate.batch_alter_table("articles") as batch:
            batch.alter_column("id", existing_type=Integer, type_=Integer, existing_nullable=False)
    if database.engine.dialect.name == "sqlite":  # the rebuild dropped the triggers
        assert any("triggers are missing" in problem for problem in index.status().problems)
        assert index.sync().triggers_restored
    else:
        with database.engine.begin() as connection:
            connection.execute(text("ALTER TABLE articles ALTER COLUMN body TYPE TEXT"))
    assert not index.sync().triggers_restored
    assert not index.status().problems
    assert not index.check()
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE articles RENAME COLUMN body TO content"))
        if database.engine.dialect.name == "postgresql":  # the key, too: dbsim then asks for a new index
            connection.execute(text("ALTER TABLE articles ALTER COLUMN id TYPE BIGINT"))
        connection.execute(text("ALTER TABLE articles RENAME TO stories"))
        connection.execute(text("INSERT INTO stories (id, content) VALUES (99, 'written all the same')"))
    assert plain(database, "SELECT b FROM dbsim_articles_pairs WHERE a = 0") == [(1,)]

"""Tables in PostgreSQL schemas, partitioned tables, and what SQLite says to a schema."""

from __future__ import annotations

import pytest

import dbsim
from dbsim.errors import IndexExists, UnknownName
from tests.integration.helpers import QUICK, execute, fetch, near_copy, objects, sentence
from tests.oracle import assert_in_step

postgresql_only = pytest.mark.parametrize("url", ["postgresql"], indirect=True)


@postgresql_only
def test_a_table_in_a_schema(database: dbsim.Database) -> None:
    """Named with its schema, as one name or as two; a table of the same name elsewhere is another table."""
    execute(
        database.engine,
        "CREATE SCHEMA shop",
        'CREATE SCHEMA "Old Shop"',
        "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)",
        "CREATE TABLE shop.articles (id INTEGER PRIMARY KEY, body TEXT, lang TEXT)",
        'CREATE TABLE "Old Shop".articles (id INTEGER PRIMARY KEY, body TEXT)',
        f"INSERT INTO articles VALUES (1, '{sentence(9)}')",
        f"INSERT INTO shop.articles VALUES (1, '{sentence(1)}', 'de'), (2, '{near_copy(1)}', 'en')",
    )
    plain = database.create_index("plain", table="articles", columns="body", **QUICK)
    shop = database.create_index("shop", table="shop.articles", columns="body", **QUICK)
    old = database.create_index("old", table="articles", schema="Old Shop", columns="body", **QUICK)
    assert [(one.options.schema, one.sync().filled) for one in (plain, shop, old)] == [
        ("public", 1),
        ("shop", 2),
        ("Old Shop", 0),
    ]
    execute(database.engine, f"INSERT INTO \"Old Shop\".articles VALUES (7, '{sentence(1)}')")
    execute(database.engine, "SET search_path = shop", "DELETE FROM articles WHERE id = 1", "SET search_path = public")
    assert [one.status().queued for one in (plain, shop, old)] == [0, 1, 1]
    for one in (plain, shop, old):
        one.sync()
    assert [hit.key for hit in shop.search(sentence(1), where="lang = 'en'")] == [2]
    assert [hit.key for hit in shop.search(sentence(1), where="articles.lang = 'de'")] == []
    assert [hit.key for hit in old.search(sentence(1))] == [7]
    assert shop.status().table == "shop.articles"
    for name in ("plain", "shop", "old"):
        assert_in_step(database, name)
    # the same call again, in the other spelling
    assert database.create_index("shop", table="articles", schema="shop", columns="body", **QUICK).name == "shop"
    with pytest.raises(IndexExists, match="schema is 'shop', not 'public'"):
        database.create_index("shop", table="articles", columns="body", **QUICK)
    with pytest.raises(UnknownName, match=r"there is no table 'shop\.artcles'; did you mean 'shop\.articles'"):
        database.create_index("x", table="shop.artcles", columns="body")
    with pytest.raises(UnknownName, match=r"there is no table 'shp\.articles'; did you mean 'shop\.articles'"):
        database.create_index("x", table="articles", schema="shp", columns="body")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_sqlite_has_no_schemas(database: dbsim.Database) -> None:
    execute(database.engine, 'CREATE TABLE "shop.articles" (id INTEGER PRIMARY KEY, body TEXT)')
    with pytest.raises(UnknownName, match=r"there is no table 'shop\.articles'"):
        database.create_index("x", table="articles", schema="shop", columns="body")
    index = database.create_index("x", table="shop.articles", columns="body", **QUICK)
    assert (index.options.table, index.options.schema) == ("shop.articles", None)
    assert index.sync().filled == 0


def partitioned(database: dbsim.Database) -> dbsim.Index:
    execute(
        database.engine,
        "CREATE SCHEMA archive",
        "CREATE TABLE logs (day DATE, id INTEGER, body TEXT, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)",
        "CREATE TABLE logs_23 PARTITION OF logs FOR VALUES FROM ('2023-01-01') TO ('2024-01-01')",
        "CREATE TABLE archive.logs_24 PARTITION OF logs FOR VALUES FROM ('2024-01-01') TO ('2025-01-01') "
        "PARTITION BY HASH (id)",
        "CREATE TABLE logs_24_even PARTITION OF archive.logs_24 FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
        "CREATE TABLE logs_24_odd PARTITION OF archive.logs_24 FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
        *(f"INSERT INTO logs VALUES ('202{3 + n % 2}-05-0{n}', {n}, '{near_copy(1, n)}')" for n in range(1, 7)),
    )
    index = database.create_index("logs", table="logs", columns="body", threshold=0.6, **QUICK)  # the last is at 0.65
    assert index.sync().filled == 6
    return index


@postgresql_only
def test_writes_to_a_partitioned_table_and_to_its_partitions(database: dbsim.Database) -> None:
    index = partitioned(database)
    assert index.key_names == ["id", "day"]
    assert len(index.search(near_copy(1, 1))) == 6
    execute(
        database.engine,
        f"INSERT INTO logs VALUES ('2023-07-01', 10, '{sentence(2)}')",
        f"INSERT INTO logs_23 VALUES ('2023-07-02', 11, '{near_copy(2)}')",  # straight into a partition
        f"INSERT INTO archive.logs_24 VALUES ('2024-07-02', 12, '{near_copy(2, 2)}')",
        "UPDATE logs SET day = '2024-01-01' WHERE id = 2",  # moves to another partition
        "DELETE FROM logs_24_even WHERE id = 1",
        "DELETE FROM logs_24_odd WHERE id = 1",
        f"UPDATE archive.logs_24 SET body = '{sentence(5)}' WHERE id = 3",
    )
    index.sync()
    assert sorted(hit.key["id"] for hit in index.search(sentence(2))) == [10, 11, 12]
    assert_in_step(database, "logs")
    execute(database.engine, "TRUNCATE logs_23")
    index.sync()
    assert_in_step(database, "logs")
    execute(database.engine, "TRUNCATE logs")
    index.sync()
    assert index.status().indexed == 0


@postgresql_only
def test_partitions_that_come_and_go(database: dbsim.Database) -> None:
    """ATTACH, DETACH, a new or a dropped partition change rows without a trigger: found, named and repaired."""
    execute(database.engine, "CREATE TABLE before_ (x INTEGER)")
    before = objects(database.engine)
    index = partitioned(database)
    execute(
        database.engine,
        "CREATE TABLE logs_25 (day DATE NOT NULL, id INTEGER NOT NULL, body TEXT)",
        f"INSERT INTO logs_25 VALUES ('2025-01-01', 50, '{sentence(4)}')",
        "ALTER TABLE logs ATTACH PARTITION logs_25 FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')",
        "CREATE TABLE logs_26 PARTITION OF logs FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
        f"INSERT INTO logs_26 VALUES ('2026-01-01', 60, '{sentence(4)}')",
    )
    assert index.status().problems == ("8 triggers are missing, changes go unnoticed: run `dbsim sync`",)
    assert [key[0] for key in index.check().missing] == [50, 60]
    report = index.sync()
    assert (len(report.triggers_restored), report.repaired) == (8, 2)
    execute(database.engine, "DELETE FROM logs_25", f"INSERT INTO logs_26 VALUES ('2026-01-02', 61, '{sentence(4)}')")
    assert index.sync().changed == 2
    assert_in_step(database, "logs")
    gone = fetch(database.engine, "SELECT count(*) FROM logs_23")[0][0]
    execute(database.engine, "ALTER TABLE logs DETACH PARTITION logs_23", "DROP TABLE logs_26")
    assert len(index.check().orphaned) == gone + 2
    assert index.sync(reconcile=True).repaired == gone + 2
    assert_in_step(database, "logs")
    execute(database.engine, f"INSERT INTO logs_23 VALUES ('2023-01-01', 77, '{sentence(4)}')")  # no longer part of it
    index.sync()
    assert_in_step(database, "logs")
    database.drop_index("logs")
    execute(database.engine, "DELETE FROM logs_23", "DROP TABLE logs, logs_23", "DROP SCHEMA archive CASCADE")
    assert objects(database.engine) == before


@postgresql_only
def test_a_table_with_dropped_and_generated_columns(database: dbsim.Database) -> None:
    """Column numbers with gaps, and a text that PostgreSQL computes."""
    execute(
        database.engine,
        "CREATE TABLE t (gone TEXT, title TEXT, id INTEGER, body TEXT, PRIMARY KEY (id), "
        "whole TEXT GENERATED ALWAYS AS (title || ' ' || body) STORED)",
        "ALTER TABLE t DROP COLUMN gone",
        f"INSERT INTO t VALUES ('{sentence(1)}', 1, '{sentence(2)}'), ('{sentence(1)}', 2, '{near_copy(2)}')",
    )
    index = database.create_index("t", table="t", columns="whole", **QUICK)
    index.sync()
    assert [hit.key for hit in index.similar(1)] == [2]
    execute(database.engine, "ALTER TABLE t ADD COLUMN more INTEGER DEFAULT 5", f"UPDATE t SET body = '{sentence(3)}'")
    index.sync()
    assert_in_step(database, "t")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_generated_columns_of_sqlite(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT, v TEXT AS (a || ' ' || b), "
        "s TEXT AS (b || ' ' || a) STORED)",
        f"INSERT INTO t (id, a, b) VALUES (1, '{sentence(1)}', '{sentence(2)}')",
        f"INSERT INTO t (id, a, b) VALUES (2, '{sentence(1)}', '{near_copy(2)}')",
    )
    for column in ("v", "s"):
        index = database.create_index(column, table="t", columns=column, **QUICK)
        index.sync()
        assert [hit.key for hit in index.similar(1)] == [2]
        assert_in_step(database, column)

"""Promise 8: writes that go past the triggers are found by `check` and repaired, by `sync` alone where that can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import dbsim
from dbsim.index import Index
from tests.oracle import assert_converged, assert_equal_to_scratch
from tests.reliability.harness import Application, create_index, sentence

SQLITE, POSTGRESQL = "sqlite", "postgresql"


@dataclass(frozen=True)
class Case:
    """Statements after which the index differs in the rows `found`, without anything in the queue."""

    name: str
    engine: str
    statements: tuple[str, ...]
    found: frozenset[int]


def case(name: str, engine: str, *statements: str, found: set[int] | None = None) -> Case:
    return Case(name, engine, statements, frozenset(found or ()))


HIDDEN = [
    # the row that had the slug goes without its delete trigger
    case("or replace", SQLITE, "INSERT OR REPLACE INTO articles (id, slug) VALUES (1, 'slug 2')", found={2}),
    case("replace", SQLITE, "REPLACE INTO articles (id, slug) VALUES (77, 'slug 3')", found={3}),
    case("update or replace", SQLITE, "UPDATE OR REPLACE articles SET slug = 'slug 2' WHERE id = 1", found={2}),
    case(
        "a trigger of the same name that does nothing",
        SQLITE,
        "DROP TRIGGER dbsim_articles_update",
        "CREATE TRIGGER dbsim_articles_update AFTER UPDATE ON articles BEGIN SELECT 1; END",
        "UPDATE articles SET body = 'unseen' WHERE id = 1",
        "UPDATE articles SET body = x'00ff' WHERE id = 8",  # from empty to unreadable: no signature before and after
        found={1, 8},
    ),
    case(
        "texts rewritten by ALTER TYPE",
        POSTGRESQL,
        "ALTER TABLE articles ALTER COLUMN body TYPE text USING CASE WHEN id < 3 THEN 'rewritten' ELSE body END",
        found={1, 2},
    ),
    case(
        "child table",
        POSTGRESQL,
        "CREATE TABLE child () INHERITS (articles)",
        "INSERT INTO child (id, body) VALUES (77, 'inherited')",
        found={77},
    ),
]
for engine in (SQLITE, POSTGRESQL):
    HIDDEN += [
        case("signature deleted", engine, "DELETE FROM dbsim_articles WHERE id = 4", found={4}),
        case("signature changed", engine, "UPDATE dbsim_articles SET fingerprint = 1 WHERE id = 4", found={4}),
        case("signature of no row", engine, "UPDATE dbsim_articles SET id = 99 WHERE id = 4", found={4, 99}),
        case(
            "queue emptied",
            engine,
            "UPDATE articles SET body = 'queued' WHERE id = 1",
            "DELETE FROM dbsim_articles_queue",
            found={1},
        ),
        case(
            "column renamed into place",
            engine,
            "ALTER TABLE articles RENAME COLUMN title TO old_title",
            "ALTER TABLE articles RENAME COLUMN slug TO title",
            found={1, 2, 3, 4, 5, 6, 7},
        ),
    ]
NOTICED = [
    case(
        "session_replication_role",
        POSTGRESQL,
        "SET session_replication_role = replica",
        "UPDATE articles SET body = 'unseen' WHERE id = 1",
        "DELETE FROM articles WHERE id = 2",
        "INSERT INTO articles (id, body) VALUES (77, 'unseen')",
        "RESET session_replication_role",
    ),
    case(
        "triggers off and on again",
        POSTGRESQL,
        "ALTER TABLE articles DISABLE TRIGGER USER",
        "DELETE FROM articles WHERE id = 3",
        "ALTER TABLE articles ENABLE TRIGGER USER",
    ),
    case("triggers dropped", SQLITE, "DROP TRIGGER dbsim_articles_update", "UPDATE articles SET body = 'unseen'"),
    case(
        "table rebuilt",
        SQLITE,
        "CREATE TABLE copy (id INTEGER PRIMARY KEY, slug TEXT, title TEXT, body TEXT)",
        "INSERT INTO copy SELECT id, slug, title, 'rebuilt' FROM articles WHERE id > 2",
        "DROP TABLE articles",
        "ALTER TABLE copy RENAME TO articles",
    ),
    case(
        "recursive triggers",
        SQLITE,
        "PRAGMA recursive_triggers = on",
        "INSERT OR REPLACE INTO articles (id, slug) VALUES (1, 'slug 2')",
    ),
    case("cascade", SQLITE, "PRAGMA foreign_keys = on", "DELETE FROM owner"),
    case("attached", SQLITE, "ATTACH ':memory:' AS more", "UPDATE main.articles SET body = 'attached'"),
    case("cascade", POSTGRESQL, "DELETE FROM owner"),
    case("truncate", POSTGRESQL, "TRUNCATE articles"),
    case("truncate cascade", POSTGRESQL, "TRUNCATE owner CASCADE"),
    case("truncate, refill", POSTGRESQL, "TRUNCATE articles", "INSERT INTO articles (id, body) VALUES (3, 'again')"),
    case("disabled", POSTGRESQL, "ALTER TABLE articles DISABLE TRIGGER ALL", "DELETE FROM articles WHERE id = 2"),
    case(
        "for replicas only",
        POSTGRESQL,
        "ALTER TABLE articles ENABLE REPLICA TRIGGER dbsim_articles_update",
        "UPDATE articles SET body = 'unseen' WHERE id = 1",
    ),
    case("function dropped", POSTGRESQL, "DROP FUNCTION dbsim_articles_changed CASCADE", "DELETE FROM articles"),
    case(
        "swapped by renaming",
        POSTGRESQL,
        "CREATE TABLE copy (LIKE articles INCLUDING ALL)",
        "INSERT INTO copy (id, body) SELECT id, 'swapped' FROM articles WHERE id > 2",
        "DROP TABLE articles",
        "ALTER TABLE copy RENAME TO articles",
    ),
    case(
        "changed by a trigger",
        POSTGRESQL,
        "CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.body := 'by a trigger'; RETURN NEW; END $$",
        "CREATE TRIGGER change BEFORE UPDATE OF slug ON articles FOR EACH ROW EXECUTE FUNCTION change()",
        "UPDATE articles SET slug = NULL WHERE id = 1",
    ),
    case(
        "merge",
        POSTGRESQL,
        "MERGE INTO articles USING (VALUES (1), (2), (77)) AS v (id) ON articles.id = v.id "
        "WHEN MATCHED AND v.id = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET body = 'merged' "
        "WHEN NOT MATCHED THEN INSERT (id, body) VALUES (v.id, 'merged')",
    ),
    case(
        "data-modifying WITH",
        POSTGRESQL,
        "WITH gone AS (DELETE FROM articles WHERE id < 3 RETURNING id) "
        "INSERT INTO articles (id, body) SELECT id + 100, 'moved' FROM gone",
    ),
]


def cases(of: list[Case]) -> pytest.MarkDecorator:
    """Each case on its engine."""
    names = [f"{one.engine}-{one.name}" for one in of]
    return pytest.mark.parametrize(("url", "case"), [(one.engine, one) for one in of], indirect=["url"], ids=names)


@pytest.fixture
def app(url: str, database: dbsim.Database) -> Iterator[Application]:
    with Application(url) as opened:
        opened.execute("CREATE TABLE owner (id INTEGER PRIMARY KEY)")
        opened.execute("INSERT INTO owner VALUES (1)")
        opened.execute(
            "CREATE TABLE articles (id INTEGER PRIMARY KEY, slug TEXT UNIQUE, title TEXT, body TEXT, "
            "owner INTEGER REFERENCES owner (id) ON DELETE CASCADE)"
        )
        for key in range(1, 8):
            row = (key, f"slug {key}", f"title {key}", sentence(key), 1 if key % 2 else None)
            opened.execute("INSERT INTO articles VALUES (?, ?, ?, ?, ?)", *row)
        opened.execute("INSERT INTO articles (id) VALUES (8)")
        create_index(database).sync()
        yield opened


@pytest.mark.parametrize("repair", ["reconcile", "check"])
@cases(HIDDEN)
def test_hidden_writes_are_found_and_repaired(
    app: Application, database: dbsim.Database, case: Case, repair: str
) -> None:
    index = database.index("articles")
    for statement in case.statements:
        app.execute(statement)
    index.sync()
    assert {key for (key,) in index.check().keys} == case.found
    if repair == "reconcile":
        index.sync(reconcile=True)
    else:
        index.check(repair=True)
    assert_equal_to_scratch(index)
    assert not index.check()


@cases(NOTICED)
def test_sync_alone_notices(app: Application, database: dbsim.Database, case: Case) -> None:
    for statement in case.statements:
        app.execute(statement)
    assert_converged(database.index("articles"))


# ── partitions ──
PARTITIONED = """CREATE TABLE articles (id INTEGER, year INTEGER, title TEXT, body TEXT, PRIMARY KEY (id, year))
    PARTITION BY RANGE (year)"""


@pytest.fixture
def partitioned(new_postgres: str) -> Iterator[tuple[Application, Index]]:
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as app:
        app.execute(PARTITIONED)
        for year in (2020, 2021):
            app.execute(f"CREATE TABLE y{year} PARTITION OF articles FOR VALUES FROM ({year}) TO ({year + 1})")
            app.execute(f"INSERT INTO articles SELECT n, {year}, 'title', 'text ' || n FROM generate_series(1, 5) AS n")
        index = create_index(database)
        index.sync()
        yield app, index
    database.close()


def test_writes_to_partitions(partitioned: tuple[Application, Index]) -> None:
    app, index = partitioned
    app.execute("UPDATE y2020 SET body = 'aimed at the partition' WHERE id = 1")
    app.execute("UPDATE articles SET year = 2021, id = 100 WHERE id = 2 AND year = 2020")  # moves to the other one
    app.execute("TRUNCATE y2021")
    assert_converged(index)


def test_partition_attached_with_rows(partitioned: tuple[Application, Index]) -> None:
    app, index = partitioned
    app.execute("CREATE TABLE y2022 (LIKE articles INCLUDING ALL)")
    app.execute("INSERT INTO y2022 VALUES (1, 2022, 'title', 'attached')")
    app.execute("ALTER TABLE articles ATTACH PARTITION y2022 FOR VALUES FROM (2022) TO (2023)")
    assert index.check().missing == [(1, 2022)]
    assert_converged(index)
    app.execute("UPDATE y2022 SET body = 'now seen'")
    assert_converged(index)


def test_partition_dropped(partitioned: tuple[Application, Index]) -> None:
    app, index = partitioned
    app.execute("DROP TABLE y2021")
    index.sync()
    assert len(index.check().orphaned) == 5
    assert_converged(index, reconcile=True)


def test_partition_detached(partitioned: tuple[Application, Index]) -> None:
    """It still has the triggers, which tell that it was a part."""
    app, index = partitioned
    app.execute("ALTER TABLE articles DETACH PARTITION y2021")
    assert any("triggers are missing" in problem for problem in index.status().problems)
    assert "y2021 no longer belongs to the table" in index.sync().triggers_restored[-1]
    assert_converged(index)
    app.execute("UPDATE y2021 SET body = 'no longer ours'")
    assert index.status().queued == 0


def test_index_without_triggers(url: str, database: dbsim.Database) -> None:
    with Application(url) as app:
        app.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
        app.execute("INSERT INTO articles VALUES (1, 'one', 'text'), (2, 'two', 'text')")
        index = create_index(database, triggers=False)
        assert_converged(index)
        app.execute("UPDATE articles SET body = 'changed' WHERE id = 1")
        app.execute("DELETE FROM articles WHERE id = 2")
        app.execute("INSERT INTO articles VALUES (3, 'three', 'text')")
        assert len(index.check().keys) == 3
        assert_converged(index)

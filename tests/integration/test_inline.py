"""Inline indexes: the trigger signs, in the transaction that writes, and never makes the write fail; PostgreSQL."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, text

import dbsim
from dbsim.errors import InvalidOption
from tests.conftest import SECRET
from tests.integration.sql_helpers import documents, make_people, make_table, plain

pytestmark = pytest.mark.long

BODY = "The quick brown fox jumps over the lazy dog and sleeps all day long in the warm sun"


@pytest.fixture
def database(new_postgres: str) -> Iterator[dbsim.Database]:
    opened = dbsim.open(new_postgres)
    opened.upgrade()
    yield opened
    opened.close()


def inline(database: dbsim.Database, texts: dict[int, str] | None = None) -> dbsim.Index:
    make_table(database, texts or {1: "something else"})
    index = database.create_index("articles", table="articles", columns=["body"], words=3, secret=SECRET, inline=True)
    index.sync()
    return index


def insert(connection: Connection, key: int, body: str | None) -> None:
    connection.execute(text("INSERT INTO articles VALUES (:key, :body)"), {"key": key, "body": body})


def assert_in_step(index: dbsim.Index) -> None:
    assert index.status().queued == 0
    assert not index.check()


def test_found_before_commit_and_after(database: dbsim.Database) -> None:
    index = inline(database)
    with database.engine.connect() as connection:
        insert(connection, 10, BODY)
        assert [hit.key for hit in index.search(BODY, connection=connection)] == [10]
        rows = connection.execute(text("SELECT id FROM dbsim_articles_search(:body)"), {"body": BODY})
        assert rows.scalars().all() == [10]
        assert index.search(BODY) == []  # nobody else yet
        connection.commit()
    assert [hit.key for hit in index.search(BODY)] == [10]
    assert_in_step(index)


def test_rollback_and_savepoint(database: dbsim.Database) -> None:
    index = inline(database)
    with database.engine.connect() as connection:
        insert(connection, 10, BODY)
        savepoint = connection.begin_nested()
        connection.execute(text("UPDATE articles SET body = 'other words entirely here' WHERE id = 10"))
        savepoint.rollback()
        assert [hit.key for hit in index.search(BODY, connection=connection)] == [10]
        connection.rollback()
    assert index.search(BODY) == []
    assert_in_step(index)


def test_every_kind_of_change(database: dbsim.Database) -> None:
    index = inline(database, documents(20))
    statements = [
        "UPDATE articles SET body = body || ' and more' WHERE id % 3 = 0",
        "UPDATE articles SET id = id + 1000 WHERE id < 10",
        "DELETE FROM articles WHERE id > 1005",
        "INSERT INTO articles VALUES (12, 'x y z'), (2000, 'x y z') ON CONFLICT (id) DO UPDATE SET body = 'conflict'",
        "WITH x AS (DELETE FROM articles WHERE id = 14 RETURNING body) INSERT INTO articles SELECT 9, body FROM x",
        "UPDATE articles SET body = NULL WHERE id = 16",
        "UPDATE articles SET body = body WHERE false",
    ]
    for statement in statements:
        with database.engine.begin() as connection:
            connection.execute(text(statement))
        assert_in_step(index)
    with database.engine.begin() as connection:
        connection.execute(text("TRUNCATE articles"))
    assert index.status().indexed == 0
    assert_in_step(index)


def test_weights_composite_keys_and_partitions(database: dbsim.Database) -> None:
    index = make_people(database)
    index.inline()
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO people SELECT tenant, nr + 100, name, town FROM people"))
        connection.execute(text("UPDATE people SET tenant = 5, nr = nr + 1 WHERE nr > 103"))
    assert_in_step(index)
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE logs (id INTEGER PRIMARY KEY, body TEXT) PARTITION BY RANGE (id)"))
        connection.execute(text("CREATE TABLE logs_1 PARTITION OF logs FOR VALUES FROM (0) TO (10)"))
        connection.execute(text("CREATE TABLE logs_2 PARTITION OF logs FOR VALUES FROM (10) TO (20)"))
    logs = database.create_index("logs", table="logs", columns=["body"], words=2, secret=SECRET, inline=True)
    logs.sync()
    with database.engine.begin() as connection:
        connection.execute(
            text("INSERT INTO logs SELECT n, 'line number ' || n || ' of many' FROM generate_series(1, 15) n")
        )
        connection.execute(text("INSERT INTO logs_1 VALUES (0, 'straight into the partition')"))
        connection.execute(text("UPDATE logs SET id = 19 WHERE id = 3"))
    assert logs.status().indexed == 16
    assert_in_step(logs)


def test_a_trigger_of_the_application_changes_the_row_again(database: dbsim.Database) -> None:
    """The inner statement's trigger fires first; the outer one must not put the older text back."""
    index = inline(database)
    with database.engine.begin() as connection:
        connection.execute(
            text(
                "CREATE FUNCTION app() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                "UPDATE articles SET body = body || ' changed by the host' WHERE id = NEW.id; RETURN NULL; END $$"
            )
        )
        connection.execute(text("CREATE TRIGGER app AFTER INSERT ON articles FOR EACH ROW EXECUTE FUNCTION app()"))
        insert(connection, 10, BODY)
    assert_in_step(index)


HOSTILE = [
    "",
    " ",
    "\x01\x7f",
    "' OR 1=1 --",
    "\\000\\",
    "{}%s$1",
    "🇩🇪👩‍🔬" * 1000,
    "\u0301" * 5000,
    "a" * 200_000,
    "漢" * 20_000,
    "ﷺ" * 3000,
    "\U0010ffff\ufffe",
]


def test_hostile_texts(database: dbsim.Database) -> None:
    index = inline(database)
    with database.engine.begin() as connection:
        for number, body in enumerate(HOSTILE):
            insert(connection, 100 + number, body)
    assert_in_step(index)


def test_what_would_take_long_goes_to_the_queue(database: dbsim.Database) -> None:
    index = inline(database)
    with database.engine.begin() as connection:
        insert(connection, 10, "word " * 250_000)
        insert(connection, 11, BODY)
        connection.execute(text("UPDATE articles SET body = repeat('more ', 250000) WHERE id = 11"))
    assert index.status().queued == 2
    assert index.search(BODY) == []
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO articles SELECT n, 'row ' || n FROM generate_series(1000, 11001) n"))
    assert index.status().queued == 2 + 10_002
    index.sync()
    assert_in_step(index)


def test_failures_never_reach_the_application(database: dbsim.Database) -> None:
    index = inline(database)
    breaking = [
        "ALTER TABLE articles RENAME COLUMN body TO content",
        "DROP FUNCTION dbsim_articles_sign CASCADE",
        "DROP TABLE dbsim_constant CASCADE",
        "DROP TABLE dbsim_articles CASCADE",
        "DROP TABLE dbsim_articles_queue CASCADE",
    ]
    for number, statement in enumerate(breaking):
        with database.engine.begin() as connection:
            connection.execute(text(statement))
        with database.engine.begin() as connection:
            connection.execute(text("INSERT INTO articles VALUES (:key, 'still written')"), {"key": 10 + number})
            connection.execute(text("UPDATE articles SET id = id + 100"))
        if number < 4:
            assert plain(database, "SELECT count(*) > 0 FROM dbsim_articles_queue") == [(True,)]
    assert index.name == "articles"


def test_repaired_after_a_renamed_column(database: dbsim.Database) -> None:
    index = inline(database)
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE articles RENAME COLUMN body TO content"))
        connection.execute(text("INSERT INTO articles VALUES (10, 'written meanwhile')"))
        connection.execute(text("ALTER TABLE articles RENAME COLUMN content TO body"))
    assert index.status().queued == 1
    index.sync()
    assert_in_step(index)


def test_switching_back_and_forth(database: dbsim.Database) -> None:
    index = inline(database)
    index.inline(False)
    assert not database.index("articles").options.inline
    with database.engine.begin() as connection:
        insert(connection, 10, BODY)
    assert index.status().queued == 1
    assert index.inline(True).changed == 1
    with database.engine.begin() as connection:
        insert(connection, 11, BODY)
    assert [hit.key for hit in index.search(BODY)] == [10, 11]
    assert_in_step(index)


def test_writers_a_worker_and_switches_at_once(database: dbsim.Database) -> None:
    """No write fails, nothing is stale at the end, whoever signed it."""
    index = inline(database, documents(30))
    failures: list[BaseException] = []
    stop = threading.Event()

    def write(seed: int) -> None:
        rng = random.Random(seed)
        for number in range(60):
            try:
                with database.engine.begin() as connection:
                    for key in sorted(rng.sample(range(30), 3)):  # in key order, as an application avoids deadlocks
                        body = f"text {number} of writer {seed} in row {key} " + " ".join(
                            rng.choices(BODY.split(), k=20)
                        )
                        connection.execute(
                            text("UPDATE articles SET body = :body WHERE id = :key"), {"body": body, "key": key}
                        )
                    if rng.random() < 0.2:
                        connection.rollback()
            except Exception as error:  # noqa: BLE001 - every failure is to be reported
                failures.append(error)

    def work() -> None:
        other = database.index("articles")
        while not stop.is_set():
            try:
                other.sync(reconcile=True)
            except Exception as error:  # noqa: BLE001
                failures.append(error)

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    worker = threading.Thread(target=work)
    for thread in [*writers, worker]:
        thread.start()
    for on in (False, True, False, True):
        index.inline(on)
    for thread in writers:
        thread.join()
    stop.set()
    worker.join()
    assert failures == []
    index.sync()
    assert_in_step(index)


def test_refused_where_it_cannot_work(database: dbsim.Database, tmp_path: object) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE events (id INTEGER PRIMARY KEY, day DATE, body TEXT)"))
    with pytest.raises(InvalidOption, match="depends on settings of the session"):
        database.create_index("events", table="events", columns=["day"], inline=True)
    with pytest.raises(InvalidOption, match="kept by its triggers"):
        database.create_index("events", table="events", columns=["body"], inline=True, triggers=False)
    lite = dbsim.open(f"{tmp_path}/lite.db", create=True)
    lite.upgrade()
    make_table(lite, {1: "a b c"})
    with pytest.raises(InvalidOption, match="need PostgreSQL"):
        lite.create_index("articles", table="articles", columns=["body"], inline=True)
    index = lite.create_index("articles", table="articles", columns=["body"])
    with pytest.raises(InvalidOption, match="need PostgreSQL"):
        index.inline()
    lite.close()


def test_stored_groups_hear_of_changes(database: dbsim.Database) -> None:
    index = inline(database, {1: BODY, 2: BODY.upper(), 3: "something else entirely, without any likeness"})
    index.duplicates()
    for statement, sizes in (
        (f"INSERT INTO articles VALUES (50, '{BODY}'), (51, 'nothing like that was ever written here')", [3]),
        ("UPDATE articles SET body = 'what was a near-duplicate is one no longer' WHERE id = 1", [2]),
        ("DELETE FROM articles WHERE id = 50", []),
        ("TRUNCATE articles", []),
    ):
        rows(database, statement)
        index.sync()
        stored = rows(database, "SELECT * FROM dbsim_articles_groups ORDER BY id")
        assert [len(group.members) for group in index.duplicates()] == sizes
        rows(database, "UPDATE dbsim_articles_grouping SET pairing = '', paired = false")
        index.duplicates()
        assert rows(database, "SELECT * FROM dbsim_articles_groups ORDER BY id") == stored
    assert_in_step(index)


def test_stored_groups_hear_whether_a_content_came_or_went(database: dbsim.Database) -> None:
    """Buckets near their limit depend on it."""
    index = inline(database, {1: BODY, 2: BODY.upper()})
    index.duplicates()
    for statement, gained in (
        ("INSERT INTO articles VALUES (50, 'nothing like that was ever written here')", [1]),
        ("UPDATE articles SET body = 'what was a near-duplicate is one no longer' WHERE id = 1", [-1, 1]),
        ("DELETE FROM articles WHERE id = 50", [-1]),
    ):
        rows(database, "DELETE FROM dbsim_articles_changes")
        rows(database, statement)
        assert [row[0] for row in rows(database, "SELECT gained FROM dbsim_articles_changes ORDER BY gained")] == gained


def rows(database: dbsim.Database, statement: str) -> list[tuple[object, ...]]:
    with database.engine.begin() as connection:
        result = connection.execute(text(statement))
        return [tuple(row) for row in result] if result.returns_rows else []

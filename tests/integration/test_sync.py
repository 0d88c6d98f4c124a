"""Keeping in step: every way to write ends in the state that a build from scratch has."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

import dbsim
from dbsim.engines.postgresql.backend import PostgreSQL
from dbsim.engines.sqlite.backend import SQLite
from dbsim.errors import DatabaseUnavailable
from dbsim.lifecycle import retire
from dbsim.sync.worker import SyncReport
from dbsim.sync.worklog import WorkLog
from tests.articles import fill, generated
from tests.integration.helpers import QUICK, add, articles, corpus, execute, fetch, near_copy, objects, sentence
from tests.oracle import assert_in_step, stored

sqlite_only = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
postgresql_only = pytest.mark.parametrize("url", ["postgresql"], indirect=True)
ONE, TWO, THREE = sentence(21), sentence(22), sentence(23)


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(3))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    return index


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that a dozen rows take several transactions."""
    for backend in (SQLite, PostgreSQL):
        monkeypatch.setattr(backend, "fill_batch", 5)
        monkeypatch.setattr(backend, "queue_batch", 3)
        monkeypatch.setattr(backend, "key_batch", 2)


# ── the application's writes ──
WRITES: dict[str, tuple[str, ...]] = {
    "insert": (f"INSERT INTO articles VALUES (100, '{ONE}')",),
    "insert several": (f"INSERT INTO articles VALUES (100, '{ONE}'), (101, '{TWO}'), (102, NULL)",),
    "insert from select": ("INSERT INTO articles SELECT id + 1000, body FROM articles",),
    "update": (f"UPDATE articles SET body = '{THREE}' WHERE id = 1",),
    "update all": ("UPDATE articles SET body = body || ' more words here now'",),
    "update to the same": ("UPDATE articles SET body = body",),
    "update to null": ("UPDATE articles SET body = NULL WHERE id < 4",),
    "update none": ("UPDATE articles SET body = 'x' WHERE id < 0",),
    "delete": ("DELETE FROM articles WHERE id = 2",),
    "delete all": ("DELETE FROM articles",),
    "move": ("UPDATE articles SET id = 500 WHERE id = 1",),
    "move all": ("UPDATE articles SET id = -id",),
    "swap": tuple(f"UPDATE articles SET id = {b} WHERE id = {a}" for a, b in ((1, 0), (2, 1), (0, 2))),
    "reuse a key": ("DELETE FROM articles WHERE id = 5", f"INSERT INTO articles VALUES (5, '{ONE}')"),
    "insert and delete": (f"INSERT INTO articles VALUES (100, '{ONE}')", "DELETE FROM articles WHERE id = 100"),
    "many changes of one row": tuple(f"UPDATE articles SET body = '{sentence(n)}' WHERE id = 1" for n in range(20)),
    "upsert": (
        f"INSERT INTO articles VALUES (1, '{ONE}'), (200, '{TWO}') ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        f"INSERT INTO articles VALUES (2, '{ONE}') ON CONFLICT (id) DO NOTHING",
    ),
}


def test_every_write_is_followed(database: dbsim.Database, index: dbsim.Index, small_batches: None) -> None:
    for kind, statements in WRITES.items():
        execute(database.engine, *statements)
        assert index.sync().compared == 0, f"{kind}: the triggers missed what comparing every row found"
        status = index.status()
        assert (status.queued, status.rows) == (0, status.indexed), kind
        found = index.check()
        assert not found, (kind, found)
        start_again(database)
        index.sync()  # what waits from here would also queue the keys that the next write must queue
    assert_in_step(database, "articles")


def start_again(database: dbsim.Database) -> None:
    execute(database.engine, "DELETE FROM articles")
    add(database.engine, corpus(3))


def test_a_rollback_leaves_nothing_to_do(database: dbsim.Database, index: dbsim.Index) -> None:
    before = stored(database, "articles")
    with database.engine.connect() as connection:
        connection.execute(text(f"INSERT INTO articles VALUES (100, '{ONE}')"))
        connection.execute(text("DELETE FROM articles WHERE id = 1"))
        connection.rollback()
        connection.execute(text(f"INSERT INTO articles VALUES (101, '{ONE}')"))
        savepoint = connection.begin_nested()
        connection.execute(text(f"INSERT INTO articles VALUES (102, '{TWO}')"))
        savepoint.rollback()
        connection.commit()
    assert index.status().queued == 1
    assert index.sync().changed == 1
    assert index.search(TWO) == []
    execute(database.engine, "DELETE FROM articles WHERE id = 101")
    index.sync()
    assert stored(database, "articles") == before


def test_a_write_that_fails_leaves_nothing_to_do(database: dbsim.Database, index: dbsim.Index) -> None:
    with database.engine.connect() as connection, pytest.raises(Exception, match=r"UNIQUE|duplicate key"):
        connection.execute(text(f"INSERT INTO articles VALUES (100, '{ONE}'), (1, '{TWO}')"))
    assert index.status().queued == 0
    assert_in_step(database, "articles")


@postgresql_only
def test_truncate_copy_and_merge(database: dbsim.Database, index: dbsim.Index) -> None:
    execute(database.engine, "TRUNCATE articles")
    assert index.status().queued == 1
    report = index.sync()
    assert (report.compared, report.repaired) == (12, 12)
    assert index.status().indexed == 0
    raw = database.engine.raw_connection()
    with raw.cursor() as cursor, cursor.copy("COPY articles FROM STDIN") as copy:
        for number in range(1, 8):
            copy.write_row((number, sentence(number)))
    raw.commit()
    raw.close()
    assert index.sync().changed == 7
    assert_in_step(database, "articles")
    execute(
        database.engine,
        "TRUNCATE articles",
        f"INSERT INTO articles VALUES (3, '{ONE}')",
        "MERGE INTO articles a USING (VALUES (3, 'updated by merge'), (4, 'inserted by merge')) AS n (id, body) "
        "ON a.id = n.id WHEN MATCHED THEN UPDATE SET body = n.body WHEN NOT MATCHED THEN INSERT VALUES (n.id, n.body)",
    )
    index.sync()
    assert index.status().indexed == 2
    assert_in_step(database, "articles")


@postgresql_only
def test_writes_as_a_replica_are_queued(database: dbsim.Database, index: dbsim.Index) -> None:
    execute(
        database.engine,
        "SET session_replication_role = replica",
        f"INSERT INTO articles VALUES (100, '{ONE}')",
        "DELETE FROM articles WHERE id = 1",
        f"UPDATE articles SET body = '{TWO}' WHERE id = 2",
        "SET session_replication_role = origin",
    )
    assert index.sync().changed == 3
    assert_in_step(database, "articles")


@sqlite_only
def test_victims_of_insert_or_replace_are_found_by_check_and_repaired(database: dbsim.Database) -> None:
    """SQLite fires no delete trigger for a row that REPLACE removes because of another UNIQUE column."""
    execute(
        database.engine,
        "CREATE TABLE articles (id INTEGER PRIMARY KEY, slug TEXT UNIQUE, body TEXT)",
        *(f"INSERT INTO articles VALUES ({n}, 's{n}', '{sentence(n)}')" for n in range(1, 6)),
    )
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    execute(
        database.engine,
        f"INSERT OR REPLACE INTO articles VALUES (1, 's1', '{sentence(11)}')",  # the same key: its trigger says so
        f"INSERT OR REPLACE INTO articles VALUES (9, 's2', '{sentence(12)}')",  # row 2 vanishes silently
        f"REPLACE INTO articles VALUES (3, 's4', '{sentence(13)}')",  # 3 is replaced, 4 vanishes
        "UPDATE OR REPLACE articles SET slug = 's5' WHERE id = 9",  # 5 vanishes
    )
    index.sync()
    assert index.check().orphaned == [(2,), (4,), (5,)]
    report = index.sync(reconcile=True)
    assert (report.compared, report.repaired) == (6, 3)
    assert_in_step(database, "articles")


# ── the first filling ──
@pytest.mark.parametrize("stop_after", [1, 4, 6])
def test_a_filling_that_was_stopped_goes_on_where_it_was(
    database: dbsim.Database, small_batches: None, stop_after: int
) -> None:
    articles(database.engine, corpus(4, singles=5))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    calls = 0

    def stop(stage: str, done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.sync(progress=stop)
    status = index.status()
    assert (status.state, status.problems) == ("filling", ("not filled yet: run `dbsim sync`",))
    assert status.indexed == min(5 * stop_after, 21)
    assert not index.search(sentence(0)).complete
    execute(
        database.engine,
        "DELETE FROM articles WHERE id IN (2, 20)",  # one that is stored by now, and one that may not be
        f"UPDATE articles SET body = '{THREE}' WHERE id IN (3, 21)",
        f"INSERT INTO articles VALUES (-1, '{ONE}'), (22, '{TWO}')",
    )
    seen: list[tuple[str, int, int]] = []
    index.sync(progress=lambda *step: seen.append(step))
    assert all(0 <= done <= total for _, done, total in seen)
    assert index.status().state == "ready"
    assert index.search(sentence(0)).complete
    assert_in_step(database, "articles")


def test_an_index_on_an_empty_table_fills_as_rows_come(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    assert index.sync().filled == 0
    assert index.status().state == "ready"
    add(database.engine, corpus(2))
    assert index.sync().changed == 8
    assert [hit.key for hit in index.similar(1)] == [2, 3, 4]
    assert_in_step(database, "articles")


def test_sync_again_has_nothing_to_do(database: dbsim.Database, index: dbsim.Index) -> None:
    before = stored(database, "articles")
    report = index.sync()
    assert (report.filled, report.changed, report.compared, report.triggers_restored) == (0, 0, 0, [])
    report = index.sync(reconcile=True)
    assert (report.compared, report.repaired) == (12, 0)
    assert stored(database, "articles") == before


# ── triggers ──
def rebuild(database: dbsim.Database) -> None:
    """As Alembic's batch mode changes a table on SQLite: the triggers go with the old table, silently."""
    execute(
        database.engine,
        "CREATE TABLE _new (id INTEGER PRIMARY KEY, body TEXT, added TEXT)",
        "INSERT INTO _new (id, body) SELECT id, body FROM articles",
        "DROP TABLE articles",
        "ALTER TABLE _new RENAME TO articles",
    )


def drop_by_hand(database: dbsim.Database) -> None:
    on = "" if database.engine.dialect.name == "sqlite" else " ON articles"
    execute(database.engine, f"DROP TRIGGER dbsim_articles_insert{on}", f"DROP TRIGGER dbsim_articles_delete{on}")


def disable(database: dbsim.Database) -> None:
    execute(database.engine, "ALTER TABLE articles DISABLE TRIGGER ALL")


def drop_function(database: dbsim.Database) -> None:
    execute(database.engine, "DROP FUNCTION dbsim_articles_changed() CASCADE")


def missing_triggers(database: dbsim.Database, index: dbsim.Index, remove: Callable[..., None], missing: int) -> None:
    """Changes made without the triggers are found once they are installed again."""
    remove(database)
    problem = f"{missing} triggers are missing, changes go unnoticed: run `dbsim sync`"
    assert index.status().problems == (problem,)
    execute(
        database.engine,
        f"INSERT INTO articles (id, body) VALUES (100, '{ONE}')",
        f"UPDATE articles SET body = '{TWO}' WHERE id = 1",
        "DELETE FROM articles WHERE id = 2",
    )
    report = index.sync()
    assert len(report.triggers_restored) == missing
    assert report.repaired >= 2
    assert index.status().problems == ()
    assert_in_step(database, "articles")
    execute(database.engine, f"UPDATE articles SET body = '{THREE}' WHERE id = 3", "DELETE FROM articles WHERE id = 4")
    assert index.sync().changed == 2
    assert_in_step(database, "articles")


def test_triggers_dropped_by_hand_are_reinstalled(database: dbsim.Database, index: dbsim.Index) -> None:
    missing_triggers(database, index, drop_by_hand, 2)


@sqlite_only
def test_triggers_lost_in_a_table_rebuild_are_reinstalled(database: dbsim.Database, index: dbsim.Index) -> None:
    missing_triggers(database, index, rebuild, 3)


@postgresql_only
@pytest.mark.parametrize("remove", [disable, drop_function])
def test_triggers_switched_off_or_without_function_are_reinstalled(
    database: dbsim.Database, index: dbsim.Index, remove: Callable[..., None]
) -> None:
    missing_triggers(database, index, remove, 5)


def test_without_triggers_the_table_stays_untouched_and_sync_compares(database: dbsim.Database) -> None:
    articles(database.engine, corpus(3))
    index = database.create_index("articles", table="articles", columns="body", triggers=False, **QUICK)
    assert [one for one in objects(database.engine) if one[0] == "trigger" or one[2].endswith("_changed")] == []
    assert index.sync().filled == 12
    assert index.status().problems == ()
    for statements in WRITES.values():
        execute(database.engine, *statements)
        assert index.status().queued == 0
        assert index.sync().compared > 0
        assert not index.check()
        start_again(database)
    index.sync()
    assert_in_step(database, "articles")


# ── following ──
def eventually(condition: Callable[[], bool]) -> bool:
    for _ in range(15000):  # a busy machine has time
        if condition():
            return True
        time.sleep(0.01)
    return False


# the lock that a sleeping worker holds, of one number, not two
SLEEPERS = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ExclusiveLock' "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


def test_a_follower_picks_changes_up_and_stops(database: dbsim.Database, index: dbsim.Index) -> None:
    """With a poll of 60 seconds only the notification can wake it on PostgreSQL; SQLite looks every 0.2 seconds."""
    stop = threading.Event()
    own = dbsim.open(database.engine.url.render_as_string(hide_password=False))
    worker = threading.Thread(target=lambda: own.index("articles").follow(stop=stop.is_set, poll=60))
    worker.start()

    def asleep() -> bool:
        if database.engine.dialect.name == "sqlite" or fetch(database.engine, "SHOW max_prepared_transactions") != [
            ("0",)
        ]:
            return True  # it looks again by itself, where transactions may be prepared too
        return fetch(database.engine, SLEEPERS) == [(1,)]

    for number in range(3):
        assert eventually(asleep)
        add(database.engine, {100 + number: sentence(50 + number)})
        assert eventually(lambda: len(index.search(sentence(50 + number))) == 1)  # noqa: B023
    assert eventually(asleep)
    stop.set()
    execute(database.engine, "DELETE FROM articles WHERE id = 100")
    worker.join(300)
    assert not worker.is_alive()
    own.close()
    assert index.status().queued in (0, 1)
    index.sync()
    assert_in_step(database, "articles")
    if database.engine.dialect.name == "postgresql":
        assert fetch(database.engine, SLEEPERS) == [(0,)]


# ── several indexes, and none ──
def test_two_indexes_on_one_table_do_not_disturb_each_other(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT, title TEXT)")
    execute(database.engine, *(f"INSERT INTO articles VALUES ({n}, '{sentence(n)}', 'title {n}')" for n in range(9)))
    before = objects(database.engine)
    bodies = database.create_index("bodies", table="articles", columns="body", **QUICK)
    bodies.sync()
    titles = database.create_index("titles", table="articles", columns="title", characters=3, **QUICK)
    assert [one.name for one in database.indexes()] == ["bodies", "titles"]
    execute(database.engine, f"UPDATE articles SET body = '{near_copy(5)}', title = 'other' WHERE id = 1")
    titles.sync()
    assert (bodies.status().queued, titles.status().queued) == (1, 0)
    assert bodies.search(near_copy(5), threshold=1) == []
    bodies.sync()
    assert bodies.search(near_copy(5), threshold=1) == [dbsim.Hit(1, 1.0)]
    assert titles.search("Other") == [dbsim.Hit(1, 1.0)]
    database.drop_index("bodies")
    execute(database.engine, "UPDATE articles SET title = 'third' WHERE id = 2")
    assert titles.sync().changed == 1
    assert_in_step(database, "titles")
    database.drop_index("titles")
    assert objects(database.engine) == before


@pytest.mark.parametrize("options", [{}, {"triggers": False}], ids=["triggers", "no triggers"])
def test_drop_leaves_nothing_behind(database: dbsim.Database, options: dict[str, Any]) -> None:
    articles(database.engine, corpus(1))
    before = objects(database.engine)
    for filled in (True, False):
        index = database.create_index("articles", table="articles", columns="body", **options, **QUICK)
        if filled:
            index.sync()
        assert objects(database.engine) != before
        database.drop_index("articles")
        assert objects(database.engine) == before
        assert fetch(database.engine, "SELECT count(*) FROM dbsim_index") == [(0,)]
        assert fetch(database.engine, "SELECT count(*) FROM dbsim_quarantine") == [(0,)]
        execute(database.engine, f"INSERT INTO articles VALUES (100, '{ONE}')", "DELETE FROM articles WHERE id = 100")


@sqlite_only
def test_a_drop_interrupted_in_the_middle_is_repaired_by_sync_or_ends_with_the_next_drop(
    database: dbsim.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large table goes bit by bit, so that no write of the application waits for it."""
    monkeypatch.setattr(retire, "FEW_ROWS", 5)
    monkeypatch.setattr(retire, "MOST_ROWS", 8)
    articles(database.engine, corpus(9))
    before = objects(database.engine)
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    execute(database.engine, f"INSERT INTO articles VALUES (1000, '{ONE}')")
    with monkeypatch.context() as patched:
        patched.setattr(retire, "_without_last", interrupted_after(2, retire._without_last))
        with pytest.raises(ZeroDivisionError):
            index.drop()
    assert 0 < fetch(database.engine, "SELECT count(*) FROM dbsim_articles")[0][0] < 9 * 10
    assert "dbsim sync" in " ".join(index.status().problems)
    index.sync()
    assert_in_step(database, "articles")
    index.drop()
    execute(database.engine, "DELETE FROM articles WHERE id = 1000")
    assert objects(database.engine) == before


def interrupted_after(times: int, work: Callable[..., Any]) -> Callable[..., Any]:
    left = times

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise ZeroDivisionError
        return work(*arguments, **options)

    return interrupted


# ── no side effects on the application ──
@postgresql_only
def test_lastval_and_rowcounts_are_the_applications_own(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE articles (id SERIAL PRIMARY KEY, body TEXT)")
    database.create_index("articles", table="articles", columns="body", **QUICK)
    with database.engine.begin() as connection:
        for number in range(1, 4):
            result = connection.execute(text(f"INSERT INTO articles (body) VALUES ('{ONE}')"))
            assert result.rowcount == 1
            assert connection.scalar(text("SELECT lastval()")) == number
        assert connection.execute(text("UPDATE articles SET body = 'x' WHERE id > 1")).rowcount == 2
        assert connection.execute(text("DELETE FROM articles")).rowcount == 3
        assert connection.scalar(text("SELECT lastval()")) == 3


@sqlite_only
def test_last_insert_rowid_and_changes_are_the_applications_own(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    with database.engine.begin() as connection:
        for number in (1, 2, 77):
            result = connection.exec_driver_sql(f"INSERT INTO articles VALUES ({number}, '{ONE}')")
            assert (result.lastrowid, result.rowcount) == (number, 1)
            assert connection.exec_driver_sql("SELECT last_insert_rowid(), changes()").one() == (number, 1)
        assert connection.exec_driver_sql("UPDATE articles SET body = 'x' WHERE id < 50").rowcount == 2
        assert connection.exec_driver_sql("SELECT last_insert_rowid(), changes()").one() == (77, 2)
        assert connection.exec_driver_sql("DELETE FROM articles").rowcount == 3
        assert connection.exec_driver_sql("SELECT last_insert_rowid(), changes()").one() == (77, 3)
    index.sync()


def test_a_follower_says_a_line_a_minute(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("dbsim.sync.worklog.time.monotonic", lambda: now)
    caplog.set_level(logging.INFO, "dbsim")
    told = WorkLog("articles")
    for _ in range(600):
        told.add(SyncReport(changed=2))
        now += 0.25
    for _ in range(100):  # then nothing happens for long
        told.add(SyncReport(idle=True))
        now += 5
    assert [record.getMessage() for record in caplog.records] == [
        "index 'articles': 2 rows in 1 runs",
        "index 'articles': 480 rows in 240 runs",
        "index 'articles': 480 rows in 240 runs",
        "index 'articles': 238 rows in 119 runs",
    ]


def test_a_follower_outlasts_a_database_that_is_away(
    database: dbsim.Database, index: dbsim.Index, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What passes by itself is waited for, however long it takes; what does not is raised."""
    backend, failures, runs = database._backend, 3, 0

    def sync(**_: object) -> SyncReport:
        nonlocal runs
        runs += 1
        if runs <= failures:
            raise DatabaseUnavailable("the server cannot be reached") from ConnectionError("away")
        return SyncReport(idle=True)

    monkeypatch.setattr(type(backend), "transient", lambda self, error: isinstance(error, ConnectionError))
    monkeypatch.setattr(index, "sync", sync)
    index.follow(stop=lambda: runs > failures, poll=0.01)
    assert caplog.messages == ["the server cannot be reached; it is tried again"] * failures
    monkeypatch.setattr(type(backend), "transient", lambda self, error: False)
    runs = 0
    with pytest.raises(DatabaseUnavailable, match="the server cannot be reached"):
        index.follow(stop=lambda: False, poll=0.01)


def test_a_sync_ends_although_the_application_never_stops_writing(database: dbsim.Database) -> None:
    """Each batch is followed by another change; what came in the meantime is the next run's."""
    index = fill(database, generated(30))
    index.duplicates()
    written = 0

    def write(stage: str, done: int, total: int) -> None:
        nonlocal written
        if stage == "changes":
            written += 1
            assert written < 20, "sync goes on as long as somebody writes"
            with database.engine.begin() as connection:
                connection.execute(text(f"UPDATE articles SET body = body || ' {written}' WHERE id = 3"))

    with database.engine.begin() as connection:
        connection.execute(text("UPDATE articles SET body = body || ' more' WHERE id < 10"))
    assert index.sync(progress=write).changed == 10
    assert index.status().queued == 1
    assert index.sync().changed == 1
    assert_in_step(database, "articles")

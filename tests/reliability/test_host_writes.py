"""Promise 5: the application's writes and migrations never fail, and hardly wait, because of dbsim."""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import create_engine, event, make_url

import dbsim
from dbsim.errors import DbsimError
from tests.oracle import assert_converged, queued
from tests.reliability.harness import Application, create_articles, create_index, sentence

ROWS = [(number, f"title {number}", sentence(number)) for number in range(1, 8)]
Fault = Callable[[Application], object]


@pytest.fixture
def app(url: str, database: dbsim.Database) -> Iterator[Application]:
    """The application's connection, older than the index, with the index in step."""
    with Application(url) as opened:
        create_articles(opened, ROWS)
        if not opened.sqlite:
            opened.execute("SET lock_timeout = '3s'")
        create_index(database).sync()
        opened.execute("UPDATE articles SET body = 'first' WHERE id = 1")  # plans and schema are cached from here on
        yield opened


@pytest.fixture
def role(new_postgres: str) -> Iterator[str]:
    """A role without any right."""
    name = f"app_{uuid.uuid4().hex[:12]}"
    with Application(new_postgres) as owner:
        owner.execute(f"CREATE ROLE {name}")
        yield name
        owner.execute(f"DROP OWNED BY {name}")
        owner.execute(f"DROP ROLE {name}")


def write_everything(app: Application, key: str = "id", table: str = "articles") -> None:
    """Each kind of write, one of many rows among them."""
    app.execute(f"INSERT INTO {table} ({key}) VALUES (101), (102), (103)")
    app.execute(f"UPDATE {table} SET {key} = {key} + 100 WHERE {key} = 103")
    app.execute(f"UPDATE {table} SET title = 'changed' WHERE {key} < 3")
    app.execute(f"INSERT INTO {table} ({key}) VALUES (1) ON CONFLICT ({key}) DO UPDATE SET title = 'upserted'")
    app.execute(f"DELETE FROM {table} WHERE {key} IN (2, 101)")


def says(verb: Callable[[], object]) -> str:
    """The one sentence dbsim raises."""
    with pytest.raises(DbsimError) as caught:
        verb()
    message = str(caught.value)
    assert "\n" not in message
    assert "psycopg" not in message
    assert "sqlite3" not in message
    return message


# ── rights ──
def test_role_without_rights_on_dbsim(new_postgres: str, role: str) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as owner, Application(new_postgres) as app:
        create_articles(owner, ROWS)
        index = create_index(database)
        index.sync()
        owner.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON articles TO {role}")
        app.execute(f"SET SESSION AUTHORIZATION {role}")
        write_everything(app)
        assert queued(index) > 0
        assert_converged(index)
        app.execute("TRUNCATE articles")
        assert_converged(index)
    database.close()


def test_functions_run_with_a_pinned_path_and_are_not_for_everybody(new_postgres: str, role: str) -> None:
    """A role cannot call the trigger function, nor put a table of its own in the queue's place."""
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as owner, Application(new_postgres) as app:
        create_articles(owner, ROWS)
        index = create_index(database)
        owner.execute(f"GRANT ALL ON articles TO {role}")
        owner.execute(f"GRANT CREATE ON SCHEMA public TO {role}")
        app.execute(f"SET SESSION AUTHORIZATION {role}")
        app.execute("CREATE TEMP TABLE dbsim_articles_queue (id integer)")
        app.execute("CREATE TEMP TABLE pg_attribute (attrelid oid)")
        write_everything(app)
        assert app.execute("SELECT count(*) FROM pg_temp.dbsim_articles_queue") == [(0,)]
        granted = app.execute("SELECT has_function_privilege('dbsim_articles_changed()', 'EXECUTE')")
        assert granted == [(False,)]
        assert_converged(index)
    database.close()


def test_sequences_of_the_application_are_left_alone(new_postgres: str) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as app:
        app.execute("CREATE TABLE articles (id SERIAL PRIMARY KEY, title TEXT, body TEXT)")
        index = create_index(database)
        app.execute("INSERT INTO articles (title) VALUES ('a'), ('b'), ('c')")
        assert app.execute("SELECT lastval()") == [(3,)]
        assert_converged(index)
    database.close()


def test_read_only_role_searches(new_postgres: str, role: str) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as owner:
        create_articles(owner, ROWS)
        expected = create_index(database)
        expected.sync()
        owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    engine = create_engine(make_url(new_postgres).set(drivername="postgresql+psycopg"))
    event.listen(engine, "connect", lambda raw, _: raw.execute(f"SET SESSION AUTHORIZATION {role}") and raw.commit())
    index = dbsim.open(engine).index("articles")
    assert index.search(sentence(3)) == expected.search(sentence(3))
    assert index.similar(3) == expected.similar(3)
    assert index.status() == expected.status()
    assert not index.check()
    with Application(new_postgres) as owner:
        owner.execute("UPDATE articles SET body = 'changed' WHERE id = 1")
    assert "connect as the owner of dbsim's tables" in says(index.sync)
    with Application(new_postgres) as owner:  # whoever may read every table may read the secret, which `status` says
        assert f"role {role} can read the secrets" in expected.status().problems[0]
        owner.execute(f"REVOKE ALL ON dbsim_index FROM {role}")
    assert_converged(expected)
    engine.dispose()
    database.close()


def test_read_only_file_is_searched(tmp_path: Any) -> None:
    path = tmp_path / "test.db"
    database = dbsim.open(path, create=True)
    database.upgrade()
    with Application(f"sqlite:///{path}") as app:
        create_articles(app, ROWS)
        expected = create_index(database)
        expected.sync()
        app.execute("UPDATE articles SET body = 'changed' WHERE id = 1")
    readonly = dbsim.open(create_engine(f"sqlite:///file:{path}?mode=ro&uri=true"))
    index = readonly.index("articles")
    assert index.search(sentence(3)) == expected.search(sentence(3))
    assert index.status() == expected.status()
    assert not index.check()
    assert "read-only" in says(index.sync)
    readonly.close()
    assert_converged(expected)
    database.close()


# ── dbsim's objects taken away ──
def drop_queue(app: Application) -> None:
    app.execute("DROP TABLE dbsim_articles_queue" + ("" if app.sqlite else " CASCADE"))  # with the views on it


def drop_signatures(app: Application) -> None:
    app.execute("DROP TABLE dbsim_articles" + ("" if app.sqlite else " CASCADE"))  # with the views on it


def drop_catalogue(app: Application) -> None:
    app.execute("DROP TABLE dbsim_index" + ("" if app.sqlite else " CASCADE"))  # with the views on it


def drop_function(app: Application) -> None:
    if not app.sqlite:
        app.execute("DROP FUNCTION dbsim_articles_changed CASCADE")


def drop_everything(app: Application) -> None:
    """In the order of a person who does not know that `dbsim drop` exists; SQLite knows no other order of triggers."""
    if app.sqlite:
        for event_ in ("insert", "update", "delete"):
            app.execute(f"DROP TRIGGER dbsim_articles_{event_}")
    for table in ("articles_queue", "articles", "index", "quarantine", "model", "document", "cardinality", "version"):
        app.execute(f"DROP TABLE dbsim_{table}" + ("" if app.sqlite else " CASCADE"))


@pytest.mark.parametrize("fault", [drop_queue, drop_signatures, drop_catalogue, drop_function, drop_everything])
def test_objects_of_dbsim_dropped(app: Application, database: dbsim.Database, fault: Fault) -> None:
    fault(app)
    if app.sqlite and fault is drop_queue:
        # SQLite has no conditional trigger: until the index is dropped the write fails, and says why
        with pytest.raises(sqlite3.OperationalError, match=r"no such table: main\.dbsim_articles_queue"):
            write_everything(app)
        database.drop_index("articles")
        app.execute("SELECT count(*) FROM articles")  # a connection reads the new schema with its next statement
    write_everything(app)
    assert app.execute("SELECT title FROM articles WHERE id = 1") == [("upserted",)]


# ── the host's own migrations ──
def rename_key(app: Application) -> None:
    app.execute("ALTER TABLE articles RENAME COLUMN id TO number")


def rename_text(app: Application) -> None:
    app.execute("ALTER TABLE articles RENAME COLUMN body TO content")


def drop_text(app: Application) -> None:
    app.execute("ALTER TABLE articles DROP COLUMN body")


def rename_table(app: Application) -> None:
    app.execute("ALTER TABLE articles RENAME TO papers")


def drop_table(app: Application) -> None:
    app.execute("DROP TABLE articles")
    app.execute("CREATE TABLE papers (id INTEGER PRIMARY KEY, title TEXT)")
    app.execute("INSERT INTO papers (id) VALUES (1), (2)")


@pytest.mark.parametrize("fault", [rename_key, rename_text, drop_text, rename_table, drop_table])
def test_host_migration_that_dbsim_cannot_follow(app: Application, database: dbsim.Database, fault: Fault) -> None:
    """The application goes on; dbsim says in one sentence what it misses, and goes once it is told."""
    index = database.index("articles")
    fault(app)
    key = "number" if fault is rename_key else "id"
    write_everything(app, key, "papers" if fault in (rename_table, drop_table) else "articles")
    missed = {rename_key: "id", rename_text: "body", drop_text: "body"}.get(fault, "articles")
    for verb in (index.sync, lambda: index.sync(reconcile=True), index.check):
        assert missed in says(verb)
    assert any("gone" in problem for problem in index.status().problems)
    database.drop_index("articles")
    assert database.indexes() == []


def add_column(app: Application) -> None:
    app.execute("ALTER TABLE articles ADD COLUMN extra TEXT DEFAULT 'x'")


def rename_there_and_back(app: Application) -> None:
    app.execute("ALTER TABLE articles RENAME COLUMN id TO number")
    write_everything(app, "number")
    app.execute("ALTER TABLE articles RENAME COLUMN number TO id")
    app.execute("DELETE FROM articles WHERE id > 100")


def rebuild(app: Application) -> None:
    """The batch migration that SQLite needs for most changes: the triggers go with the old table."""
    app.execute("CREATE TABLE copy (id INTEGER PRIMARY KEY, title TEXT, body TEXT, extra TEXT)")
    app.execute("INSERT INTO copy (id, title, body) SELECT id, title, body FROM articles WHERE id <> 4")
    app.execute("DROP TABLE articles")
    app.execute("ALTER TABLE copy RENAME TO articles")


@pytest.mark.parametrize("change", [add_column, rename_there_and_back, rebuild])
def test_host_migration_that_dbsim_follows(app: Application, database: dbsim.Database, change: Fault) -> None:
    change(app)
    write_everything(app)
    assert_converged(database.index("articles"))


def test_wider_key(new_postgres: str) -> None:
    """An integer key becomes a bigint: `sync` follows, and nothing written in between is lost."""
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as app:
        create_articles(app, ROWS)
        index = create_index(database)
        index.sync()
        app.execute("UPDATE articles SET body = 'first' WHERE id = 1")
        app.execute("ALTER TABLE articles ALTER COLUMN id TYPE bigint")
        app.execute("INSERT INTO articles VALUES (5000000000, 'large', 'key')")
        write_everything(app)
        app.execute("UPDATE articles SET title = 'changed' WHERE id = 5000000000")
        index.sync()  # which takes over the wider type
        assert_converged(index)
    database.close()


@pytest.mark.parametrize("elsewhere", [False, True], ids=["by itself", "by another session"])
def test_a_key_that_changes_under_a_session_that_has_written(new_postgres: str, elsewhere: bool) -> None:
    """What the trigger has compiled knows the key as it was: it is compiled anew, and fails for nobody."""
    changes = {
        "RENAME COLUMN id TO number": "INSERT INTO articles VALUES (901, 'a', 'b')",
        "RENAME COLUMN number TO id": "INSERT INTO articles VALUES (902, 'a', 'b')",
        "ALTER COLUMN id TYPE bigint": "INSERT INTO articles VALUES (5000000000, 'a', 'b')",
        "ALTER COLUMN id TYPE text": "INSERT INTO articles VALUES ('word', 'a', 'b')",
        "RENAME TO papers": "INSERT INTO papers VALUES ('another', 'a', 'b')",
    }
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as app, Application(new_postgres) as other:
        create_articles(app, ROWS)
        index = create_index(database)
        index.sync()
        app.execute("INSERT INTO articles VALUES (900, 'a', 'b')")
        assert index.status().queued == 1
        for number, (change, insert) in enumerate(changes.items(), 2):
            (other if elsewhere else app).execute(f"ALTER TABLE articles {change}")
            app.execute(insert)
            queued = app.execute("SELECT count(*) FROM dbsim_articles_queue")[0][0]
            assert queued == number, change  # a key, or that the whole table is to be looked at
    database.close()


# ── locks ──
def test_worker_in_mid_batch_does_not_hold_up_the_application(app: Application, url: str, database: Any) -> None:
    index = database.index("articles")
    worker = index._worker()
    app.execute("UPDATE articles SET body = 'second' WHERE id < 5")
    with ThreadPoolExecutor(1) as pool, worker.engine.connect() as connection:
        worker.backend.begin(connection)
        assert worker.step(connection) > 0
        if app.sqlite:  # one writer at a time: the application waits for as long as its busy timeout allows
            writing = pool.submit(write_everything, app)
            connection.commit()
            writing.result()
        else:
            app.execute("SET lock_timeout = '50ms'")
            write_everything(app)
            connection.commit()
    assert_converged(index)


def test_open_transaction_of_the_application_does_not_hold_up_the_worker(
    app: Application, url: str, database: dbsim.Database
) -> None:
    index = database.index("articles")
    with Application(url) as other:
        other.execute("UPDATE articles SET body = 'committed' WHERE id = 3")
        app.execute("BEGIN")
        app.execute("UPDATE articles SET body = 'not yet' WHERE id = 2")
        if app.sqlite:  # the worker waits for the write lock, and goes on when it is free
            with ThreadPoolExecutor(1) as pool:
                syncing = pool.submit(index.sync)
                app.execute("COMMIT")
                syncing.result()
        else:
            index.sync()
            index.sync(reconcile=True)
            assert not index.check()
            app.execute("COMMIT")
    assert_converged(index)


def test_creating_an_index_waits_without_blocking(new_postgres: str) -> None:
    """CREATE TRIGGER queues behind an open writer, and all others behind CREATE TRIGGER: not for long."""
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as slow, Application(new_postgres) as other, ThreadPoolExecutor(1) as pool:
        create_articles(slow, ROWS)
        other.execute("SET lock_timeout = '10s'")
        slow.execute("BEGIN")
        slow.execute("UPDATE articles SET body = 'slow' WHERE id = 1")
        creating = pool.submit(create_index, database)
        wait_for(other, "SELECT 1 FROM pg_locks WHERE relation = 'articles'::regclass AND NOT granted")
        other.execute("UPDATE articles SET body = 'meanwhile' WHERE id = 2")
        slow.execute("COMMIT")
        index = creating.result()
    assert_converged(index)
    database.close()


def wait_for(app: Application, query: str) -> None:
    while not app.execute(query):
        threading.Event().wait(0.01)

"""Around an application's migrations: table rebuilds, busy tables, schemas, two indexes, two applications."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import inspect, text

import dbsim
import dbsim.migrate
from dbsim import Field, IndexOptions
from dbsim.errors import InvalidOption
from dbsim.lifecycle.schema import operations
from tests.migration.harness import deploy, dump

pytestmark = pytest.mark.long

FIELD = Field(columns=("body",), unit="words", size=3, bits=256)


@pytest.fixture
def articles(database: dbsim.Database) -> dbsim.Database:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
        connection.execute(text("INSERT INTO articles VALUES (1, 'one two three four five')"))
    return database


# ── rebuilds ──
def rebuild(op: Operations) -> None:
    with op.batch_alter_table("articles", recreate="auto") as batch:
        batch.add_column(sa.Column("lang", sa.Text))
        batch.alter_column("body", type_=sa.String(200))


def test_a_rebuild_keeps_the_triggers(articles: dbsim.Database) -> None:
    indexes = [articles.create_index(name, table="articles", columns="body") for name in ("one", "two")]
    for index in indexes:
        index.sync()
    with articles.engine.begin() as connection:
        op = operations(connection)
        with dbsim.migrate.suspended(op, "articles"):
            rebuild(op)
    with articles.engine.begin() as connection:
        connection.execute(text("UPDATE articles SET body = 'six seven eight nine ten' WHERE id = 1"))
    for index in indexes:
        assert index.status().problems == ()
        assert index.status().queued >= 1
        index.sync()
        assert not index.check()
        assert [hit.key for hit in index.search("six seven eight nine ten")] == [1]


def test_without_suspended_sync_repairs_it(articles: dbsim.Database) -> None:
    index = articles.create_index("one", table="articles", columns="body")
    index.sync()
    with articles.engine.begin() as connection:
        rebuild(operations(connection))
        connection.execute(text("UPDATE articles SET body = 'six seven eight nine ten' WHERE id = 1"))
    index.sync()
    assert not index.check()


def test_a_lost_key_loses_the_triggers_not_the_writes(tmp_path: Path) -> None:
    """On SQLite a trigger that names a missing column would fail every write."""
    database = dbsim.open(tmp_path / "shop.db", create=True)
    database.upgrade()
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
    database.create_index("one", table="articles", columns="body").sync()
    with database.engine.begin() as connection:
        op = operations(connection)
        with dbsim.migrate.suspended(op, "articles"), op.batch_alter_table("articles") as batch:
            batch.alter_column("id", new_column_name="number")
        connection.execute(text("INSERT INTO articles VALUES (2, 'still possible')"))
        assert connection.execute(text("SELECT number FROM articles")).scalars().all() == [2]
        triggers = text("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'")
        assert connection.scalar(triggers) == 0
    database.close()


def test_a_rebuild_offline() -> None:
    out = io.StringIO()
    op = Operations(MigrationContext.configure(dialect_name="sqlite", opts={"as_sql": True, "output_buffer": out}))
    with pytest.raises(InvalidOption, match="indexes="), dbsim.migrate.suspended(op, "articles"):
        pass
    options = IndexOptions(name="articles", table="articles", fields=(FIELD,))
    with dbsim.migrate.suspended(op, "articles", indexes=[(options, {"id": "INTEGER"})]):
        op.execute("ALTER TABLE articles ADD COLUMN lang TEXT")
    script = out.getvalue()
    places = [script.index(part) for part in ("DROP TRIGGER", "ADD COLUMN", "CREATE TRIGGER", "DEFAULT VALUES")]
    assert places == sorted(places)


# ── locks ──
def test_triggers_wait_for_a_busy_table_only_briefly(new_postgres: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A long transaction holds the table while a migration wants triggers on it; the application goes on writing."""
    database = dbsim.open(new_postgres)
    database.upgrade()
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
    stalls: list[float] = []
    stop = threading.Event()

    def application() -> None:
        for number in iter(lambda: len(stalls), None):
            if stop.is_set():
                return
            start = time.perf_counter()
            with database.engine.begin() as own:
                own.execute(text("INSERT INTO articles VALUES (:id, 'a text of some words')"), {"id": number + 10})
            stalls.append(time.perf_counter() - start)
            time.sleep(0.005)

    options = IndexOptions(name="articles", table="articles", fields=(FIELD,))
    done: list[float] = []

    def migration() -> None:
        start = time.perf_counter()
        with database.engine.begin() as own:
            dbsim.migrate.create_index(operations(own), options)
        done.append(time.perf_counter() - start)

    writer, migrator = threading.Thread(target=application), threading.Thread(target=migration)
    writer.start()
    with database.engine.begin() as blocker:
        blocker.execute(text("INSERT INTO articles VALUES (1, 'not committed for a while')"))
        migrator.start()
        time.sleep(2.0)
        assert done == []
    migrator.join(timeout=300)
    time.sleep(0.1)
    stop.set()
    writer.join()
    assert len(done) == 1
    index = database.index("articles")
    index.sync()
    assert not index.check()
    with capsys.disabled():
        print(f"\nmigration {done[0]:.2f} s, {len(stalls)} writes, longest stall {max(stalls):.2f} s")
    database.close()


def test_patience_ends_with_a_remedy(new_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbsim.engines.postgresql.triggers.PATIENCE", "1s")
    monkeypatch.setattr("dbsim.engines.transactions.persistently", lambda backend, attempt, patience: attempt())
    database = dbsim.open(new_postgres)
    database.upgrade()
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
    with database.engine.begin() as blocker:
        blocker.execute(text("INSERT INTO articles VALUES (1, 'x')"))
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            database.create_index("articles", table="articles", columns="body")
    assert database.indexes() == []
    database.close()


# ── schemas, several indexes, several applications ──
def test_a_table_in_a_schema(new_postgres: str) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    with database.engine.begin() as connection:
        connection.execute(text('CREATE SCHEMA "o\'brien shop"'))
        connection.execute(text('CREATE TABLE "o\'brien shop".articles (id INTEGER PRIMARY KEY, body TEXT)'))
        options = IndexOptions(name="articles", table="articles", schema="o'brien shop", fields=(FIELD,))
        dbsim.migrate.create_index(operations(connection), options, primary_key={"id": "INTEGER"})
        connection.execute(text("INSERT INTO \"o'brien shop\".articles VALUES (1, 'one two three four')"))
    index = database.index("articles")
    index.sync()
    assert [hit.key for hit in index.search("one two three four")] == [1]
    with database.engine.begin() as connection:
        dbsim.migrate.drop_index(operations(connection), "articles")
    assert database.indexes() == []
    database.close()


def test_dbsim_tables_in_a_schema_of_their_own(new_postgres: str) -> None:
    """Where the search path says; the triggers find them from every other path."""
    with_path = f"{new_postgres}&options=-csearch_path%3D%22it%27s%22%2Cpublic"
    database = dbsim.open(with_path)
    with database.engine.begin() as connection:
        connection.execute(text('CREATE SCHEMA "it\'s"'))
        connection.execute(text("CREATE TABLE public.articles (id INTEGER PRIMARY KEY, body TEXT)"))
    database.upgrade()
    index = database.create_index("articles", table="articles", columns="body")
    plain = dbsim.open(new_postgres)
    with plain.engine.begin() as connection:
        connection.execute(text("INSERT INTO articles VALUES (1, 'one two three four')"))
    assert index.sync().filled == 1
    with plain.engine.begin() as connection:
        connection.execute(text("UPDATE articles SET body = 'five six seven eight'"))
    assert index.sync().changed == 1
    assert not index.check()
    plain.close()
    database.close()


@pytest.fixture
def two(articles: dbsim.Database) -> Callable[[str], None]:
    """The migrations of two applications that do not know of each other."""

    def migrate(name: str) -> None:
        with articles.engine.begin() as connection:
            op = operations(connection)
            dbsim.migrate.upgrade(op, to="0003")
            options = IndexOptions(name=name, table="articles", fields=(FIELD,))
            dbsim.migrate.create_index(op, options, primary_key={"id": "INTEGER"})

    return migrate


def test_two_applications_in_one_database(articles: dbsim.Database, two: Callable[[str], None]) -> None:
    two("blog")
    two("shop")
    for index in articles.indexes():
        index.sync()
        assert not index.check()
    with articles.engine.begin() as connection:
        op = operations(connection)
        dbsim.migrate.drop_index(op, "blog")
        dbsim.migrate.downgrade(op, to="base")  # the other one's index keeps the tables
    assert [index.name for index in articles.indexes()] == ["shop"]
    assert [hit.key for hit in articles.index("shop").search("one two three four five")] == [1]
    with articles.engine.begin() as connection:
        op = operations(connection)
        dbsim.migrate.drop_index(op, "shop")
        dbsim.migrate.drop_index(op, "shop")  # once more does nothing
        dbsim.migrate.downgrade(op, to="base")
        dbsim.migrate.drop_index(op, "shop")
    assert inspect(articles.engine).get_table_names() == ["articles"]


def test_up_down_up_with_data(url: str) -> None:
    deploy(url)
    database = dbsim.open(url)
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO articles (id, lang, title, body) VALUES (1, 'en', 'a b c', 'd e f')"))
    database.index("articles").sync()
    first = dump(url)
    deploy(url, "down release_1")
    deploy(url)
    assert database.index("articles").status().problems != ()  # says that it is to be filled
    database.index("articles").sync()
    assert not database.index("articles").check()
    assert dump(url) == first
    database.close()

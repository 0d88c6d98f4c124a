"""The application's own Engine, however it is set up: dbsim works with it and leaves it as it was."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event, select, text
from sqlalchemy.pool import NullPool, QueuePool, StaticPool

import dbsim
from dbsim.errors import DbsimError
from tests.integration.helpers import QUICK, add, articles, corpus, execute, fetch, near_copy, objects, sentence
from tests.oracle import assert_in_step


def live(engine: Engine) -> None:
    """Everything an index does, through one engine."""
    before = objects(engine)
    database = dbsim.open(engine)
    database.upgrade()
    articles(engine, corpus(3))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    assert index.sync().filled == 12
    assert [hit.key for hit in index.similar(1)] == [2, 3, 4]
    add(engine, {100: sentence(0), 101: sentence(7)})
    assert [hit.key for hit in index.similar(100)] == [1, 2, 3, 4]  # not indexed yet
    with engine.begin() as connection:
        connection.execute(text("UPDATE articles SET body = :body WHERE id = 5"), {"body": near_copy(7)})
        connection.execute(text("DELETE FROM articles WHERE id = 2"))
    assert index.sync().changed == 4
    assert [hit.key for hit in index.search(sentence(0), where="id < 50")] == [1, 3, 4]
    assert [hit.key for hit in index.search_many([sentence(7)])[0]] == [101, 5]
    with engine.connect() as connection:
        match = index.match(sentence(7), limit=1)
        assert connection.execute(select(match.c.id)).scalars().all() == [101]
    assert index.texts([101, 2]) == [sentence(7), None]
    assert index.sync(reconcile=True).repaired == 0
    assert index.status().problems == ()
    assert index.check(sample=5, repair=True).repaired == 0
    assert_in_step(database, "articles")
    database.drop_index("articles")
    execute(engine, "DROP TABLE articles")
    database.downgrade()
    assert objects(engine) == before


def one_transaction(engine: Engine, row: str) -> None:
    """The application's transactions still are some: written, searched, rolled back."""
    database = dbsim.open(engine)
    database.upgrade()
    articles(engine, corpus(1))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    with engine.connect() as connection:
        connection.execute(text(row))
        index._worker().step(connection)
        assert len(index.search(sentence(0), connection=connection)) == 5
        connection.rollback()
    assert fetch(engine, "SELECT count(*) FROM articles") == [(4,)]
    assert len(index.search(sentence(0))) == 4
    with engine.begin() as connection:
        connection.execute(text(row))
    index.sync()
    assert len(index.search(sentence(0))) == 5
    assert_in_step(database, "articles")


NEW_ROW = f"INSERT INTO articles VALUES (100, '{sentence(0)}')"


# ── SQLite ──
def begin_recipe(url: str) -> Engine:
    """From SQLAlchemy's documentation: transactions that begin when the application begins them."""
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def no_implicit_begin(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def write_ahead(url: str) -> Engine:
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def journal(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")

    return engine


SQLITE_ENGINES = {
    "begin recipe": begin_recipe,
    "write-ahead log": write_ahead,
    "no pool": lambda url: create_engine(url, poolclass=NullPool),
    "one connection": lambda url: create_engine(url, poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=5),
    "autocommit": lambda url: create_engine(url, isolation_level="AUTOCOMMIT"),
    "serializable": lambda url: create_engine(url, isolation_level="SERIALIZABLE"),
    "in memory": lambda url: create_engine("sqlite://"),
    "in memory, one for all threads": lambda url: create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    ),
    "rows as dictionaries": lambda url: create_engine(url, connect_args={"factory": RowConnection}),
}


class RowConnection(sqlite3.Connection):
    """An application that changed what its driver returns."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.row_factory = sqlite3.Row


@pytest.mark.parametrize("kind", SQLITE_ENGINES)
def test_an_index_lives_in_every_kind_of_sqlite_engine(tmp_path: Path, kind: str) -> None:
    engine = SQLITE_ENGINES[kind](f"sqlite:///{tmp_path / 'app.db'}")
    live(engine)
    if kind != "autocommit":
        one_transaction(engine, NEW_ROW)
    engine.dispose()


def test_the_begin_recipe_still_holds_after_dbsim_used_the_connections(tmp_path: Path) -> None:
    engine = begin_recipe(f"sqlite:///{tmp_path / 'app.db'}")
    one_transaction(engine, NEW_ROW)
    with engine.connect() as connection:
        raw = connection.connection.dbapi_connection
        assert isinstance(raw, sqlite3.Connection)
        assert raw.isolation_level is None
        assert not raw.in_transaction
        connection.execute(text("SELECT 1"))
        assert raw.in_transaction  # a read begins a transaction: that is what the recipe is for
    engine.dispose()


# ── PostgreSQL ──
POSTGRESQL_ENGINES: dict[str, dict[str, Any]] = {
    "serializable": {"isolation_level": "SERIALIZABLE"},
    "repeatable read": {"isolation_level": "REPEATABLE READ"},
    "autocommit": {"isolation_level": "AUTOCOMMIT"},
    "no pool": {"poolclass": NullPool},
    "one connection": {"pool_size": 1, "max_overflow": 0, "pool_timeout": 5},
    "no prepared statements": {"connect_args": {"prepare_threshold": None}},
    "own search path": {"connect_args": {"options": "-c search_path=app,public"}},
    "odd settings": {
        "connect_args": {
            "options": "-c DateStyle=German -c IntervalStyle=sql_standard -c TimeZone=Asia/Kathmandu "
            "-c extra_float_digits=-3 -c bytea_output=escape -c enable_seqscan=off"
        }
    },
}


@pytest.mark.parametrize("kind", POSTGRESQL_ENGINES)
def test_an_index_lives_in_every_kind_of_postgresql_engine(new_postgres: str, kind: str) -> None:
    plain = create_engine(new_postgres.replace("postgresql:", "postgresql+psycopg:"))
    execute(plain, "CREATE SCHEMA app")
    plain.dispose()
    engine = create_engine(new_postgres.replace("postgresql:", "postgresql+psycopg:"), **POSTGRESQL_ENGINES[kind])
    live(engine)
    if not kind.startswith("autocommit"):
        one_transaction(engine, NEW_ROW)
    engine.dispose()


def test_tables_are_made_where_the_search_path_says(new_postgres: str) -> None:
    """Two applications in two schemas of one database, each with its own dbsim and an index of the same name."""
    engines = []
    for schema in ("one", "two"):
        url = new_postgres.replace("postgresql:", "postgresql+psycopg:")
        engine = create_engine(url, connect_args={"options": f"-c search_path={schema}"})
        execute(engine, f"CREATE SCHEMA {schema}")
        database = dbsim.open(engine)
        database.upgrade()
        articles(engine, corpus(1) if schema == "one" else {1: sentence(9)})
        database.create_index("articles", table="articles", columns="body", **QUICK).sync()
        engines.append(engine)
    one, two = (dbsim.open(engine).index("articles") for engine in engines)
    assert (one.options.schema, two.options.schema) == ("one", "two")
    execute(engines[1], f"INSERT INTO articles VALUES (2, '{near_copy(9)}')")
    assert (one.status().queued, two.status().queued) == (0, 1)
    two.sync()
    assert [hit.key for hit in one.search(sentence(0))] == [1, 2, 3, 4]
    assert [hit.key for hit in two.search(sentence(9))] == [1, 2]
    # somebody whose search path knows neither schema writes: the trigger finds its queue all the same
    stranger = create_engine(new_postgres.replace("postgresql:", "postgresql+psycopg:"))
    execute(stranger, "DELETE FROM one.articles WHERE id = 2", "DELETE FROM two.articles")
    assert (one.sync().changed, two.sync().changed) == (1, 2)
    dbsim.open(engines[0]).drop_index("articles")
    assert two.status().problems == ()
    for engine in (*engines, stranger):
        engine.dispose()


# ── either ──
def test_opening_an_engine_again_adds_nothing_to_it(url: str) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    for _ in range(5):
        dbsim.open(engine)
    assert len(list(engine.dispatch.engine_connect)) == 1
    engine.dispose()


def test_a_session_that_was_open_before_dbsim_can_search(url: str) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        database = dbsim.open(engine)
        connection.rollback()
        database.upgrade()
        articles(engine, corpus(1))
        index = database.create_index("articles", table="articles", columns="body", **QUICK)
        index.sync()
        assert len(index.search(sentence(0), connection=connection)) == 4
    engine.dispose()


def test_other_databases_and_drivers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = create_engine("postgresql+psycopg://u@h/d")
    monkeypatch.setattr(engine.dialect, "driver", "pg8000")
    with pytest.raises(
        DbsimError, match=r"drivers psycopg, .*, not with pg8000: .* create_engine\('postgresql\+psycopg:"
    ):
        dbsim.open(engine)
    monkeypatch.setattr(engine.dialect, "name", "mysql")
    with pytest.raises(DbsimError, match="dbsim works on SQLite and PostgreSQL, not on mysql"):
        dbsim.open(engine)
    with pytest.raises(DbsimError, match="open takes a URL, a SQLite path or a SQLAlchemy Engine, not NoneType"):
        dbsim.open(None)  # type: ignore[arg-type]

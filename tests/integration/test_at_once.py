"""The usual search on a connection of the pool: what it finds, who hears of it, and what it leaves behind."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import OperationalError

import dbsim
from tests.integration.helpers import QUICK, articles, execute, sentence

ROWS = 60
QUESTIONS = [sentence(3), sentence(7), f"{sentence(11, 28)} changed here", "nothing like them at all"]


@pytest.fixture
def idx(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, {number: sentence(number) for number in range(ROWS)})
    found = database.create_index("articles", table="articles", columns=["body"], threshold=0.5, **QUICK)
    found.sync()
    for question in QUESTIONS:
        found.search(question)
    return found


@contextmanager
def heard(engine: Engine, name: str = "before_cursor_execute") -> Iterator[list[Any]]:
    calls: list[Any] = []

    def note(*arguments: Any) -> None:
        calls.append(arguments)

    event.listen(engine, name, note)
    yield calls
    event.remove(engine, name, note)


@contextmanager
def no_connection(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SQLAlchemy's Connection is not to be had."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a search took a Connection")

    with monkeypatch.context() as patched:
        patched.setattr(engine, "connect", refused)
        yield


def everything(found: dbsim.Results) -> tuple[Any, ...]:
    hits = [(hit.key, hit.score, hit.exact, hit.stale) for hit in found]
    return hits, found.closest, found.candidates, found.cut, found.complete, found.warnings


def asked(idx: dbsim.Index) -> list[Any]:
    return [
        everything(idx.search(question, limit=limit, threshold=threshold))
        for question in QUESTIONS
        for limit in (1, 10)
        for threshold in (None, 0.2, 0.95)
    ]


def test_a_search_known_from_before_takes_no_connection_object(
    database: dbsim.Database, idx: dbsim.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    with no_connection(database.engine, monkeypatch):
        assert [hit.key for hit in idx.search(QUESTIONS[0])] == [3]


def test_it_finds_what_a_search_that_is_heard_finds(database: dbsim.Database, idx: dbsim.Index) -> None:
    execute(
        database.engine,
        "DELETE FROM articles WHERE id = 7",
        "UPDATE articles SET body = 'other words than before' WHERE id = 11",
    )
    alone = asked(idx)
    with heard(database.engine) as statements:
        assert asked(idx) == alone
    assert len(statements) >= len(alone)


@pytest.mark.parametrize("name", ["before_cursor_execute", "after_cursor_execute", "engine_connect", "begin"])
def test_listeners_hear_of_it_at_once(database: dbsim.Database, idx: dbsim.Index, name: str) -> None:
    idx.search(QUESTIONS[0])
    with heard(database.engine, name) as calls:
        idx.search(QUESTIONS[0])
    assert calls


def test_the_log_has_it(database: dbsim.Database, idx: dbsim.Index, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "sqlalchemy.engine"):
        idx.search(QUESTIONS[0])
    assert "FROM dbsim_articles" in caplog.text


def test_it_leaves_the_connection_as_it_was(database: dbsim.Database, idx: dbsim.Index) -> None:
    def state() -> tuple[Any, ...]:
        with database.engine.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            return id(raw), getattr(raw, "autocommit", None), getattr(raw, "in_transaction", None)

    before = state()
    idx.search(QUESTIONS[0])
    assert state() == before
    assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_what_goes_wrong_is_said_as_ever(database: dbsim.Database, idx: dbsim.Index) -> None:
    execute(database.engine, "ALTER TABLE articles RENAME TO elsewhere")
    with pytest.raises(dbsim.DbsimError, match="articles"):
        idx.search(QUESTIONS[0])
    execute(database.engine, "ALTER TABLE elsewhere RENAME TO articles")
    assert [hit.key for hit in idx.search(QUESTIONS[0])] == [3]


@contextmanager
def cut_short(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """No statement gets to its end: the server's limit on PostgreSQL, an interruption on SQLite; what is sent."""
    sent: list[str] = []
    pooled = engine.raw_connection()
    raw: Any = pooled.dbapi_connection
    pooled.close()
    if engine.dialect.name == "sqlite":
        raw.set_trace_callback(sent.append)
        raw.set_progress_handler(lambda: 1, 1)
        yield sent
        raw.set_progress_handler(None, 0)
        raw.set_trace_callback(None)
        return
    execute_ = psycopg.Cursor.execute

    def execute(self: Any, query: Any, *given: Any, **named: Any) -> Any:
        sent.append(str(query))
        return execute_(self, query, *given, **named)

    limit = "SET statement_timeout = {}"
    elsewhere = create_engine(engine.url)
    with elsewhere.connect() as other, monkeypatch.context() as patched:
        other.exec_driver_sql("LOCK TABLE articles")
        raw.execute(limit.format(200))
        raw.commit()
        patched.setattr(psycopg.Cursor, "execute", execute)
        yield sent
        patched.undo()
        raw.execute(limit.format(0))
        raw.commit()
    elsewhere.dispose()


def test_what_took_too_long_is_not_sent_again(
    database: dbsim.Database, idx: dbsim.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is the one that SQLAlchemy tells of any statement, the driver's behind it."""
    with cut_short(database.engine, monkeypatch) as sent:
        with pytest.raises(OperationalError, match=r"interrupted|statement timeout") as told:
            idx.search(QUESTIONS[0])
        assert sum("FROM dbsim_articles" in statement for statement in sent) == 1, sent
    assert told.value.orig is told.value.__cause__
    assert "FROM dbsim_articles" in str(told.value.statement)
    assert [hit.key for hit in idx.search(QUESTIONS[0])] == [3]


def test_a_lost_connection_is_replaced(database: dbsim.Database, idx: dbsim.Index) -> None:
    pooled = database.engine.raw_connection()
    raw: Any = pooled.dbapi_connection
    pooled.close()
    raw.close()
    assert [hit.key for hit in idx.search(QUESTIONS[0])] == [3]


def test_in_an_open_transaction_of_a_caller_it_is_asked_there(database: dbsim.Database, idx: dbsim.Index) -> None:
    with database.engine.connect() as connection:
        connection.exec_driver_sql("DELETE FROM articles WHERE id = 3")
        assert [hit.key for hit in idx.search(QUESTIONS[0], connection=connection)] == []
        connection.rollback()
    assert [hit.key for hit in idx.search(QUESTIONS[0])] == [3]

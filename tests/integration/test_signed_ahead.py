"""A filling on SQLite signs many rows, then stores them in short transactions; what changes meanwhile is seen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import NullPool, create_engine, event

import dbsim
from dbsim.engines import pause
from dbsim.index import Index
from dbsim.sync.filling import ahead
from tests.integration.helpers import QUICK, articles, execute, fetch, sentence
from tests.oracle import assert_converged, assert_equal_to_scratch

ROWS, BATCH = 130, 10
BUSY = sqlite3.OperationalError("database is locked")
BUSY.sqlite_errorcode = sqlite3.SQLITE_BUSY


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dbsim.Database]:
    """A table to be filled in transactions of ten rows, forty signed at once."""
    monkeypatch.setattr(pause.Pace, "learn", lambda *_: None)
    monkeypatch.setattr(pause.Pace, "__post_init__", lambda self: setattr(self, "size", BATCH))
    monkeypatch.setattr(ahead, "MOST_AHEAD", 4 * BATCH)
    with dbsim.open(tmp_path / "a.db", create=True) as opened:
        opened.upgrade()
        articles(opened.engine, {key: sentence(key) for key in range(1, ROWS + 1)})
        yield opened


def new(database: dbsim.Database) -> Index:
    return database.create_index("articles", table="articles", columns=["body"], **QUICK)


def statements(database: dbsim.Database) -> list[str]:
    """What is sent while rows are stored."""
    seen: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *sent: seen.append(sent[2]))
    return seen


@contextmanager
def meanwhile(work: Callable[[int], Any]) -> Iterator[None]:
    """`work` by somebody else before each transaction of a filling, with its number."""
    kept, numbers = ahead.Ahead.store, count()

    def store(self: ahead.Ahead) -> tuple[int, bool]:
        work(next(numbers))
        return kept(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead.Ahead, "store", store)
        yield


def test_rows_are_read_once_when_nobody_writes(database: dbsim.Database) -> None:
    index = new(database)
    seen = statements(database)
    index.sync()
    read = [one for one in seen if "dbsim_0" in one and "FROM articles" in one]
    stored = [one for one in seen if one.startswith('INSERT INTO "dbsim_articles"')]
    assert len(stored) == ROWS // BATCH
    assert len(read) < len(stored)  # forty rows at once
    assert_equal_to_scratch(index)
    assert_converged(index)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE articles SET body = 'another text of this row {n}' WHERE id = {n} * 10 + 15",
        "DELETE FROM articles WHERE id = {n} * 10 + 12",
        "INSERT INTO articles VALUES (1000 + {n}, 'a text that was added at the end {n}')",
        "INSERT OR REPLACE INTO articles VALUES (-{n}, 'a text before all others {n}')",
    ],
)
def test_what_changes_between_signing_and_storing(database: dbsim.Database, change: str, own: bool) -> None:
    """By another connection, or by an application that shares the pool of connections."""
    other = database.engine if own else create_engine(database.engine.url, poolclass=NullPool)
    index = new(database)
    with meanwhile(lambda n: execute(other, change.format(n=n)) if n % 3 == 1 else None):
        index.sync()
    assert_converged(index)


def test_what_another_process_has_worked_off_is_seen(database: dbsim.Database) -> None:
    """It leaves rows that are not reached yet to the filling, and empties the queue: nobody looks at them again."""
    index = new(database)
    with dbsim.open(create_engine(database.engine.url, poolclass=NullPool)) as other:
        worker = other.index("articles")._worker()

        def change(n: int) -> None:
            execute(other.engine, f"UPDATE articles SET body = 'another text of this row {n}' WHERE id = {n} * 10 + 15")
            worker.batch()

        with meanwhile(change):
            index.sync()
    assert_converged(index)


def test_a_change_of_the_table_between_signing_and_storing(database: dbsim.Database) -> None:
    def migrate(n: int) -> None:
        if n == 2:
            execute(database.engine, "ALTER TABLE articles ADD COLUMN more TEXT")
            execute(database.engine, "UPDATE articles SET body = body || ' and more' WHERE id % 7 = 0")

    index = new(database)
    with meanwhile(migrate):
        index.sync()
    assert_converged(index)


def test_a_transaction_that_was_rolled_back_loses_no_row(database: dbsim.Database) -> None:
    """What it had stored counts as written, so that the next attempt reads again."""
    kept, numbers = ahead.Ahead._write, count()

    def fails(self: ahead.Ahead, connection: Any, size: int) -> Any:
        done = kept(self, connection, size)
        if next(numbers) in (2, 5, 6):
            raise BUSY
        return done

    index = new(database)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead.Ahead, "_write", fails)
        index.sync()
    assert next(numbers) >= ROWS // BATCH + 3
    assert [row[0] for row in fetch(database.engine, "SELECT id FROM dbsim_articles ORDER BY id")] == [
        *range(1, ROWS + 1)
    ]
    assert_converged(index)

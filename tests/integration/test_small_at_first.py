"""SQLite: an index made on a few rows is searched by its keys when there are many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import dbsim
from dbsim.engines import views
from dbsim.engines.sqlite import storage
from tests.conftest import SECRET
from tests.integration.helpers import execute, sentence


def made(path: Path, rows: int) -> None:
    with dbsim.open(str(path), create=True) as database:
        database.upgrade()
        execute(database.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
        for key in range(rows):
            execute(database.engine, f"INSERT INTO articles VALUES ({key}, '{sentence(key)}')")
        database.create_index("articles", table="articles", columns=["body"], secret=SECRET).sync()


def assert_found_by_keys(path: Path) -> None:
    with dbsim.open(str(path)) as database:  # statistics are read with the schema
        asked: list[tuple[str, Any]] = []
        event.listen(database.engine, "before_cursor_execute", lambda *given: asked.append((given[2], given[3])))
        assert database.index("articles").search(sentence(1))
        sql, values = next((sql, values) for sql, values in asked if "candidates" in sql)
        with database.engine.connect() as connection:
            plan = [row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert "SCAN dbsim_articles" not in plan
    assert [line for line in plan if line.startswith("SEARCH dbsim_articles USING INDEX dbsim_articles_k0")]


def test_what_was_true_of_three_rows_is_not_believed_of_all(tmp_path: Path) -> None:
    """With statistics of three rows the planner reads the whole table, however large it has become."""
    made(tmp_path / "small.db", 3)
    assert_found_by_keys(tmp_path / "small.db")


def test_statistics_of_an_earlier_dbsim_are_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which made them whatever the number of rows; the first `sync` of this one makes everything anew."""
    with monkeypatch.context() as earlier:
        earlier.setattr(views, "MARK", f"dbsim revision {views.REVISION - 1}")
        earlier.setattr(storage, "TELLING", 0)
        made(tmp_path / "small.db", 3)
    with pytest.raises(AssertionError):
        assert_found_by_keys(tmp_path / "small.db")
    with dbsim.open(str(tmp_path / "small.db")) as database:
        database.index("articles").sync()
    assert_found_by_keys(tmp_path / "small.db")

"""Promise 15: deleting a row removes every derived trace from the files of the database."""

from __future__ import annotations

from pathlib import Path

import pytest

import dbsim
from dbsim.index import Index
from tests.oracle import assert_converged, dump
from tests.reliability.harness import Application, create_index, sentence

pytestmark = pytest.mark.long

GONE = 4242
TEXT = "unmistakable sesquipedalian words that stand in no other row of this table"


def fill(app: Application) -> None:
    app.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
    for number in range(200):
        app.execute("INSERT INTO articles VALUES (?, ?, ?)", number, f"title {number}", sentence(number))
    app.execute("INSERT INTO articles VALUES (?, ?, ?)", GONE, "a singular title", TEXT)


def traces_of(index: Index) -> list[bytes]:
    """The fingerprint and bucket keys of the row as both engines store them, and its filters."""
    (row,) = [row for row in dump(index).signatures if row[0] == (GONE,)]
    numbers = row[1 : 2 + index.options.keys]
    found = [value.to_bytes(8, order, signed=True) for value in numbers for order in ("big", "little")]
    found += [value for value in row[2 + index.options.keys :] if isinstance(value, bytes)]
    return [*found, TEXT.encode(), b"singular title"]


DELETES = {
    "delete": ("DELETE FROM articles WHERE id = 4242",),
    "key moved": ("UPDATE articles SET id = 5000 WHERE id = 4242", "DELETE FROM articles WHERE id = 5000"),
    "text changed": ("UPDATE articles SET title = NULL, body = 'another text' WHERE id = 4242",),
    "text removed": ("UPDATE articles SET title = NULL, body = NULL WHERE id = 4242",),
    "all": ("DELETE FROM articles",),
}


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("path", DELETES)
def test_no_trace_in_a_sqlite_file(tmp_path: Path, path: str, journal: str) -> None:
    file = tmp_path / "test.db"
    database = dbsim.open(file, create=True)
    database.upgrade()
    with Application(f"sqlite:///{file}") as app:
        app.execute(f"PRAGMA journal_mode = {journal}")
        fill(app)
        index = create_index(database)
        assert_converged(index)
        traces = traces_of(index)
        app.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert sum(trace in file.read_bytes() for trace in traces) > 4  # so the search would find them
        for statement in DELETES[path]:
            app.execute(statement)
        assert_converged(index)
        database.engine.dispose()
        app.execute("VACUUM")
        app.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for left in tmp_path.iterdir():
            content = left.read_bytes()
            assert [trace for trace in traces if trace in content] == []
    database.close()


def test_quarantine_forgets(tmp_path: Path) -> None:
    file = tmp_path / "test.db"
    database = dbsim.open(file, create=True)
    database.upgrade()
    with Application(f"sqlite:///{file}") as app:
        app.execute("CREATE TABLE articles (id TEXT PRIMARY KEY, title TEXT, body TEXT)")
        app.execute("INSERT INTO articles VALUES ('a telltale key', 'title', x'00ff')")
        index = create_index(database)
        index.sync()
        assert len(dump(index).quarantine) == 1
        app.execute("DELETE FROM articles")
        assert_converged(index)
        assert dump(index).quarantine == ()
        app.execute("VACUUM")
        assert b"telltale" not in file.read_bytes()
    database.close()


@pytest.mark.parametrize("path", DELETES)
def test_no_trace_in_the_relations_of_dbsim(new_postgres: str, path: str) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    with Application(new_postgres) as app:
        fill(app)
        index = create_index(database)
        assert_converged(index)
        traces = traces_of(index)
        app.execute("CHECKPOINT")
        assert sum(any(trace in content for content in relations(app)) for trace in traces) > 4
        for statement in DELETES[path]:
            app.execute(statement)
        assert_converged(index)
        app.execute("VACUUM (FULL, ANALYZE) dbsim_articles, dbsim_articles_queue, dbsim_quarantine")
        app.execute("CHECKPOINT")
        for content in relations(app):
            assert [trace for trace in traces if trace in content] == []
        if path != "all":  # the planner's statistics copy some values; PostgreSQL keeps those of an emptied table
            seen = str(app.execute("SELECT histogram_bounds::text, most_common_vals::text FROM pg_stats"))
            assert [number for number in numbers_of(traces) if str(number) in seen] == []
    database.close()


def numbers_of(traces: list[bytes]) -> list[int]:
    return [int.from_bytes(trace, "big", signed=True) for trace in traces[::2] if len(trace) == 8]


def relations(app: Application) -> list[bytes]:
    """The files of dbsim's tables and of their indexes."""
    found = app.execute(
        "SELECT pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class "
        "WHERE relname LIKE 'dbsim\\_%' AND relkind IN ('r', 'i')"
    )
    return [content for (content,) in found]

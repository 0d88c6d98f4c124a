"""`sync(workers=N)`: the same table as one process makes, any key, killed anywhere, while the application writes."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

import dbsim
from dbsim.sync.filling import crowd
from tests.conftest import SECRET
from tests.integration.helpers import QUICK, execute, fetch, sentence
from tests.oracle import assert_in_step, stored

pytestmark = pytest.mark.long

ROWS = 1200


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that some hundred rows are many transactions; processes of the crew keep the usual size."""
    monkeypatch.setattr("dbsim.engines.sqlite.backend.SQLite.fill_batch", 100)
    monkeypatch.setattr("dbsim.engines.postgresql.backend.PostgreSQL.fill_batch", 100)


def create(database: dbsim.Database, key: str, keys: list[tuple[Any, ...]]) -> dbsim.Index:
    columns = [part.split()[0] for part in key.split(", ")]
    execute(database.engine, f"CREATE TABLE t ({key}, body TEXT, PRIMARY KEY ({', '.join(columns)}))")
    places = ", ".join(f":k{number}" for number in range(len(columns)))
    rows = [
        {"body": sentence(seed), **{f"k{number}": value for number, value in enumerate(some)}}
        for seed, some in enumerate(keys)
    ]
    with database.engine.begin() as connection:
        connection.execute(text(f"INSERT INTO t VALUES ({places}, :body)"), rows)
    return database.create_index("t", table="t", columns="body", words=3, bits=256, **QUICK)


NUMBERS: list[tuple[Any, ...]] = [(number * 7 - 2000,) for number in range(ROWS)]
KEYS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "number": ("id INTEGER", NUMBERS),
    "text": ("id VARCHAR(40)", [(f"{'Ää b'[number % 4]}-{number}",) for number in range(ROWS)]),
    "two": ("a INTEGER, b VARCHAR(9)", [(number % 9, f"x{number}") for number in range(ROWS)]),
}


@pytest.mark.parametrize("kind", KEYS)
def test_the_same_table_as_one_process_makes(database: dbsim.Database, kind: str) -> None:
    index = create(database, *KEYS[kind])
    seen: list[tuple[str, int, int]] = []
    report = index.sync(workers=2, progress=lambda *step: seen.append(step))
    assert (report.filled, index.status().state, index.status().indexed) == (ROWS, "ready", ROWS)
    assert seen[-1][0] == "building indexes"
    assert_in_step(database, "t")
    tables = index._tables
    assert not database._context.backend.has_table(database.engine.connect(), "dbsim_t_parts")
    assert len(fetch(database.engine, f"SELECT * FROM {tables.signatures.name}")) == ROWS


def test_uuid_keys_and_odd_rows(database: dbsim.Database) -> None:
    kind = "uuid" if database.engine.dialect.name == "postgresql" else "CHAR(36)"
    rng = random.Random(5)
    keys = [(str(uuid.UUID(int=rng.getrandbits(128))),) for _ in range(300)]
    index = create(database, f"id {kind}", keys)
    execute(database.engine, "UPDATE t SET body = NULL WHERE id IN (SELECT id FROM t ORDER BY id LIMIT 7)")
    assert index.sync(workers=3).filled == 300
    assert_in_step(database, "t")


def test_an_empty_table_and_fewer_rows_than_parts(database: dbsim.Database) -> None:
    index = create(database, "id INTEGER", [(1,)])
    execute(database.engine, "DELETE FROM t")
    assert index.sync(workers=2).filled == 0
    database.drop_index("t")
    execute(database.engine, "INSERT INTO t VALUES (1, 'one small text here'), (2, 'two small texts there')")
    index = database.create_index("t", table="t", columns="body", words=3, bits=256, **QUICK)
    assert index.sync(workers=3).filled == 2
    assert_in_step(database, "t")


def test_a_table_that_changes_meanwhile(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inserts, updates and deletes all over the key's range while two processes fill."""
    monkeypatch.setattr(crowd, "ROUND", 0.05)
    index = create(database, "id INTEGER", NUMBERS)
    stop = threading.Event()

    def write() -> None:
        rng = random.Random(1)
        for _ in range(150):  # `sync` ends when the queue is empty, so the application must rest some time
            key = rng.randrange(-2100, 8 * ROWS)
            with database.engine.begin() as connection:
                values = {"id": key, "body": sentence(rng.randrange(10**6))}
                found = connection.execute(text("DELETE FROM t WHERE id = :id"), values).rowcount
                if not found or rng.random() < 0.6:
                    connection.execute(text("INSERT INTO t VALUES (:id, :body)"), values)
            stop.wait(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        index.sync(workers=2)
    finally:
        stop.set()
        writer.join()
    index.sync()
    assert_in_step(database, "t")


def test_a_filling_begun_by_one_is_finished_by_several_and_the_other_way_round(
    database: dbsim.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = create(database, "id INTEGER", NUMBERS)

    class Stop(Exception):
        pass

    def stop(stage: str, done: int, total: int) -> None:
        if done > 250:
            raise Stop

    with pytest.raises(Stop):
        index.sync(progress=stop)
    assert 250 < index.status().indexed < ROWS
    monkeypatch.setattr(crowd, "ROUND", 0.01)
    with pytest.raises(Stop):
        index.sync(workers=2, progress=stop)
    execute(database.engine, "INSERT INTO t VALUES (-99999, 'in front of all'), (99999, 'behind all')")
    execute(database.engine, "DELETE FROM t WHERE id IN (-2000, 6393)", "UPDATE t SET body = 'other' WHERE id = -1993")
    index.sync(workers=1)
    assert_in_step(database, "t")


FILL = """
import sys, dbsim
from dbsim.sync.filling import crowd
crowd.ROUND = 0.02
def say(stage, done, total):
    print(stage, done, flush=True)
dbsim.open(sys.argv[1]).index("t").sync(workers=2, progress=say)
"""


@pytest.mark.parametrize("stage", ["reading 1", "building indexes 4"])
def test_killed_at_any_stage_it_goes_on(database: dbsim.Database, stage: str, tmp_path: Path) -> None:
    index = create(database, "id INTEGER", NUMBERS)
    url = database.engine.url.render_as_string(hide_password=False)
    process = subprocess.Popen([sys.executable, "-c", FILL, url], stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(stage):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    report = index.sync(workers=2)
    assert report.filled < ROWS
    assert index.status().state == "ready"
    assert_in_step(database, "t")


def test_a_new_generation_and_a_family_that_learns(database: dbsim.Database) -> None:
    index = create(database, "id INTEGER", NUMBERS[:400])
    index.sync()
    index = database.alter_index("t", family="hyperplane", threshold=0.8)
    report = index.sync(workers=2)
    assert (report.switched, report.filled) == (True, 400)
    several = stored(database, "t")
    other = database.create_index(
        "one", table="t", fields=index.options.fields, family="hyperplane", threshold=0.8, secret=SECRET
    )
    other.sync(workers=1)
    assert [row[:2] for row in several] == [row[:2] for row in stored(database, "one")]
    assert not database.index("t").check()


def test_how_many_processes_by_default(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "cores", lambda: 3)
    context = create(database, "id INTEGER", [(1,)])._search.context
    short, long = (lambda: 450.0), (lambda: 20_000.0)
    one_writes = context.backend.writers_wait
    assert crowd.processes(context, None, 10, long) == 1
    assert crowd.processes(context, None, 10**6, long) == 3
    assert crowd.processes(context, None, 10**6, short) == (1 if one_writes else 3)
    assert crowd.processes(context, 5, 1, short) == 5
    engine = create_engine(database.engine.url)  # of the application: not dbsim's to close
    assert crowd.processes(dbsim.open(engine).index("t")._search.context, None, 10**6, long) == 1
    engine.dispose()

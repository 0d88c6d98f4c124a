"""Promise 2: a worker killed at any statement, or by SIGKILL at any time, loses nothing."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

import dbsim
from dbsim.lifecycle import retire
from dbsim.tables.names import quote
from tests.oracle import assert_converged, assert_equal_to_scratch
from tests.reliability.harness import Application, create_articles, create_index, sentence, size, small_batches
from tests.reliability.processes import follow, running
from tests.reliability.ticking import KillAt, Killed, ticking_engine

pytestmark = pytest.mark.long
ROWS = 4
DDL_STEP = size(7, 1)  # creating an index takes some hundred statements on PostgreSQL
Prepare = Callable[[dbsim.Database, Application], None]
Run = Callable[[dbsim.Database], object]


def fill(database: dbsim.Database, app: Application) -> None:
    """As if the index had just been created."""
    tables = database.index("articles")._worker().tables
    for statement in tables.indexes:
        app.execute(f"DROP INDEX IF EXISTS {quote(statement.element.name)}")
    for table in (tables.signatures, tables.queue):
        app.execute(f"DELETE FROM {quote(table.name)}")
    app.execute("UPDATE dbsim_index SET state = 'filling'")


def queue(database: dbsim.Database, app: Application) -> None:
    database.index("articles").sync()
    app.execute("UPDATE articles SET body = title WHERE id = 1")
    app.execute("DELETE FROM articles WHERE id = 3")
    app.execute("UPDATE articles SET id = 104 WHERE id = 4")


def reconcile(database: dbsim.Database, app: Application) -> None:
    database.index("articles").sync()
    for event in ("insert", "update", "delete"):
        app.execute(f"DROP TRIGGER dbsim_articles_{event}" + ("" if app.sqlite else " ON articles"))
    app.execute("UPDATE articles SET body = 'unseen' WHERE id = 1")
    app.execute("DELETE FROM articles WHERE id = 3")
    app.execute("INSERT INTO articles VALUES (107, 'unseen', 'row')")


def sync(database: dbsim.Database) -> None:
    small_batches(database.index("articles"), 2).sync()


def drop(database: dbsim.Database) -> None:
    for index in database.indexes():
        database.drop_index(index.name)


def start_over(app: Application) -> None:
    """The same rows again."""
    app.execute("DELETE FROM articles")
    for number in range(1, ROWS + 1):
        app.execute("INSERT INTO articles VALUES (?, ?, ?)", number, f"title {number}", sentence(number))


def killed_everywhere(
    url: str, database: dbsim.Database, prepare: Prepare, run: Run, finish: Run, step: int = 1
) -> int:
    """Run until the n-th statement for n = 1, 2, … and finish afterwards with another process' connection."""
    with Application(url) as app:
        create_articles(app)
        for kills, number in enumerate(range(1, 1000, step)):
            start_over(app)
            prepare(database, app)
            killer = KillAt(number)
            engine = ticking_engine(url, killer)
            with suppress(Killed):
                run(dbsim.open(engine))
            engine.dispose()
            app.execute("UPDATE articles SET title = 'written after the kill' WHERE id = 2")  # never fails or waits
            finish(database)
            if not killer.dead:
                return kills
    raise AssertionError("the run never came to its end")


def converge(database: dbsim.Database) -> None:
    index = database.index("articles")
    index.sync()
    assert_equal_to_scratch(index)


@pytest.mark.parametrize("prepare", [fill, queue, reconcile])
def test_sync_killed_at_every_statement(url: str, database: dbsim.Database, prepare: Prepare) -> None:
    def prepared(opened: dbsim.Database, app: Application) -> None:
        if not opened.indexes():
            create_index(opened)
        prepare(opened, app)

    kills = killed_everywhere(url, database, prepared, sync, converge)
    print(f"\n{prepare.__name__}: {kills} kills, one at every statement, 0 unequal")
    assert kills > 10


def test_create_killed_at_every_statement(url: str, database: dbsim.Database) -> None:
    def again(opened: dbsim.Database) -> None:
        create_index(opened)
        converge(opened)

    kills = killed_everywhere(url, database, lambda opened, _: drop(opened), create_index, again, DDL_STEP)
    print(f"\ncreate: {kills} kills, one at every {DDL_STEP}. statement, 0 unequal")
    assert kills > 3


def test_drop_killed_at_every_statement(url: str, database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retire, "FEW_ROWS", 1)  # as if the table were a large one
    monkeypatch.setattr(retire, "MOST_ROWS", 2)

    def whole_or_gone(opened: dbsim.Database) -> None:
        """Either everything happened or nothing that `sync` would not bring back."""
        if opened.indexes():
            converge(opened)
            return
        with Application(url) as app:
            assert not traces(app)

    def prepared(opened: dbsim.Database, app: Application) -> None:
        create_index(opened)
        queue(opened, app)

    kills = killed_everywhere(url, database, prepared, drop, whole_or_gone, DDL_STEP)
    print(f"\ndrop: {kills} kills, one at every {DDL_STEP}. statement, 0 unequal")
    assert kills > 3


def traces(app: Application) -> list[str]:
    """Objects of the index that are left in the database."""
    if app.sqlite:
        found = app.execute("SELECT name FROM sqlite_master WHERE name LIKE 'dbsim_articles%'")
    else:
        found = app.execute(
            "SELECT relname FROM pg_class WHERE relname LIKE 'dbsim_articles%' UNION ALL "
            "SELECT proname FROM pg_proc WHERE proname LIKE 'dbsim_articles%' UNION ALL "
            "SELECT tgname FROM pg_trigger WHERE tgname LIKE 'dbsim_articles%'"
        )
    return [name for (name,) in found]


def write_until(url: str, seed: int, stopped: threading.Event) -> int:
    """An application that goes on writing while workers come and go; returns the number of its writes."""
    chance, writes = random.Random(seed), 0
    with Application(url) as app:
        while not stopped.is_set():
            key, number = chance.randrange(60), chance.randrange(1000)
            if chance.random() < 0.2:
                app.execute("DELETE FROM articles WHERE id = ?", key)
            else:
                app.execute(
                    "INSERT INTO articles VALUES (?, ?, ?) "
                    "ON CONFLICT (id) DO UPDATE SET title = excluded.title, body = excluded.body",
                    *(key, f"title {number}", sentence(number)),
                )
            writes += 1
            stopped.wait(0.002)
    return writes


def test_worker_processes_killed_at_random(url: str, database: dbsim.Database) -> None:
    kills, chance = size(8, 1000), random.Random(2)  # on each engine
    slowest, writes = 0.0, 0
    with Application(url) as app:
        create_articles(app, [(number, "title", sentence(number)) for number in range(60)])
    for number in range(kills):
        if number % 4 == 0:  # every few rounds the first filling is hit
            drop(database)
            create_index(database)
        stopped = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write_until, url, number, stopped)
            with running(follow, url):
                time.sleep(chance.uniform(0.0, 0.2))
            stopped.set()
            writes += writing.result()
        began = time.monotonic()
        index = database.index("articles")
        index.sync()
        slowest = max(slowest, time.monotonic() - began)
        assert_equal_to_scratch(index)
    assert_converged(database.index("articles"))
    print(f"\n{kills} SIGKILLs during {writes} writes: 0 unequal, longest time to recover {slowest:.2f} s")

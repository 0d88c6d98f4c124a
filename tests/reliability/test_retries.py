"""Promise 7: busy, deadlock, serialization failure and lost connection are dbsim's own affair."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dbsim
from dbsim.index import Index
from tests.oracle import assert_converged, assert_equal_to_scratch
from tests.reliability.harness import FULL, Application, create_articles, create_index, sentence, size, small_batches
from tests.reliability.processes import running
from tests.reliability.test_kills import Prepare, fill, queue, reconcile, start_over
from tests.reliability.ticking import ticking_engine

pytestmark = pytest.mark.long
ROWS = [(number, f"title {number}", sentence(number)) for number in range(1, 21)]


class FailAt:
    """The n-th step of a run fails once, as the database or the network would have it."""

    def __init__(self, number: int, fail: Callable[[str, Any], None]) -> None:
        self.number, self.fail = number, fail
        self.steps = 0
        self.failed = False

    def __call__(self, step: str, connection: Any) -> None:
        self.steps += 1
        if self.steps == self.number and step != "COMMITTED":
            self.failed = True
            self.fail(step, connection)


def lose_connection(step: str, connection: psycopg.Connection[Any]) -> None:
    """The server ends the session; the next statement finds out."""
    with psycopg.connect(connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))


def deadlock(step: str, connection: psycopg.Connection[Any]) -> None:
    end_transaction(step, connection)
    raise psycopg.errors.DeadlockDetected("deadlock detected")


def serialization_failure(step: str, connection: psycopg.Connection[Any]) -> None:
    end_transaction(step, connection)
    raise psycopg.errors.SerializationFailure("could not serialize access")


def end_transaction(step: str, connection: psycopg.Connection[Any]) -> None:
    """As a commit that fails does; after another statement that is left to the client."""
    if step == "COMMIT":
        connection.rollback()


FAILURES = (deadlock, lose_connection, serialization_failure)


@pytest.mark.parametrize("first", range(3) if FULL else [0])
@pytest.mark.parametrize("prepare", [fill, queue, reconcile])
def test_every_statement_may_fail_once(new_postgres: str, prepare: Prepare, first: int) -> None:
    """The kinds of failure take turns; here at every seventh statement, in the large version all at every one."""
    database = dbsim.open(new_postgres)
    database.upgrade()
    failures = 0
    with Application(new_postgres) as app:
        create_articles(app)
        create_index(database)
        for number in range(1, 1000, 1 if FULL else 7):
            start_over(app)
            prepare(database, app)
            failing = FailAt(number, FAILURES[(number + first) % len(FAILURES)])
            engine = ticking_engine(new_postgres, failing)
            small_batches(dbsim.open(engine).index("articles"), 2).sync()
            engine.dispose()
            assert_equal_to_scratch(database.index("articles"))
            if failing.steps < number:
                break
            failures += failing.failed
    database.close()
    print(f"\n{prepare.__name__}: {failures} failures, one at every statement, 0 surfaced")
    assert failures > (10 if FULL else 3)


def sync_and_write(begun: Event, url: str, seed: int, rounds: int) -> None:
    """A process that is application and worker at once; any error ends it with an exit code."""
    index = small_batches(dbsim.open(url).index("articles"))
    begun.set()
    with Application(url) as app:
        for number in range(rounds):
            key = 100 * seed + number % 10
            app.execute("DELETE FROM articles WHERE id = ?", key)
            app.execute("INSERT INTO articles VALUES (?, ?, ?)", key, f"row {number}", sentence(seed + number))
            index.sync(reconcile=number % 10 == 9)
            index.search(sentence(number))
            index.check(sample=5)
            index.status()


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_many_processes_on_one_sqlite_file(tmp_path: Path, journal: str) -> None:
    url, processes, rounds = f"sqlite:///{tmp_path / 'shared.db'}", size(4, 16), size(15, 300)
    database = dbsim.open(url, create=True)
    database.upgrade()
    with Application(url) as app:
        app.execute(f"PRAGMA journal_mode = {journal}")
        create_articles(app, ROWS)
    index = create_index(database)
    with ExitStack() as stack:
        workers = [stack.enter_context(running(sync_and_write, url, seed, rounds)) for seed in range(processes)]
        for worker in workers:
            worker.join()
        assert [worker.exitcode for worker in workers] == [0] * processes
    assert_converged(index)
    database.close()
    print(f"\n{processes} processes, {rounds} rounds each, journal {journal}: 0 errors surfaced")


def set_isolation(app: Application, isolation: str) -> None:
    name = app.execute("SELECT current_database()")[0][0]
    app.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'")


def write_in_transactions(url: str, writer: int, count: int) -> int:
    """Rows of its own; what SSI mistakes for a conflict between writers is tried again and counted."""
    failures = 0
    with Application(url) as app:
        for number in range(count):
            while not written(app, 1000 * (writer + 1) + number % 7, number):
                failures += 1
    return failures


def written(app: Application, key: int, number: int) -> bool:
    try:
        app.execute("BEGIN")
        app.execute("DELETE FROM articles WHERE id = ?", key)
        app.execute("INSERT INTO articles VALUES (?, ?, ?)", key, f"row {number}", sentence(number))
        app.execute("COMMIT")
    except psycopg.errors.SerializationFailure:
        app.execute("ROLLBACK")
        return False
    return True


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_any_default_isolation(new_postgres: str, isolation: str) -> None:
    """Several workers and followers, and an application that writes; the database's default is not theirs."""
    writers, count = 3, size(30, 1000)
    with Application(new_postgres) as app:
        set_isolation(app, isolation)
        create_articles(app, ROWS)
    opened = [dbsim.open(new_postgres) for _ in range(4)]
    opened[0].upgrade()
    index = create_index(opened[0])
    stopped = threading.Event()
    with ThreadPoolExecutor(writers + 3) as pool:
        following = [
            pool.submit(small_batches(one.index("articles")).follow, stop=stopped.is_set, poll=0.05)
            for one in opened[1:]
        ]
        writing = [pool.submit(write_in_transactions, new_postgres, number, count) for number in range(writers)]
        while not all(writer.done() for writer in writing):
            index.sync(reconcile=True)
            index.check()
            index.status()
        failures = sum(writer.result() for writer in writing)
        stopped.set()
        for follower in following:
            follower.result()
    assert_converged(index)
    for one in opened:
        one.close()
    print(
        f"\n{isolation}: {writers * count} transactions of the application ({failures} tried again), 0 errors surfaced"
    )


VERBS: dict[str, Callable[[Index], object]] = {
    "nothing": lambda index: None,  # the transactions alone do not fail
    "check": lambda index: index.check(),
    "status": lambda index: index.status(),
    "sync": lambda index: index.sync(),
    "reconcile": lambda index: index.sync(reconcile=True),
    "search": lambda index: index.search(sentence(1)),
    "wait": lambda index: index._worker().backend.wait(index._worker().engine, index._worker().tables, 0.0),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("scene", ["reader between two writers", "writer behind a trigger"])
def test_dbsim_does_not_make_serializable_transactions_fail(new_postgres: str, verb: str, scene: str) -> None:
    """Scenes in which PostgreSQL fails the first transaction if dbsim's statements are serializable too."""
    with Application(new_postgres) as app:
        set_isolation(app, "serializable")
        create_articles(app, ROWS)
        app.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)")
    database = dbsim.open(new_postgres)
    database.upgrade()
    index = create_index(database)
    index.sync()
    with Application(new_postgres) as first, Application(new_postgres) as second:
        for app in (first, second):
            app.execute("SET enable_seqscan = off")  # or they would collide by reading whole tables
        first.execute("BEGIN")
        if scene == "reader between two writers":
            first.execute("SELECT body FROM articles WHERE id = 1")
            second.execute("UPDATE articles SET body = 'written by the second' WHERE id = 1")
            VERBS[verb](index)
            first.execute("UPDATE articles SET body = 'written by the first' WHERE id = 2")
        else:
            first.execute("UPDATE articles SET body = 'written by the first' WHERE id = 2")
            VERBS[verb](index)
            second.execute("BEGIN")
            second.execute("SELECT body FROM articles WHERE id = 2")
            second.execute("INSERT INTO other VALUES (1)")
            second.execute("COMMIT")
        first.execute("COMMIT")
    assert_converged(index)
    database.close()

"""Promise 3: any number of workers, and never the signature of an old text."""

from __future__ import annotations

import itertools
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

import dbsim
from dbsim.index import Index
from tests.oracle import assert_equal_to_scratch, queued
from tests.reliability.harness import FULL, Application, create_articles, create_index, sentence, size, small_batches
from tests.reliability.ticking import ticking_engine

Write = Callable[[Application], object]


pytestmark = pytest.mark.long


def update(app: Application) -> None:
    app.execute("UPDATE articles SET body = 'the second text' WHERE id = 1")


def delete(app: Application) -> None:
    app.execute("DELETE FROM articles WHERE id = 1")


# the steps of a worker that may be scheduled one by one, by how their statement begins or what is in it
GATES = {
    "begin": "BEGIN IMMEDIATE",  # SQLite: from here to the commit no other writer can begin
    "claim": "FOR UPDATE SKIP LOCKED",
    "lock": "pg_advisory_xact_lock",
    "read": "FROM articles",
    "commit": "COMMIT",
} | ({"write": "COPY "} if FULL else {})  # what is written is seen by nobody before the commit
CASES = list(itertools.product((update, delete), (1, 2))) if FULL else [(update, 1), (delete, 2)]


def gate_of(step: str) -> str | None:
    return next((name for name, part in GATES.items() if part in step and step != "COMMITTED"), None)


class GatedWorker:
    """A worker in a thread of its own that stops before every step until it is told to go on."""

    def __init__(self, url: str, turn: threading.Condition, pool: ThreadPoolExecutor) -> None:
        self.turn, self.pool = turn, pool
        self.gate: str | None = None
        self.state = "done"
        self.go = self.gated = self.exclusive = False
        self.moves = 0
        self.connection: Any = None
        self.running: Future[int] | None = None
        self.engine = ticking_engine(url, self.tick, timeout=0)
        self.worker = small_batches(dbsim.open(self.engine).index("articles"), 2)._worker()

    def start(self) -> None:
        self.state, self.gate, self.moves, self.exclusive = "running", None, 0, False
        self.gated = True
        self.running = self.pool.submit(self.run)

    def run(self) -> int:
        try:
            return self.worker.batch()
        finally:
            with self.turn:
                self.state = "done"
                self.turn.notify_all()

    def tick(self, step: str, connection: Any) -> None:
        gate = gate_of(step)
        if gate is None or not self.gated:
            return
        with self.turn:
            self.state, self.gate, self.connection = "waiting", gate, connection
            self.turn.notify_all()
            self.turn.wait_for(lambda: self.go)
            self.go = False

    def abandon(self) -> None:
        """Let it run to its end, should the test have failed."""
        with self.turn:
            self.gated, self.go = False, True
            self.turn.notify_all()

    def release(self) -> None:
        with self.turn:
            self.go, self.state = True, "running"
            self.moves += 1
            self.exclusive = self.gate == "begin" or (self.exclusive and self.gate != "commit")
            self.turn.notify_all()


class Schedule:
    """One run of two workers and some writes of the application, in the order given by a list of choices."""

    def __init__(self, url: str, stack: ExitStack) -> None:
        self.turn = threading.Condition()
        pool = ThreadPoolExecutor(2)
        self.workers = [GatedWorker(url, self.turn, pool) for _ in range(2)]
        self.app = stack.enter_context(Application(url, timeout=0))
        self.monitor: Application | None = None
        if not self.app.sqlite:
            self.app.execute("SET lock_timeout = '100ms'")  # the application never waits for a worker
            self.monitor = stack.enter_context(Application(url))
        for worker in self.workers:
            stack.callback(worker.engine.dispose)
        stack.callback(pool.shutdown)
        for worker in self.workers:
            stack.callback(worker.abandon)

    def run(self, choices: list[int], writes: list[Write]) -> tuple[list[int], list[int]]:
        """Follow the choices, then take the first one each time: (choices taken, how many there were)."""
        left, taken, widths = list(writes), [], []
        for worker in self.workers:
            worker.start()
        while options := self.options(left):
            choice = choices[len(taken)] % len(options) if len(taken) < len(choices) else 0
            taken.append(choice)
            widths.append(len(options))
            self.take(options[choice], left)
        for worker in self.workers:
            assert worker.running is not None
            worker.running.result()
        assert not left
        return taken, widths

    def options(self, left: list[Write]) -> list[GatedWorker | Application]:
        """Who can move now; while neither worker has moved the second is like the first."""
        self.settle()
        locked = any(worker.exclusive for worker in self.workers)
        found: list[GatedWorker | Application] = [
            worker for worker in self.workers if worker.state == "waiting" and not (locked and worker.gate == "begin")
        ]
        if not any(worker.moves for worker in self.workers):
            found = found[:1]
        if left and not locked:
            found.append(self.app)
        return found

    def take(self, actor: GatedWorker | Application, left: list[Write]) -> None:
        if isinstance(actor, Application):
            left.pop(0)(actor)
            return
        if left and actor.exclusive and actor.gate == "commit":
            with pytest.raises(sqlite3.OperationalError, match="locked"):  # so it really cannot come in between
                left[0](self.app)
        actor.release()

    def settle(self) -> None:
        """Until every worker waits at a gate, is done, or is blocked by the other."""
        while True:
            with self.turn:
                if self.turn.wait_for(lambda: all(w.state != "running" for w in self.workers), 0.003):
                    return
                running = [w for w in self.workers if w.state == "running"]
            if self.monitor is not None and all(self.blocked(worker) for worker in running):
                return

    def blocked(self, worker: GatedWorker) -> bool:
        assert self.monitor is not None
        if worker.connection is None:
            return False
        pid = worker.connection.info.backend_pid
        return bool(self.monitor.execute("SELECT 1 FROM pg_locks WHERE pid = ? AND NOT granted", pid))


def every_order(run: Callable[[list[int]], tuple[list[int], list[int]]]) -> Iterator[list[int]]:
    """All schedules, depth first: each run shows where it could have gone otherwise."""
    taken: list[int] | None = []
    while taken is not None:
        taken, widths = run(taken)
        yield taken
        while taken and taken[-1] + 1 == widths[len(taken) - 1]:
            taken.pop()
        if taken:
            taken[-1] += 1
        else:
            taken = None


def some_orders(run: Callable[[list[int]], tuple[list[int], list[int]]], count: int) -> Iterator[list[int]]:
    """So many schedules drawn by lot, the same ones every time."""
    rng = random.Random(count)
    for _ in range(count):
        yield run([rng.randrange(60) for _ in range(300)])[0]


@pytest.mark.parametrize(("write", "waiting"), CASES)
def test_every_interleaving_of_two_workers(url: str, database: dbsim.Database, write: Write, waiting: int) -> None:
    with ExitStack() as stack:
        app = stack.enter_context(Application(url))
        create_articles(app, [(1, "one", "text"), (2, "two", sentence(2))])
        index = create_index(database)
        index.sync()
        schedule = Schedule(url, stack)

        def run(choices: list[int]) -> tuple[list[int], list[int]]:
            app.execute("DELETE FROM articles WHERE id = 1")
            app.execute("INSERT INTO articles VALUES (1, 'one', 'the zeroth text')")
            index.sync()
            for number in range(waiting):
                app.execute("UPDATE articles SET body = ? WHERE id = 1", f"the first text {number}")
            return schedule.run(choices, [write])

        orders = 0
        for _ in every_order(run) if FULL else some_orders(run, 50):
            orders += 1
            assert_not_stale(index)
    print(f"\n{orders} interleavings, {waiting} changes waiting, {write.__name__}: 0 stale")


def assert_not_stale(index: Index) -> None:
    """What is not in the queue any more is stored as it is; the rest follows with the next run."""
    if queued(index) == 0:
        assert_equal_to_scratch(index)
    index.sync()
    assert_equal_to_scratch(index)


def drain_until(url: str, stopped: threading.Event) -> int:
    """A worker that looks at the queue again and again."""
    database, changed = dbsim.open(url), 0
    worker = small_batches(database.index("articles"))._worker()
    while not stopped.is_set():
        changed += worker.drain()
    changed += worker.drain()
    database.close()
    return changed


def write_hot(url: str, seed: int, writes: int) -> None:
    chance = random.Random(seed)
    with Application(url) as app:
        for _ in range(writes):
            key, number = chance.randrange(5), chance.randrange(10_000)
            if chance.random() < 0.1:
                app.execute("DELETE FROM articles WHERE id = ?", key)
            app.execute(
                "INSERT INTO articles VALUES (?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET title = excluded.title, body = excluded.body",
                *(key, str(number), sentence(number)),
            )


def test_many_workers_on_hot_documents(url: str, database: dbsim.Database) -> None:
    workers, writers, writes = size(4, 8), size(3, 8), size(60, 2000)
    with Application(url) as app:
        create_articles(app, [(number, "title", sentence(number)) for number in range(5)])
    index = create_index(database)
    index.sync()
    stopped, wrong = threading.Event(), 0
    with ThreadPoolExecutor(workers + writers) as pool:
        draining = [pool.submit(drain_until, url, stopped) for _ in range(workers)]
        writing = [pool.submit(write_hot, url, number, writes) for number in range(writers)]
        while not all(writer.done() for writer in writing):
            wrong += len(index.check().keys)  # what is on its way is no difference
        stopped.set()
        changed = sum(worker.result() for worker in draining)
        for writer in writing:
            writer.result()
    assert queued(index) == 0
    assert_equal_to_scratch(index)
    print(f"\n{workers} workers, {writers * writes} writes to 5 documents, {changed} changes worked off: 0 stale")
    assert wrong == 0

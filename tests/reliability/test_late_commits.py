"""Promise 4: no committed change is skipped, however late it commits."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import dbsim
from dbsim.index import Index
from tests.oracle import assert_equal_to_scratch, queued
from tests.reliability.harness import Application, create_articles, create_index, sentence, size

pytestmark = pytest.mark.long

WRITERS = size(8, 32)
WRITES = size(30, 200)  # transactions of each writer
ROLLBACKS = 0.2


def write_late(url: str, writer: int) -> dict[int, float]:
    """Transactions that pause before they end; returns when each committed row was committed."""
    chance, committed = random.Random(writer), {}
    with Application(url) as app:
        for number in range(WRITES):
            key = writer * 1000 + number
            app.execute("BEGIN")
            app.execute("INSERT INTO articles VALUES (?, ?, ?)", key, f"row {key}", sentence(key, 12))
            app.execute("UPDATE articles SET title = title || ' changed' WHERE id = ?", key - chance.randrange(3))
            time.sleep(chance.choice((0.0, 0.002, 0.03)) if not app.sqlite else 0.001)  # SQLite: all others wait
            if chance.random() < ROLLBACKS:
                app.execute("ROLLBACK")
            else:
                app.execute("COMMIT")
                committed[key] = time.monotonic()
    return committed


def watch(url: str, stopped: threading.Event) -> dict[int, float]:
    """When each row was first found in the index by somebody else."""
    seen: dict[int, float] = {}
    with Application(url) as app:
        while not stopped.wait(0.005):
            rows = app.execute("SELECT id FROM dbsim_articles")
            now = time.monotonic()
            for (key,) in rows:
                seen.setdefault(key, now)
    return seen


def wait_until_empty(index: Index) -> None:
    """The follower alone has to get there."""
    deadline = time.monotonic() + 60
    while queued(index):
        assert time.monotonic() < deadline, "changes stay in the queue"
        time.sleep(0.02)


def test_late_commits_are_not_missed(url: str, database: dbsim.Database) -> None:
    with Application(url) as app:
        create_articles(app)
        if app.sqlite:
            app.execute("PRAGMA journal_mode = WAL")
    index = create_index(database)
    stopped, follower = threading.Event(), dbsim.open(url)
    with ThreadPoolExecutor(WRITERS + 2) as pool:
        following = pool.submit(follower.index("articles").follow, stop=stopped.is_set, poll=0.5)
        watching = pool.submit(watch, url, stopped)
        writing = [pool.submit(write_late, url, writer) for writer in range(WRITERS)]
        committed = {key: when for writer in writing for key, when in writer.result().items()}
        wait_until_empty(index)
        time.sleep(0.05)  # for a last look of the watcher
        stopped.set()
        following.result()
        seen = watching.result()
    follower.close()
    missed = committed.keys() - seen.keys()
    phantoms = seen.keys() - committed.keys()
    assert not missed
    assert not phantoms
    assert_equal_to_scratch(index)
    delays = sorted(max(seen[key] - committed[key], 0.0) for key in committed)
    print(
        f"\n{WRITERS} writers, {len(committed)} commits: 0 missed; commit to searchable "
        f"median {delays[len(delays) // 2] * 1000:.0f} ms, p99 {delays[int(len(delays) * 0.99)] * 1000:.0f} ms"
    )

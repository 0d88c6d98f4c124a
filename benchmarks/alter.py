"""What a change of options costs the searches that go on meanwhile: p99 latency during the rebuild and before it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from typing import Any

import dbsim
from benchmarks import corpora, server
from benchmarks.report import Report, console
from benchmarks.server import Times

LENGTH = 600
PAUSE = 0.02  # seconds between two searches of a client: the machine is in use, not at its limit
PARTS = ("sqlite", "sqlite-wal", "postgresql")
processes = multiprocessing.get_context("spawn")
Sample = tuple[float, float]  # when, how long


@dataclass(frozen=True)
class Sizes:
    rows: int
    searchers: int
    before: float  # seconds


SIZES = {
    "small": Sizes(rows=1_000, searchers=4, before=3.0),
    "medium": Sizes(rows=20_000, searchers=8, before=10.0),
    "full": Sizes(rows=100_000, searchers=8, before=20.0),
}


@dataclass(frozen=True)
class Watched:
    """What the searchers saw, and when the change began and ended."""

    samples: list[Sample]
    failures: int
    begin: float
    end: float

    def times(self, start: float, stop: float) -> Times:
        return Times.of([seconds for when, seconds in self.samples if start <= when < stop])


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("alter", asdict(sizes) | {"characters": LENGTH, "pause": PAUSE})
    texts = list(corpora.documents(sizes.rows, LENGTH))
    with server.postgres() as url:
        report.versions |= server.server_versions(url)
        for part in parts:
            console.print(part)
            with server.empty(part.partition("-")[0], url) as database:
                describe(report, part, measure(database, part, texts, sizes))
    return report


def measure(database: dbsim.Database, part: str, texts: list[str], sizes: Sizes) -> Watched:
    """Searchers, then the change in a process of its own, then some more searches."""
    if part == "sqlite-wal":
        with database.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
    server.load(database, "articles", enumerate(texts))
    index = database.create_index("articles", table="articles", columns="body", threshold=0.7, secret=server.SECRET)
    index.sync()
    url = database.engine.url.render_as_string(hide_password=False)
    stop, results = processes.Event(), processes.Queue()
    questions = texts[:: max(len(texts) // 200, 1)]
    clients = [
        processes.Process(target=search, args=(url, questions[n:], stop, results)) for n in range(sizes.searchers)
    ]
    for client in clients:
        client.start()
    for _ in clients:
        results.get()  # ready
    time.sleep(sizes.before)
    worker = processes.Process(target=change, args=(url,))
    begin = time.time()
    worker.start()
    worker.join()
    end = time.time()
    time.sleep(1.0)
    stop.set()
    found = [results.get() for _ in clients]
    for client in clients:
        client.join()
    if worker.exitcode:
        raise SystemExit("the change of options failed")
    samples = [sample for some, _ in found for sample in some]
    return Watched(samples, sum(failures for _, failures in found), begin, end)


def search(url: str, questions: list[str], stop: Event, results: Queue[Any]) -> None:
    """One client: search, pause, search."""
    index = dbsim.open(url).index("articles")
    samples: list[Sample] = []
    failures = 0
    index.search(questions[0])
    results.put("ready")
    while not stop.is_set():
        when, start = time.time(), time.perf_counter()
        try:
            index.search(questions[len(samples) % len(questions)])
        except dbsim.DbsimError:
            failures += 1
        samples.append((when, time.perf_counter() - start))
        time.sleep(PAUSE)
    results.put((samples, failures))


def change(url: str) -> None:
    database = dbsim.open(url)
    database.alter_index("articles", threshold=0.5)
    assert database.index("articles").sync().switched


def describe(report: Report, part: str, watched: Watched) -> None:
    before = watched.times(0.0, watched.begin)
    during = watched.times(watched.begin, watched.end)
    beside = "before it"
    report.add(f"{part}: search p99 during the change", during.p99, "ms", peer=beside, peer_value=before.p99)
    report.add(f"{part}: search median during the change", during.median, "ms", peer=beside, peer_value=before.median)
    note = f"{len(watched.samples):,} searches, {watched.failures} failed"
    report.add(f"{part}: the change took", watched.end - watched.begin, "s", note=note)


if __name__ == "__main__":
    run("medium").show()

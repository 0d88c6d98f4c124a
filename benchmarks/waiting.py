"""How long a write of the application waits for dbsim on SQLite, in every phase of an index's life.

An application commits a row every 20 ms from another process; what is told is the longest of its waits, and how long
the phase took. `--size` small: 20,000 rows, medium: 120,000, full: 1,000,000.
"""

from __future__ import annotations

import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import dbsim
from benchmarks.report import Report, Target

ROWS = {"small": 20_000, "medium": 120_000, "full": 1_000_000}
PAUSE = 0.02
PARTS = ("delete-usual", "delete-gentle", "wal-usual", "wal-gentle")
LONGEST = Target("≤", 100, of="value")
TEXT = (
    "'w'||(i*7919%100003)||' x'||(i*31%5003)||' y'||(i%977)||' z'||(i*13%3001)||' u'||i||' v'||(i/2)||' t'||(i*17%911)"
)
processes = multiprocessing.get_context("spawn")


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    report = Report("waiting", {"rows": ROWS[size], "a write every ms": 1000 * PAUSE})
    for part in parts:
        journal, way = part.split("-")
        with tempfile.TemporaryDirectory(prefix="dbsim-waiting-") as folder:
            path = Path(folder) / "app.db"
            fill_table(path, ROWS[size], journal)
            for phase, seconds, waits in life(path, ROWS[size], way == "gentle"):
                waits.sort()
                note = f"{seconds:.1f} s, {len(waits)} writes, p99 {1000 * waits[int(len(waits) * 0.99)]:.0f} ms"
                report.add(f"{part}, {phase}: longest wait", 1000 * waits[-1], "ms", target=LONGEST, note=note)
    return report


def fill_table(path: Path, rows: int, journal: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
        connection.execute(
            f"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {rows}) "
            f"INSERT INTO articles SELECT i, {TEXT} FROM s"
        )
    connection.close()


def life(path: Path, rows: int, gentle: bool) -> Iterator[tuple[str, float, list[float]]]:
    """Phase by phase: name, seconds, how long each write of the application took."""
    with dbsim.open(path) as database:
        database.upgrade()
        index = database.create_index("articles", table="articles", columns="body", words=2, threshold=0.6)
        tenth = f"UPDATE articles SET body = body || ' changed' WHERE id <= {rows} AND id % 10 = 0"
        phases: dict[str, Callable[[], Any]] = {
            "first sync": lambda: index.sync(gentle=gentle),
            "a tenth changed": index.sync,
            "duplicates": lambda: index.duplicates(threshold=0.8),
            "other options": lambda: index.alter(threshold=0.7).sync(gentle=gentle),
            "reconcile": lambda: index.sync(reconcile=True),
            "drop": index.drop,
        }
        for name, work in phases.items():
            if name == "a tenth changed":
                with database.engine.begin() as connection:
                    connection.exec_driver_sql(tenth)
            with application(path) as waits:
                began = time.monotonic()
                work()
                seconds = time.monotonic() - began
            yield name, seconds, waits


@contextmanager
def application(path: Path) -> Iterator[list[float]]:
    stop, told = processes.Event(), processes.Queue()
    begun = processes.Event()
    process = processes.Process(target=write_on, args=(str(path), begun, stop, told), daemon=True)
    process.start()
    begun.wait()
    waits: list[float] = []
    try:
        yield waits
    finally:
        stop.set()
        waits += told.get(timeout=120)
        process.join()


def write_on(path: str, begun: Event, stop: Event, told: Any) -> None:
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    waits = []
    begun.set()
    while not (waits and stop.is_set()):
        began = time.monotonic()
        connection.execute("INSERT INTO articles (body) VALUES ('a new row of the application, which nobody expects')")
        waits.append(time.monotonic() - began)
        time.sleep(PAUSE)
    told.put(waits)


if __name__ == "__main__":
    run("small").show()

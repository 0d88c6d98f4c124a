"""python -m benchmarks.contains [--size …]: word questions by signatures beside LIKE, FTS5 and GIN."""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import text

import dbsim
from benchmarks import corpora
from benchmarks.report import Report, Target
from benchmarks.server import SECRET, empty, postgres

PARTS = ("sqlite", "postgresql")
SIZES = {"small": 10_000, "medium": 40_000, "full": 124_000}
QUESTIONS = (
    ("network", "monitor"),
    ("kernel", "driver"),
    ("image", "viewer"),
    ("text", "editor"),
    ("zebra", "printer"),
)
RUNS = 5


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    count = SIZES[size]
    report = Report("contains", {"rows": count, "questions": len(QUESTIONS)})
    texts = [record["text"] for record in islice(corpora.records("debian"), count)]
    with postgres() as server:
        for part in parts:
            with empty(part, server) as database:
                _measure(report, database, texts, _fts5 if part == "sqlite" else _gin)
    return report


Ask = Callable[[str, str], int]  # two words → how many rows


def nothing() -> None:
    """There is nothing to prepare."""


@dataclass(frozen=True)
class Way:
    """One way to ask, and what has to be made for it first, whose size is measured."""

    ask: Ask
    prepare: Callable[[], None] = nothing


Alternatives = dict[str, Way]


def _measure(
    report: Report, database: dbsim.Database, texts: list[str], others: Callable[[dbsim.Database], Alternatives]
) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE packages (id INTEGER PRIMARY KEY, body TEXT)"))
        rows = [{"id": number, "body": body} for number, body in enumerate(texts, 1)]
        connection.execute(text("INSERT INTO packages VALUES (:id, :body)"), rows)
    index = database.create_index("packages", table="packages", columns="body", false_drops=0.01, secret=SECRET)
    index.sync()
    engine, field = database.engine.dialect.name, index.options.fields[0]
    note = f"{field.word_marks} bits a word, {2 * field.word_bits // 8} bytes a row with the slices"
    report.add(f"{engine}: signature", field.word_bits, "bits", note=note)
    ways = {"LIKE": Way(lambda a, b: _like(database, a, b))} | others(database)
    mine = _times(lambda a, b: len(index.contains(a, b)))
    report.add(f"{engine}: contains", mine, "ms a question")
    for name, way in ways.items():
        before = _size(database)
        way.prepare()
        grown = (_size(database) - before) / len(texts)
        # the ratio asked for is that of speeds, so LIKE's time stands first
        target = Target("≥", 20) if name == "LIKE" else None
        note = f"{grown:.0f} bytes a row" if way.prepare is not nothing else ""
        report.add(
            f"{engine}: {name}",
            _times(way.ask),
            "ms a question",
            peer="contains",
            peer_value=mine,
            note=note,
            target=target,
        )
    if engine == "sqlite":  # all in this process: the ratio that a busy machine does not change
        used = _times(lambda a, b: len(index.contains(a, b)), time.process_time)
        like = _times(ways["LIKE"].ask, time.process_time)
        report.add(f"{engine}: LIKE, CPU", like, "ms a question", peer="contains, CPU", peer_value=used)
    asked = [index.contains(a, b) for a, b in QUESTIONS]
    looked = sum(found.looked for found in asked)
    report.add(
        f"{engine}: texts read", looked / len(asked), "a question", note=f"{sum(map(len, asked))} answers in all"
    )


def _size(database: dbsim.Database) -> int:
    sqlite = database.engine.dialect.name == "sqlite"
    with database.engine.connect() as connection:
        if not sqlite:
            return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
        pages, size = (connection.execute(text(f"PRAGMA {one}")).scalar_one() for one in ("page_count", "page_size"))
        return int(pages * size)


def _times(way: Ask, clock: Callable[[], float] = time.perf_counter) -> float:
    """Median over the questions of the best of some runs, in milliseconds."""
    found = []
    for a, b in QUESTIONS:
        best = min(_clocked(way, clock, a, b) for _ in range(RUNS))
        found.append(1000 * best)
    return statistics.median(found)


def _clocked(way: Ask, clock: Callable[[], float], a: str, b: str) -> float:
    start = clock()
    way(a, b)
    return clock() - start


def _like(database: dbsim.Database, a: str, b: str) -> int:
    word = "LIKE" if database.engine.dialect.name == "sqlite" else "ILIKE"  # SQLite's LIKE takes no heed of case
    query = text(f"SELECT id FROM packages WHERE body {word} :a AND body {word} :b")
    with database.engine.connect() as connection:
        return len(connection.execute(query, {"a": f"%{a}%", "b": f"%{b}%"}).all())


def _fts5(database: dbsim.Database) -> Alternatives:
    raw: Any = database.engine.raw_connection().driver_connection
    assert isinstance(raw, sqlite3.Connection)

    def prepare() -> None:
        raw.execute("CREATE VIRTUAL TABLE found USING fts5(body, content='packages', content_rowid='id')")
        raw.execute("INSERT INTO found (found) VALUES ('rebuild')")
        raw.commit()

    def ask(a: str, b: str) -> int:
        return len(raw.execute("SELECT rowid FROM found WHERE found MATCH ?", (f"{a} {b}",)).fetchall())

    return {"FTS5": Way(ask, prepare)}


def _gin(database: dbsim.Database) -> Alternatives:
    def counted(statement: str, **values: object) -> int:
        with database.engine.connect() as connection:
            return len(connection.execute(text(statement), values).all())

    def made(*statements: str) -> Callable[[], None]:
        return lambda: _execute(database, statements)

    vectors = "SELECT id FROM packages WHERE to_tsvector('simple', body) @@ to_tsquery('simple', :q)"
    function = "SELECT id FROM dbsim_packages_contains(ARRAY[:a, :b])"
    by_vector = "CREATE INDEX ON packages USING gin (to_tsvector('simple', body))"
    ways = {
        "contains from SQL": Way(lambda a, b: counted(function, a=a, b=b)),
        "tsvector with GIN": Way(lambda a, b: counted(vectors, q=f"{a} & {b}"), made(by_vector)),
    }
    if counted("SELECT FROM pg_available_extensions WHERE name = 'pg_trgm'"):
        by_trigram = "CREATE INDEX ON packages USING gin (body gin_trgm_ops)"
        prepare = made("CREATE EXTENSION pg_trgm", by_trigram)
        ways["pg_trgm with GIN"] = Way(lambda a, b: _like(database, a, b), prepare)
    return ways


def _execute(database: dbsim.Database, statements: Sequence[str]) -> None:
    with database.engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


if __name__ == "__main__":
    run("full").show()

"""python -m benchmarks.contains [--size …]: word questions by signatures beside LIKE, FTS5, GIN and bit slices."""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from sqlalchemy import text

import dbsim
from benchmarks import corpora
from benchmarks.report import Report, Target
from benchmarks.server import empty, postgres

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


Alternatives = dict[str, Callable[[str, str], int]]


def _measure(
    report: Report, database: dbsim.Database, texts: list[str], others: Callable[[dbsim.Database], Alternatives]
) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE packages (id INTEGER PRIMARY KEY, body TEXT)"))
        rows = [{"id": number, "body": body} for number, body in enumerate(texts, 1)]
        connection.execute(text("INSERT INTO packages VALUES (:id, :body)"), rows)
    index = database.create_index("packages", table="packages", columns="body", false_drops=0.01)
    index.sync()
    engine = database.engine.dialect.name
    field = index.options.fields[0]
    report.add(f"{engine}: signature", field.word_bits, "bits", note=f"{field.word_marks} bits a word")
    ways: Alternatives = {"LIKE": lambda a, b: _like(database, a, b)}
    ways |= {"bit slices": _slices(index, texts)} | others(database)
    mine = _times(lambda a, b: len(index.contains(a, b)))
    for name, way in ways.items():
        theirs = _times(way)
        target = Target("≥", 20) if name == "LIKE" else None
        # the ratio asked for is that of speeds, so LIKE's time stands first
        if target:
            report.add(f"{engine}: {name}", theirs, "ms a question", peer="contains", peer_value=mine, target=target)
        else:
            report.add(f"{engine}: {name}", theirs, "ms a question", peer="contains", peer_value=mine)
    asked = [index.contains(a, b) for a, b in QUESTIONS]
    looked = sum(found.looked for found in asked)
    report.add(
        f"{engine}: texts read", looked / len(asked), "a question", note=f"{sum(map(len, asked))} answers in all"
    )


def _times(way: Callable[[str, str], int]) -> float:
    """Median over the questions of the best of some runs, in milliseconds."""
    found = []
    for a, b in QUESTIONS:
        best = min(_clock(way, a, b) for _ in range(RUNS))
        found.append(1000 * best)
    return statistics.median(found)


def _clock(way: Callable[[str, str], int], a: str, b: str) -> float:
    start = time.perf_counter()
    way(a, b)
    return time.perf_counter() - start


def _like(database: dbsim.Database, a: str, b: str) -> int:
    word = "LIKE" if database.engine.dialect.name == "sqlite" else "ILIKE"  # SQLite's LIKE takes no heed of case
    query = text(f"SELECT id FROM packages WHERE body {word} :a AND body {word} :b")
    with database.engine.connect() as connection:
        return len(connection.execute(query, {"a": f"%{a}%", "b": f"%{b}%"}).all())


def _slices(index: dbsim.Index, texts: list[str]) -> Callable[[str, str], int]:
    """The signatures turned: a bitmap of all rows for each bit, in a table of its own; texts are not looked at."""
    signer = index._signer
    words = signer.fields[0].words
    assert words is not None
    signed = [signer.sign([texts[start : start + 5000]]).words[0] for start in range(0, len(texts), 5000)]
    bits = np.unpackbits(np.concatenate(signed).astype(">i8").view(np.uint8), axis=1)
    turned = np.packbits(bits.T, axis=1)
    with index._context.engine.begin() as connection:
        kind = "BLOB" if index._context.engine.dialect.name == "sqlite" else "BYTEA"
        connection.execute(text(f"CREATE TABLE slices (slice INTEGER PRIMARY KEY, rows {kind})"))
        rows = [{"slice": number, "rows": row.tobytes()} for number, row in enumerate(turned)]
        connection.execute(text("INSERT INTO slices VALUES (:slice, :rows)"), rows)

    def ask(a: str, b: str) -> int:
        marks = np.unpackbits(signer.mark(0, f"{a} {b}".encode()).astype(">i8").view(np.uint8))
        wanted = np.flatnonzero(marks).tolist()
        query = text(f"SELECT rows FROM slices WHERE slice IN ({', '.join(map(str, wanted))})")
        with index._context.engine.connect() as connection:
            found = [np.frombuffer(row[0], np.uint8) for row in connection.execute(query)]
        return int(np.unpackbits(np.bitwise_and.reduce(found)).sum())

    return ask


def _fts5(database: dbsim.Database) -> Alternatives:
    raw: Any = database.engine.raw_connection().driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute("CREATE VIRTUAL TABLE found USING fts5(body, content='packages', content_rowid='id')")
    raw.execute("INSERT INTO found (found) VALUES ('rebuild')")
    raw.commit()
    return {
        "FTS5": lambda a, b: len(raw.execute("SELECT rowid FROM found WHERE found MATCH ?", (f"{a} {b}",)).fetchall())
    }


def _gin(database: dbsim.Database) -> Alternatives:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE INDEX ON packages USING gin (to_tsvector('simple', body))"))
        trigrams = connection.execute(
            text("SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'")
        ).scalar_one()

    def vectors(a: str, b: str) -> int:
        query = text("SELECT id FROM packages WHERE to_tsvector('simple', body) @@ to_tsquery('simple', :q)")
        with database.engine.connect() as connection:
            return len(connection.execute(query, {"q": f"{a} & {b}"}).all())

    ways: Alternatives = {"tsvector with GIN": vectors}
    if trigrams:
        ways["pg_trgm with GIN"] = lambda a, b: _trigrams(database, a, b)
    return ways


def _trigrams(database: dbsim.Database, a: str, b: str) -> int:
    """The index is made at the first question, after LIKE was measured without it."""
    with database.engine.begin() as connection:
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
        connection.execute(text("CREATE INDEX IF NOT EXISTS by_trigram ON packages USING gin (body gin_trgm_ops)"))
    return _like(database, a, b)


if __name__ == "__main__":
    run("full").show()

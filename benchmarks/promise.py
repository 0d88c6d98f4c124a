"""Recall, precision, error and time at the threshold through every door, beside the exact truth of the same texts."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import text

import dbsim
from benchmarks import corpora, server
from benchmarks.report import Report, Target, console
from tests.integration.promise_texts import KINDS, Pairs, exact_pairs

RECALL = 0.95
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
LONGEST = 4000  # characters of a text of the corpora
GENERATED = tuple(KINDS)
PARTS = (*GENERATED, "debian", "howto", "newsgroups", "rfc")


@dataclass(frozen=True)
class Sizes:
    """Texts of each kind, thresholds, engines."""

    rows: int
    thresholds: tuple[float, ...]
    engines: tuple[str, ...]


SIZES = {
    "small": Sizes(500, (0.7,), ("sqlite",)),
    "medium": Sizes(5_000, (0.5, 0.7, 0.9), ("sqlite", "postgresql")),
    "full": Sizes(20_000, THRESHOLDS, ("sqlite", "postgresql")),
}


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("promise", asdict(sizes))
    for engine in sizes.engines:
        for part in parts:
            texts = sample(part, sizes.rows)
            for threshold in sizes.thresholds:
                console.print(f"{engine}, {part}, threshold {threshold}: {len(texts)} texts")
                with filled(engine, texts, threshold) as index:
                    measure(report, f"{part} {threshold} {engine}", index, texts, threshold)
    return report


def sample(part: str, rows: int) -> list[str]:
    """Generated texts, or neighbours of a corpus: near-duplicates lie close together there."""
    if part in GENERATED:
        return KINDS[part](np.random.default_rng([corpora.SEED, len(part)]), rows)
    found = [record["text"][:LONGEST] for record in corpora.records(part)]
    start = random.Random(corpora.SEED).randrange(max(len(found) - rows, 1))
    return found[start : start + rows]


@contextmanager
def filled(engine: str, texts: Sequence[str], threshold: float) -> Iterator[dbsim.Index]:
    with tempfile.TemporaryDirectory() as folder, _url(engine, Path(folder)) as url:
        database = dbsim.open(url, create=engine == "sqlite")
        database.upgrade()
        with database.engine.begin() as connection:
            connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
            rows = [{"id": number, "body": body} for number, body in enumerate(texts)]
            connection.execute(text("INSERT INTO articles VALUES (:id, :body)"), rows)
        index = database.create_index(
            "articles", table="articles", columns="body", threshold=threshold, recall=RECALL, secret=server.SECRET
        )
        index.sync()
        try:
            yield index
        finally:
            database.close()


@contextmanager
def _url(engine: str, folder: Path) -> Iterator[str]:
    if engine == "sqlite":
        yield f"sqlite:///{folder / 'promise.db'}"
    else:
        with server.postgres() as url:
            yield url.replace("postgresql://", "postgresql+psycopg://", 1)


def measure(report: Report, name: str, index: dbsim.Index, texts: Sequence[str], threshold: float) -> None:
    truth = exact_pairs(index._search.signer, list(texts), max(threshold - 0.2, 0.1))
    wanted = {pair for pair, value in truth.items() if value >= threshold - 1e-12}
    exactly = {pair for pair in wanted if truth[pair] - threshold < 1e-9}
    if not wanted:
        console.print(f"{name}: no pair reaches the threshold")
        return
    for door, ask in doors(index, texts).items():
        start = time.perf_counter()
        found = ask()
        seconds = time.perf_counter() - start
        hits = wanted & found.keys()
        promised = Target("≥", RECALL - 0.01, "value") if "only" not in door else None
        report.add(f"{name}: {door}, recall", len(hits) / len(wanted), "", target=promised)
        precision = Target("≥", 0.98, "value") if door in ("search", "pairs", "function") else None
        report.add(f"{name}: {door}, precision", len(hits) / max(len(found), 1), "", target=precision)
        if len(exactly) >= 50:
            share = len(exactly & found.keys()) / len(exactly)
            target = Target("≥", RECALL - 0.02, "value")
            report.add(f"{name}: {door}, of {len(exactly)} exactly at it", share, "", target=target)
        errors = [score - truth.get(pair, 0.0) for pair, score in found.items()]
        report.add(f"{name}: {door}, error of the score", float(np.sqrt(np.mean(np.square(errors or [0.0])))), "")
        report.add(f"{name}: {door}, time", 1000 * seconds / len(texts), "ms a text")
    candidates = [found.candidates for found in index.search_many(list(texts[:200]))]
    report.add(f"{name}: candidates", float(np.mean(candidates)), "a query")


def doors(index: dbsim.Index, texts: Sequence[str]) -> dict[str, Callable[[], Pairs]]:
    found: dict[str, Callable[[], Pairs]] = {
        "search": lambda: searched(index, texts, None),
        "search, estimates only": lambda: searched(index, texts, False),
        "pairs": lambda: {ordered(pair.a, pair.b): pair.score for pair in index.pairs()},
        "view": lambda: rows(index, "SELECT a, b, score FROM dbsim_articles_pairs WHERE a < b"),
    }
    if index._context.engine.dialect.name == "postgresql":
        asked = "SELECT q.id, s.id, s.score FROM articles q, LATERAL dbsim_articles_search(q.body, hits => 100) s"
        found["function"] = lambda: rows(index, f"{asked} WHERE q.id <> s.id")
    return found


def searched(index: dbsim.Index, texts: Sequence[str], verify: bool | None) -> Pairs:
    return {
        ordered(number, hit.key): hit.score
        for number, body in enumerate(texts)
        for hit in index.search(body, limit=100, verify=verify)
        if hit.key != number
    }


def rows(index: dbsim.Index, statement: str) -> Pairs:
    with index._context.engine.connect() as connection:
        return {ordered(a, b): score for a, b, score in connection.execute(text(statement))}


def ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)

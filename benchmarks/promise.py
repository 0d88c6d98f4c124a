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
from benchmarks.doors import GROUPINGS, doors, purity, with_texts, without_look
from benchmarks.report import Report, Target, console
from tests.integration.promise_texts import KINDS, Pairs, exact_pairs

RECALL, PRECISION = 0.95, 0.98
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
LONGEST = 4000  # characters of a text of the corpora
FEW = 50  # pairs: of fewer the share says nothing
GENERATED = tuple(KINDS)
LONG = ("howto", "newsgroups", "rfc")  # where the texts that are read near the threshold cost something
PARTS = (*GENERATED, "debian", *LONG)


@dataclass(frozen=True)
class Sizes:
    """Texts of each kind, thresholds, engines."""

    rows: int
    thresholds: tuple[float, ...]
    engines: tuple[str, ...]


SIZES = {
    "small": Sizes(1_000, (0.5, 0.7), ("sqlite", "postgresql")),
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
                    ratios(report, f"{part} {threshold} {engine}", index, texts, long=part in LONG)
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
    """An index as `dbsim create` makes it with nothing but a threshold."""
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
    if len(wanted) < FEW:
        console.print(f"{name}: only {len(wanted)} pairs reach the threshold")
        return
    for door, ask in doors(index, texts).items():
        start = time.perf_counter()
        found = ask()
        seconds = time.perf_counter() - start
        hits = wanted & found.keys()
        judged = door != "search, estimates only"
        recall, precision = Target("≥", RECALL - 0.01, "value"), Target("≥", PRECISION, "value")
        report.add(f"{name}: {door}, recall", len(hits) / len(wanted), "", target=recall if judged else None)
        looks = judged and door != "view"  # which cannot look at texts, and shows the standard error instead
        report.add(
            f"{name}: {door}, precision", len(hits) / max(len(found), 1), "", target=precision if looks else None
        )
        if len(exactly) >= FEW:
            share, target = len(exactly & found.keys()) / len(exactly), Target("≥", RECALL - 0.02, "value")
            what = f"{name}: {door}, of {len(exactly)} exactly at it"
            report.add(what, share, "", target=target if judged else None)
        errors = [score - truth.get(pair, 0.0) for pair, score in found.items()]
        report.add(f"{name}: {door}, error of the score", float(np.sqrt(np.mean(np.square(errors or [0.0])))), "")
        report.add(f"{name}: {door}, time", 1000 * seconds / len(texts), "ms a text")
    candidates = [found.candidates for found in index.search_many(list(texts[:200]))]
    report.add(f"{name}: candidates", float(np.mean(candidates)), "a query")
    grouped(report, name, index, truth, wanted)


def grouped(report: Report, name: str, index: dbsim.Index, truth: Pairs, wanted: set[tuple[int, int]]) -> None:
    """Of the pairs that a group puts together those that reach the threshold, and of all such pairs those together."""
    for by in GROUPINGS:
        found = purity(index.duplicates(by=by), truth, wanted)
        pure = Target("≥", 1.0, "value") if by == "complete" else None
        together = Target("≥", RECALL - 0.01, "value") if by == "components" else None
        report.add(f"{name}: {by}, purity", found.purity, "", target=pure)
        report.add(f"{name}: {by}, pairs together", found.together, "", target=together)
        report.add(f"{name}: {by}, smallest similarity in a group", found.smallest, "")


def ratios(report: Report, name: str, index: dbsim.Index, texts: Sequence[str], *, long: bool) -> None:
    """What the promise costs beside a search that ranks by estimates and looks at nothing; CPU time on SQLite."""
    some = list(texts[:: max(len(texts) // 200, 1)])
    clock = time.process_time if index._context.engine.dialect.name == "sqlite" else time.perf_counter
    whole, alone = (timed(clock, lambda v=verify: with_texts(index, some, v)) for verify in (None, False))
    report.add(
        f"{name}: search, texts where in doubt",
        1000 * whole / len(some),
        "ms",
        peer="estimates only",
        peer_value=1000 * alone / len(some),
        target=Target("≤", 1.5) if long else None,
    )
    statement, bare = (timed(clock, made) for made in without_look(index, some))
    # the order of a cut costs it nothing: it is asked for by another statement when there are too many candidates
    report.add(
        f"{name}: statement, rows looked at",
        1000 * statement / len(some),
        "ms",
        peer="candidates and scores only",
        peer_value=1000 * bare / len(some),
    )


def timed(clock: Callable[[], float], work: Callable[[], object], times: int = 5) -> float:
    """The shortest of some runs."""
    found = []
    for _ in range(times):
        start = clock()
        work()
        found.append(clock() - start)
    return min(found)

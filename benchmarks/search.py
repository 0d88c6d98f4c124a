"""Recall and latency of a search, beside pgvector's HNSW and the full popcount scan over the same bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import dbsim
from benchmarks import corpora, server
from benchmarks.asked import (
    BUILD_MINUTES,
    LIMIT,
    RECALL,
    THRESHOLD,
    Measured,
    Questions,
    ladder,
    measure,
    vector_index,
)
from benchmarks.report import Report, Target, console
from benchmarks.server import Times, timed
from dbsim.text.features import Features

LENGTH = 1500
EF_SEARCH = (40, 80, 200, 400, 800, 1000)  # pgvector's default to its largest
DEBIAN_EF = (40, 200, 400, 800, 1000)
DEBIAN_LIMIT = 1000  # all pairs are asked for, and some descriptions have hundreds of near-copies


@dataclass(frozen=True)
class Sizes:
    """Rows of the tables, families of near-copies in each, queries timed, rows of the debian table at most."""

    rows: tuple[int, ...]
    families: int
    debian: int
    debian_queries: int
    scans: int


SIZES = {
    "small": Sizes(rows=(1_000, 3_000), families=100, debian=3_000, debian_queries=60, scans=2),
    "medium": Sizes(rows=(10_000, 50_000), families=1_000, debian=30_000, debian_queries=300, scans=5),
    "full": Sizes(rows=(10_000, 100_000, 1_000_000), families=2_000, debian=124_190, debian_queries=1_000, scans=5),
}
PARTS = ("planted", "debian")


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("search", asdict(sizes) | {"characters": LENGTH, "threshold": THRESHOLD, "recall": RECALL})
    with server.postgres() as url:
        report.versions |= server.server_versions(url)
        if "planted" in parts:
            planted(report, sizes, url)
        if "debian" in parts:
            debian(report, sizes, url)
    return report


# ── planted near-copies ──
def planted(report: Report, sizes: Sizes, url: str) -> None:
    found: dict[tuple[str, int], Measured] = {}
    for rows in sizes.rows:
        data = corpora.plant(rows, LENGTH, sizes.families)
        for engine in ("postgresql", "sqlite"):
            console.print(f"{engine}, {rows:,} rows")
            with server.empty(engine, url) as database:
                index = build(database, data.rows(rows, LENGTH))
                questions = planted_questions(index, data)
                found[engine, rows] = measure(report, index, database, questions, f"{engine}, {rows:,} rows")
                if engine == "postgresql":
                    beside_hnsw(report, index, database, questions, found[engine, rows], rows)
                if rows == max(sizes.rows):
                    beside_scan(report, index, database, questions, found[engine, rows], sizes.scans, engine)
    growth(report, sizes, found)


def build(database: dbsim.Database, rows: Iterable[tuple[int, str]]) -> dbsim.Index:
    server.load(database, "documents", rows)
    index = database.create_index(
        "documents", table="documents", columns=["body"], threshold=THRESHOLD, recall=RECALL, secret=server.SECRET
    )
    index.sync()
    return index


def planted_questions(index: dbsim.Index, data: corpora.Planted) -> Questions:
    """The members of the query's family whose exact Jaccard similarity reaches the threshold."""
    signer = index.options.signer(server.SECRET)
    truth = []
    for query, family in zip(data.queries, data.members, strict=True):
        features = signer.features(0, [query, *(data.stored[member] for member in family)])
        wanted = features.of(0)
        near = (jaccard(wanted, features.of(number + 1)) >= THRESHOLD for number in range(len(family)))
        truth.append({member for member, reached in zip(family, near, strict=True) if reached})
    return Questions(data.queries, truth)


def jaccard(a: frozenset[int], b: frozenset[int]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


# ── pgvector ──
def beside_hnsw(
    report: Report, index: dbsim.Index, database: dbsim.Database, questions: Questions, ours: Measured, rows: int
) -> None:
    """HNSW over the very same column; ef_search raised until it finds as much."""
    with vector_index(database) as built:
        if built is None:
            report.add(f"HNSW, {rows:,} rows", float("nan"), "", note=f"not built in {BUILD_MINUTES} minutes")
            return
        last: tuple[int, Times, float] | None = None
        for ef, times, recall in ladder(database, index, questions, EF_SEARCH, LIMIT):
            last = ef, times, recall
            if recall >= ours.recall:
                break
        assert last is not None
        ef, times, recall = last
        reached = "" if recall >= ours.recall else ", its best"
        report.add(
            f"statement beside HNSW, {rows:,} rows",
            ours.statement.median,
            "ms",
            peer=f"HNSW ef_search {ef}",
            peer_value=times.median,
            target=Target("≤", 0.5),
            note=f"recall {ours.recall:.3f}, HNSW {recall:.3f}{reached}, p99 {times.p99:.2f}, built in {built:.0f} s",
        )


# ── the full scan ──
def beside_scan(
    report: Report,
    index: dbsim.Index,
    database: dbsim.Database,
    questions: Questions,
    ours: Measured,
    scans: int,
    engine: str,
) -> None:
    """The same scores of every row: what a search without keys would cost."""
    statement, asked = scan(index, engine, questions.texts[:scans])
    with server.cursor(database) as cursor:
        times = timed(lambda one: cursor.execute(statement, one).fetchall(), asked, 1)
    report.add(
        f"statement beside the full scan, {engine}",
        ours.statement.median,
        "ms",
        peer="popcount scan",
        peer_value=times.median,
        target=Target("≤", 0.01),
        note=f"median of {scans} scans",
    )


def scan(index: dbsim.Index, engine: str, texts: Sequence[str]) -> tuple[str, list[tuple[Any, ...]]]:
    """The statement without keys, and its parameters."""
    size = index.options.fields[0].bits
    filters = index.options.signer(server.SECRET).sign([texts]).filters[0]
    asked = [(row.tobytes(), count) for row, count in zip(filters.bits, filters.counts.tolist(), strict=True)]
    if engine == "sqlite":
        score = f"dbsim_jaccard(body_bits, body_count, ?, ?, {size})"
        arguments: list[tuple[Any, ...]] = list(asked)
    else:
        both = f"bit_count(body_bits & %s::bit({size}))::float8"
        score = f"{both} / (body_count + %s - {both})"
        arguments = [("X" + bits.hex(), count, "X" + bits.hex()) for bits, count in asked]
    return f"SELECT id, {score} AS score FROM dbsim_documents ORDER BY score DESC LIMIT {LIMIT}", arguments


def growth(report: Report, sizes: Sizes, found: dict[tuple[str, int], Measured]) -> None:
    """The largest table against the smallest, and SQLite against PostgreSQL."""
    small, large = min(sizes.rows), max(sizes.rows)
    for engine in server.ENGINES:
        report.add(
            f"statement at {large:,} rows, {engine}",
            found[engine, large].statement.median,
            "ms",
            peer=f"at {small:,}",
            peer_value=found[engine, small].statement.median,
            target=Target("≤", 3),
        )
    for rows in sizes.rows:
        report.add(
            f"SQLite's statement, {rows:,} rows",
            found["sqlite", rows].statement.median,
            "ms",
            peer="PostgreSQL",
            peer_value=found["postgresql", rows].statement.median,
            target=Target("≤", 1),
        )


# ── the duplicate-heavy table ──
def debian(report: Report, sizes: Sizes, url: str) -> None:
    """Every pair of the queries, not only planted ones."""
    texts = [record["text"] for record in corpora.records("debian")][: sizes.debian]
    questions: Questions | None = None
    for engine in ("sqlite", "postgresql"):
        console.print(f"{engine}, debian, {len(texts):,} rows")
        with server.empty(engine, url) as database:
            index = build(database, enumerate(texts, 1))
            questions = questions or debian_questions(index, texts, sizes.debian_queries)
            ours = measure(report, index, database, questions, f"{engine}, debian", DEBIAN_LIMIT)
            if engine == "postgresql":
                debian_hnsw(report, index, database, questions, ours)


def debian_questions(index: dbsim.Index, texts: list[str], count: int) -> Questions:
    """Random rows that have at least one other row with exact J ≥ threshold, by an inverted index over shingles."""
    features = index.options.signer(server.SECRET).features(0, texts)
    inverted = Inverted.of(features)
    chosen = np.random.default_rng(corpora.SEED).choice(len(texts), min(count, len(texts)), replace=False)
    found = {number: inverted.near(number) for number in chosen.tolist()}
    asked = [number for number, near in found.items() if near]
    return Questions([texts[number] for number in asked], [{near + 1 for near in found[number]} for number in asked])


@dataclass(frozen=True)
class Inverted:
    """shingle → documents, as sorted arrays of distinct (shingle, document)."""

    shingles: np.ndarray
    documents: np.ndarray
    counts: np.ndarray
    own: list[np.ndarray]

    @staticmethod
    def of(features: Features) -> Inverted:
        own = [
            np.unique(features.hashes[a:b]) for a, b in zip(features.offsets[:-1], features.offsets[1:], strict=True)
        ]
        counts = np.array([len(one) for one in own])
        shingles = np.concatenate(own)
        order = np.argsort(shingles, kind="stable")
        return Inverted(shingles[order], np.repeat(np.arange(len(own)), counts)[order], counts, own)

    def near(self, document: int) -> set[int]:
        """Other documents whose Jaccard similarity reaches the threshold."""
        mine = self.own[document]
        starts, ends = (np.searchsorted(self.shingles, mine, side=side) for side in ("left", "right"))
        shared = [self.documents[a:b] for a, b in zip(starts, ends, strict=True)]
        common = np.bincount(np.concatenate(shared), minlength=len(self.counts)) if shared else np.zeros(1)
        union = np.maximum(len(mine) + self.counts - common, 1)
        return set(np.flatnonzero(common >= THRESHOLD * union).tolist()) - {document}


def debian_hnsw(
    report: Report, index: dbsim.Index, database: dbsim.Database, questions: Questions, ours: Measured
) -> None:
    """Every step of ef_search; the first that finds as much, or the best, is the one to beat."""
    with vector_index(database) as built:
        if built is None:
            report.add("HNSW, debian", float("nan"), "", note=f"not built in {BUILD_MINUTES} minutes")
            return
        steps = list(ladder(database, index, questions, DEBIAN_EF, DEBIAN_LIMIT))
    equal = next((step for step in steps if step[2] >= ours.recall), max(steps, key=lambda step: step[2]))
    for step in steps:
        ef, times, recall = step
        never = "; its best" if recall < ours.recall else ""
        report.add(
            "statement, debian",
            ours.statement.median,
            "ms",
            peer=f"HNSW ef_search {ef}",
            peer_value=times.median,
            target=Target("≤", 0.15) if step is equal else None,
            note=f"recall {ours.recall:.3f}, HNSW {recall:.3f}, built in {built:.0f} s" + never * (step is equal),
        )

"""From texts to stored groups of a whole table: time per stage and memory, beside datasketch; growth; worst cases."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

from datasketch import MinHashLSH
from sqlalchemy import text as sql

import dbsim
from benchmarks import corpora, server
from benchmarks.index import RECALL, THRESHOLD, VALUES, WORDS, make_index, sketch
from benchmarks.report import Report, Target, console

LENGTH = 300  # characters of a text, a paragraph
COPIES, NEAR = 0.1, 0.1  # shares of exact and of edited copies
BOILERPLATE = 100  # words that all texts of the worst case share, beside 50 of their own


@dataclass(frozen=True)
class Sizes:
    """Documents of each part."""

    small: int
    large: int
    joined: int


SIZES = {
    "small": Sizes(small=2_000, large=10_000, joined=2_000),
    "medium": Sizes(small=20_000, large=200_000, joined=20_000),
    "full": Sizes(small=100_000, large=1_000_000, joined=100_000),
}
PARTS = ("stages", "growth", "identical", "boilerplate", "join")


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("dedupe", asdict(sizes) | {"characters": LENGTH, "copies": COPIES, "near": NEAR})
    with server.postgres() as url:
        report.versions |= server.server_versions(url)
        small = stages(report, sizes, url) if {"stages", "growth"} & set(parts) else {}
        for engine in server.ENGINES:
            if {"growth", "identical", "boilerplate"} & set(parts):
                worst(report, sizes, url, engine, small, parts)
        if "join" in parts:
            join(report, sizes, url)
    return report


# ── texts ──
def paragraphs(count: int) -> Iterator[str]:
    return corpora.paragraphs(count, LENGTH, COPIES, NEAR)


def boilerplate(count: int) -> Iterator[str]:
    """One long paragraph that all have, and fifty words of each one's own."""
    common = " ".join(" ".join(islice(corpora.documents(20, LENGTH), 20)).split()[:BOILERPLATE])
    for own in corpora.documents(count, LENGTH):
        yield f"{common} {own}"


# ── measured in a process of its own, for its memory ──
CHILD = """
import json, sys, time
import dbsim

target, options = sys.argv[1], json.loads(sys.argv[2])
options["secret"] = b"benchmark secret"
index = dbsim.open(target).create_index("documents", table="documents", columns=["body"], **options)

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024

start = time.perf_counter()
index.sync()
sync, sync_memory = time.perf_counter() - start, peak()
stages, last = {}, ["reading signatures", time.perf_counter()]

def progress(stage, done, total):
    now = time.perf_counter()
    stages[last[0]] = stages.get(last[0], 0.0) + now - last[1]
    last[:] = [stage, now]

found = index.duplicates(progress=progress)
progress("", 0, 0)
print(json.dumps({"sync": sync, "stages": stages, "sync_memory": sync_memory, "memory": peak(), "rows": found.rows,
                  "found": len(found), "limited": vars(found.limited)}))
"""


@dataclass(frozen=True)
class Measured:
    """Seconds and megabytes of one run from texts to stored groups."""

    sync: float
    stages: dict[str, float]
    sync_memory: float
    memory: float
    rows: int
    found: int
    limited: dict[str, int]

    @property
    def total(self) -> float:
        return self.sync + sum(self.stages.values())


def measure(engine: str, url: str, texts: Iterator[str]) -> Measured:
    options = {"words": WORDS, "threshold": THRESHOLD, "recall": RECALL}
    with server.empty(engine, url) as database:
        server.load(database, "documents", enumerate(texts, 1))
        target = database.engine.url.render_as_string(hide_password=False)
        command = [sys.executable, "-c", CHILD, target, json.dumps(options)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return Measured(**json.loads(done.stdout))


def add_stages(report: Report, one: Measured, rows: int, engine: str) -> None:
    for stage, taken in {"sync": one.sync, **one.stages}.items():
        report.add(f"{stage}, {rows} rows, {engine}", taken, "s")


# ── parts ──
def stages(report: Report, sizes: Sizes, url: str) -> dict[str, Measured]:
    """Time per stage, and all of it against datasketch's sign + insert + query of every document."""
    console.print(f"datasketch: sign, insert and query {sizes.small} texts")
    texts = list(paragraphs(sizes.small))
    peer = server.seconds(lambda: query_all(texts))
    found = {}
    for engine in server.ENGINES:
        console.print(f"{engine}: {sizes.small} texts to stored groups")
        one = found[engine] = measure(engine, url, paragraphs(sizes.small))
        add_stages(report, one, sizes.small, engine)
        report.add(
            f"texts to stored groups, {sizes.small} rows, {engine}",
            one.total,
            "s",
            peer="datasketch sign + insert + query all",
            peer_value=peer,
            target=Target("≤", 0.25),
            note=f"{one.found} groups of {one.rows} rows",
        )
    return found


def query_all(texts: list[str]) -> int:
    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=VALUES)
    sketches = [sketch(text) for text in texts]
    for number, one in enumerate(sketches):
        lsh.insert(number, one)
    return sum(len(lsh.query(one)) for one in sketches)


def worst(
    report: Report, sizes: Sizes, url: str, engine: str, small: dict[str, Measured], parts: Sequence[str]
) -> None:
    """The large table, and the same number of equal and of half equal rows."""
    console.print(f"{engine}: {sizes.large} texts to stored groups")
    large = measure(engine, url, paragraphs(sizes.large))
    add_stages(report, large, sizes.large, engine)
    limit, note = Target("≤", 500, "value"), f"after sync alone {large.sync_memory:.0f} MB"
    report.add(f"peak memory, {sizes.large} rows, {engine}", large.memory, "MB", target=limit, note=note)
    if engine in small and "growth" in parts:
        times = sizes.large / sizes.small
        report.add(
            f"growth from {sizes.small} to {sizes.large} rows, {engine}",
            large.total,
            "s",
            peer=f"{sizes.small} rows",
            peer_value=small[engine].total,
            target=Target("≤", 1.3 * times),
        )
    for kind, texts, target in (
        ("identical", iter([next(paragraphs(1))] * sizes.large), Target("≤", 2)),
        ("boilerplate", boilerplate(sizes.large), None),
    ):
        if kind in parts:
            console.print(f"{engine}: {sizes.large} rows, {kind}")
            one = measure(engine, url, texts)
            report.add(
                f"{sizes.large} rows, {kind}, {engine}",
                one.total,
                "s",
                peer="distinct rows",
                peer_value=large.total,
                target=target,
                note=f"{one.memory:.0f} MB, sync {one.sync:.1f} s, {one.found} groups of {one.rows} rows, "
                f"limited {one.limited}",
            )


def join(report: Report, sizes: Sizes, url: str) -> None:
    """Candidate pairs by a self-join on every key column, scored in the database, against streaming them out."""
    for engine in server.ENGINES:
        with server.empty(engine, url) as database:
            server.load(database, "documents", enumerate(paragraphs(sizes.joined), 1))
            index = make_index(database)
            index.sync()
            streamed = server.seconds(index.pairs)
            joined = server.seconds(lambda: self_join(database, index))  # noqa: B023
        note = "contents collapsed; the join has no protection against large buckets"
        report.add(
            f"all pairs, {sizes.joined} rows, {engine}", streamed, "s", peer="self-join", peer_value=joined, note=note
        )


def self_join(database: dbsim.Database, index: dbsim.Index) -> int:
    """Each pair in the first key column in which it agrees."""
    stored = index._tables.signatures.name
    names = index._tables.names
    bits, count = names.bits[0], names.counts[0]
    size = index.options.fields[0].bits
    if database.engine.dialect.name == "sqlite":
        score = f"dbsim_jaccard(x.{bits}, x.{count}, y.{bits}, y.{count}, {size})"
    else:

        def estimate(value: str) -> str:
            return f"(-{size} * ln(1 - least({value}, {size} - 0.5) / {size}.0::float8))"

        union = estimate(f"x.{count} + y.{count} - bit_count(x.{bits} & y.{bits})")
        score = f"({estimate(f'x.{count}')} + {estimate(f'y.{count}')} - {union}) / nullif({union}, 0)"
    pairs = 0
    with database.engine.connect() as connection:
        connection.execute(
            sql(f"CREATE TEMPORARY TABLE firsts AS SELECT min(id) AS id FROM {stored} GROUP BY fingerprint")
        )
        connection.execute(sql("CREATE UNIQUE INDEX firsts_id ON firsts (id)"))
        connection.execute(
            sql(f"CREATE TEMPORARY TABLE contents AS SELECT s.* FROM {stored} s JOIN firsts f ON f.id = s.id")
        )
        for key in names.keys:
            connection.execute(sql(f"CREATE INDEX contents_{key} ON contents ({key})"))
        if database.engine.dialect.name == "postgresql":
            connection.execute(sql("ANALYZE contents"))
        for number, key in enumerate(names.keys):
            earlier = "".join(f" AND x.{other} <> y.{other}" for other in names.keys[:number])
            statement = (
                f"SELECT count(*) FROM (SELECT {score} AS score FROM contents x JOIN contents y "
                f"ON x.{key} = y.{key} AND x.id < y.id{earlier}) s WHERE score >= {THRESHOLD}"
            )
            pairs += connection.execute(sql(statement)).scalar_one()
    return pairs

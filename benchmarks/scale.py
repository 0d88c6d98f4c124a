"""Past one core: bulk, `sync --workers`, `duplicates` of large tables and Spark, as processes: time and memory."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import corpora, server
from benchmarks.processes import Server, Spent, spend, watched
from benchmarks.report import Report, Target, console, installed

LENGTH = 450  # characters a row
COPIES, NEAR = 0.1, 0.1  # shares of exact and of edited copies
THRESHOLD, WORDS = 0.7, 3
CORES = 2  # that two workers are given
WRITTEN = 10_000  # rows written at once
# the bars hold for these numbers of rows and two cores; smaller runs have none
BULK_BARS = {2_000_000: (60, 1200), 5_000_000: (130, 1500)}  # rows: seconds, megabytes
WORKERS_BAR = (1_000_000, Target("≥", 1.7))
SPARK_BAR = (200_000, Target("≤", 50, "value"))
GROWTH_BAR, MEMORY_BAR = (5_000_000, Target("≤", 11, "value")), Target("≤", 600, "value")
SPARK = """
import sys
from pyspark.sql import SparkSession
from dbsim.spark import duplicates
builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.shuffle.partitions", "4").config("spark.driver.host", "127.0.0.1").getOrCreate()
groups = duplicates(spark.read.parquet(sys.argv[1]), key="id", columns="body", threshold=float(sys.argv[2]))
groups.write.parquet(sys.argv[3])
spark.stop()
"""


@dataclass(frozen=True)
class Sizes:
    """Rows of each part; `peer` of datasketch, which takes one core and memory for all."""

    bulk: tuple[int, ...]
    synced: int
    peer: int
    spark: int
    grown: tuple[int, int]  # a table and one of ten times its size


SIZES = {
    "small": Sizes(bulk=(10_000,), synced=3_000, peer=1_000, spark=1_000, grown=(500, 5_000)),
    "medium": Sizes(bulk=(200_000,), synced=200_000, peer=20_000, spark=20_000, grown=(20_000, 200_000)),
    "full": Sizes(
        bulk=(200_000, 2_000_000, 5_000_000), synced=1_000_000, peer=200_000, spark=200_000, grown=(500_000, 5_000_000)
    ),
}
PARTS = ("bulk", "workers", "grown", "spark")


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("scale", asdict(sizes) | {"characters": LENGTH, "copies": COPIES, "near": NEAR})
    if "bulk" in parts:
        rate = datasketch_rate(sizes.peer)
        for rows in sizes.bulk:
            bulk(report, rows, sizes, rate)
    if "workers" in parts:
        with server.postgres() as url:
            report.versions |= server.server_versions(url)
            for engine in server.ENGINES:
                workers(report, sizes, url, engine)
    if "grown" in parts:
        with server.postgres() as url:
            for engine in server.ENGINES:
                grown(report, sizes, url, engine)
    if "spark" in parts and installed("pyspark"):
        spark(report, sizes.spark)
    return report


# ── a database ten times as large ──
def grown(report: Report, sizes: Sizes, url: str, engine: str) -> None:
    spent = [_deduplicated(engine, url, rows) for rows in sizes.grown]
    rows, bar = GROWTH_BAR
    there = sizes.grown[1] >= rows
    what = f"sync and duplicates, {engine}, {sizes.grown[1]:,} rows"
    seconds = [one.seconds for one in spent]
    note = f"{seconds[0]:.1f} s for {sizes.grown[0]:,} rows, {seconds[1]:.1f} s; two processes, start-up included"
    report.add(f"{what} against a tenth", seconds[1] / seconds[0], "times", target=bar if there else None, note=note)
    report.add(f"peak memory, {what}", spent[1].megabytes, "MB", target=MEMORY_BAR if there else None)


def _deduplicated(engine: str, url: str, rows: int) -> Spent:
    console.print(f"{engine}: sync and duplicates, {rows:,} rows")
    with server.empty(engine, url) as database:
        server.load(database, "documents", enumerate(corpora.paragraphs(rows, LENGTH, COPIES, NEAR), 1))
        how = {"words": WORDS, "threshold": THRESHOLD, "secret": server.SECRET}
        database.create_index("documents", table="documents", columns="body", **how)
        target = database.engine.url.render_as_string(hide_password=False)
        sync = spend("sync", target, "documents")
        duplicates = spend("duplicates", target, "documents", "--json")
    cpu = sync.cpu + duplicates.cpu
    return Spent(sync.seconds + duplicates.seconds, max(sync.megabytes, duplicates.megabytes), cpu)


# ── Spark ──
def spark(report: Report, rows: int) -> None:
    console.print(f"Spark, {rows:,} rows")
    with tempfile.TemporaryDirectory(prefix="dbsim-bench-") as folder:
        source, groups = Path(folder) / "rows.parquet", Path(folder) / "groups"
        write(source, rows)
        taken = watched([sys.executable, "-c", SPARK, str(source), str(THRESHOLD), str(groups)], "Spark")
        found = sum(pq.read_metadata(part).num_rows for part in groups.glob("*.parquet"))
    least, bar = SPARK_BAR
    note = f"{found:,} rows in groups; two executors of one core, start of the session included"
    report.add(f"Spark, {rows:,} rows", taken.seconds, "s", target=bar if rows >= least else None, note=note)
    report.add(f"peak memory of it, {rows:,} rows", taken.megabytes, "MB", note="all processes together")


# ── bulk ──
def bulk(report: Report, rows: int, sizes: Sizes, rate: float | None) -> None:
    console.print(f"bulk duplicates, {rows:,} rows")
    with tempfile.TemporaryDirectory(prefix="dbsim-bench-") as folder:
        source, groups = Path(folder) / "rows.parquet", Path(folder) / "groups.parquet"
        write(source, rows)
        options = ("--column", "body", "--key", "id", "--words", str(WORDS), "--threshold", str(THRESHOLD))
        spent = spend("bulk", "duplicates", str(source), *options, "--workers", "2", "--out", str(groups))
        found = pq.read_metadata(groups).num_rows
    seconds, megabytes = BULK_BARS.get(rows, (None, None))
    note = f"{found:,} rows in groups; start-up, reading and writing Parquet included; 2 workers"
    report.add(f"bulk duplicates of {rows:,} rows", spent.seconds, "s", target=_most(seconds), note=note)
    what = "all processes together, proportional set size"
    report.add(f"peak memory of it, {rows:,} rows", spent.megabytes, "MB", target=_most(megabytes), note=what)
    beside = {"peer": "datasketch, sign + LSH insert and query", "peer_value": rate} if rate else {}
    note = (
        f"datasketch on one core, in memory, rate over {sizes.peer:,} rows" if rate else "datasketch is not installed"
    )
    report.add(f"bulk duplicates, {rows:,} rows", rows / spent.seconds, "rows/s", note=note, **beside)


def _most(number: float | None) -> Target | None:
    return None if number is None else Target("≤", number, "value")


def write(path: Path, rows: int) -> None:
    """Parquet of (id, body), a slice at a time."""
    schema = pa.schema([("id", pa.int64()), ("body", pa.string())])
    texts = corpora.paragraphs(rows, LENGTH, COPIES, NEAR)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, WRITTEN):
            keys = range(start, min(start + WRITTEN, rows))
            writer.write_table(pa.table([list(keys), [next(texts) for _ in keys]], schema=schema))


def datasketch_rate(rows: int) -> float | None:
    """Rows a second of the same task as far as datasketch does it: signatures, buckets, candidates of every row."""
    if not (installed("datasketch") and installed("rensa")):
        return None
    from datasketch import MinHashLSH

    from benchmarks.index import VALUES, sketch  # needs both peers

    texts = list(corpora.paragraphs(rows, LENGTH, COPIES, NEAR))

    def work() -> None:
        lsh = MinHashLSH(threshold=THRESHOLD, num_perm=VALUES)
        sketches = [sketch(text) for text in texts]
        for number, made in enumerate(sketches):
            lsh.insert(number, made)
        for made in sketches:
            lsh.query(made)

    console.print(f"datasketch, {rows:,} rows")
    return rows / server.seconds(work)


# ── sync --workers ──
def workers(report: Report, sizes: Sizes, url: str, engine: str) -> None:
    """The same table twice, filled by one process and by two; and what two cores allow, whatever is done with them."""
    spent: dict[int, Spent] = {}
    busy: dict[int, float] = {}  # seconds of CPU, the server's among them
    for count in (1, 2):
        console.print(f"{engine}: sync --workers {count}, {sizes.synced:,} rows")
        with server.empty(engine, url) as database:
            server.load(database, "documents", enumerate(corpora.paragraphs(sizes.synced, LENGTH, COPIES, NEAR), 1))
            index = database.create_index(
                "documents", table="documents", columns="body", words=WORDS, threshold=THRESHOLD, secret=server.SECRET
            )
            target = database.engine.url.render_as_string(hide_password=False)
            theirs = Server.of(database)
            spent[count] = spend("sync", target, "documents", "--workers", str(count))
            busy[count] = spent[count].cpu + theirs.since()
            if index.status().state != "ready":
                raise SystemExit("sync left the index unfinished")
    rows, bar = WORKERS_BAR
    rates = {count: sizes.synced / one.seconds for count, one in spent.items()}
    alone = busy[1] / spent[1].seconds
    note = (
        f"start-up and index builds included; of {CORES} cores, one worker keeps {alone:.2f} busy, so at most "
        f"{CORES / alone:.2f} ×; CPU {busy[1]:.1f} s and {busy[2]:.1f} s, of which {spent[1].cpu:.1f} and "
        f"{spent[2].cpu:.1f} the client; its memory {spent[1].megabytes:.0f} and {spent[2].megabytes:.0f} MB"
    )
    report.add(
        f"sync --workers 2, {engine}, {sizes.synced:,} rows",
        rates[2],
        "rows/s",
        peer="--workers 1",
        peer_value=rates[1],
        target=bar if sizes.synced >= rows else None,
        note=note,
    )

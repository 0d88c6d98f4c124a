"""From text to searchable rows: signing, sync with all indexes, peak memory; beside datasketch and rensa."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import numpy as np
from datasketch import MinHash, MinHashLSH
from rensa import RMinHash

import dbsim
from benchmarks import corpora, server
from benchmarks.report import Report, Target, console
from dbsim.choosing import resolve
from dbsim.hashing.signer import Signer
from dbsim.options import Field, IndexOptions

WORDS = 3
LENGTH = 1500  # characters a text
VALUES = 128  # of the peers' MinHash; dbsim's plan for threshold 0.7 and recall 0.95 has 144
THRESHOLD, RECALL = 0.7, 0.95
MEMORY_LENGTH = 300
BATCH = 1000  # texts signed in one call, as `sync` does
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Sizes:
    """Documents of each part."""

    signed: int
    rounds: int
    synced: int
    peer: int
    memory: int


SIZES = {
    "small": Sizes(signed=300, rounds=2, synced=1_000, peer=300, memory=3_000),
    "medium": Sizes(signed=3_000, rounds=3, synced=20_000, peer=5_000, memory=100_000),
    "full": Sizes(signed=10_000, rounds=5, synced=100_000, peer=20_000, memory=1_000_000),
}
PARTS = ("signing", "sync", "memory")


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("index", asdict(sizes) | {"characters": LENGTH, "shingle": WORDS, "batch": BATCH})
    with server.postgres() as url:
        report.versions |= server.server_versions(url)
        if "signing" in parts:
            signing(report, sizes)
        if "sync" in parts:
            searchable(report, sizes, url)
        if "memory" in parts:
            memory(report, sizes, url)
    return report


# ── signing ──
def signing(report: Report, sizes: Sizes) -> None:
    """Documents a second on one core; rounds of all sides in turn, so that a busy moment hits none alone."""
    texts = corpora.passages(sizes.signed, LENGTH)
    options = signing_options(texts)
    sides: dict[str, Callable[[], object]] = {
        # a new signer each round: one that remembers the words of these texts would sign them faster than new ones
        "dbsim": lambda: sign(options.signer(server.SECRET), texts),
        "datasketch": lambda: [sketch(text) for text in texts],
        "datasketch bulk": lambda: MinHash.bulk((encoded(text) for text in texts), num_perm=VALUES),
        "rensa": lambda: [rensa_digest(text) for text in texts],
        "rensa batch": lambda: rensa_batches(texts),
    }
    console.print(f"signing {len(texts)} texts, {sizes.rounds} rounds")
    with one_core():
        for side in sides.values():  # lookup tables, first-call costs
            side()
        taken = {name: [] for name in sides}
        for _ in range(sizes.rounds):
            for name, side in sides.items():
                taken[name].append(server.seconds(side))
    rate = {name: len(texts) / float(np.median(times)) for name, times in taken.items()}
    targets = {"datasketch": Target("≥", 5), "rensa": Target("≥", 1.3)}
    for peer in list(sides)[1:]:
        note = "fingerprint, keys and filter included; same words and shingles, one core"
        report.add(
            "signing",
            rate["dbsim"],
            "documents/s",
            peer=peer,
            peer_value=rate[peer],
            target=targets.get(peer),
            note=note,
        )


def signing_options(texts: Sequence[str]) -> IndexOptions:
    """Of an index on these texts."""
    field = resolve(Field(columns=("body",), unit="words", size=WORDS), texts[:1000], THRESHOLD)
    return IndexOptions(name="x", table="x", fields=(field,), threshold=THRESHOLD, recall=RECALL).with_plan()


def sign(signer: Signer, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), BATCH):
        signer.sign([texts[start : start + BATCH]])


def shingles(text: str) -> list[str]:
    words = _WORD.findall(text.lower())
    return [" ".join(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)]


def encoded(text: str) -> list[bytes]:
    return [shingle.encode() for shingle in shingles(text)]


def sketch(text: str) -> MinHash:
    made = MinHash(num_perm=VALUES)
    made.update_batch(encoded(text))
    return made


def rensa_digest(text: str) -> object:
    made = RMinHash(num_perm=VALUES, seed=42)
    made.update(shingles(text))
    return made.digest()


def rensa_batches(texts: Sequence[str]) -> None:
    for start in range(0, len(texts), BATCH):
        RMinHash.digests_from_token_sets([shingles(text) for text in texts[start : start + BATCH]], VALUES, 42)


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


# ── text to searchable rows ──
def searchable(report: Report, sizes: Sizes, url: str) -> None:
    """create_index and sync on a table that is there, all B-trees included; the peer keeps everything in memory."""
    texts = corpora.passages(sizes.synced, LENGTH)
    console.print(f"datasketch: sign and insert {sizes.peer} texts")
    peer = sizes.peer / server.seconds(lambda: fill_lsh(texts[: sizes.peer]))
    for engine, target in (("postgresql", 4), ("sqlite", 3)):
        console.print(f"{engine}: sync {sizes.synced} texts")
        with server.empty(engine, url) as database:
            server.load(database, "documents", enumerate(texts, 1))
            taken = server.seconds(lambda: make_index(database).sync())
        report.add(
            f"text to searchable rows, {engine}",
            sizes.synced / taken,
            "documents/s",
            peer="datasketch sign + LSH insert",
            peer_value=peer,
            target=Target("≥", target),
            note=f"create_index + sync of {sizes.synced} rows; datasketch in memory, rate over {sizes.peer}",
        )


def make_index(database: dbsim.Database) -> dbsim.Index:
    return database.create_index(
        "documents",
        table="documents",
        columns=["body"],
        words=WORDS,
        threshold=THRESHOLD,
        recall=RECALL,
        secret=server.SECRET,
    )


def fill_lsh(texts: Sequence[str]) -> MinHashLSH:
    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=VALUES)
    for number, text in enumerate(texts):
        lsh.insert(number, sketch(text))
    return lsh


# ── memory ──
PROBE = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(json.dumps([code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))
"""


def memory(report: Report, sizes: Sizes, url: str) -> None:
    """Peak resident memory of the process `dbsim sync`."""
    for engine in server.ENGINES:
        console.print(f"{engine}: memory of dbsim sync, {sizes.memory} texts")
        with server.empty(engine, url) as database:
            server.load(database, "documents", enumerate(corpora.documents(sizes.memory, MEMORY_LENGTH), 1))
            make_index(database)
            peak = peak_memory("sync", database.engine.url.render_as_string(hide_password=False), "documents")
            if not database.index("documents").status().state == "ready":
                raise SystemExit("sync left the index unfinished")
        report.add(
            f"peak memory of dbsim sync, {engine}",
            peak,
            "MB",
            target=Target("≤", 400, "value"),
            note=f"{sizes.memory} documents of {MEMORY_LENGTH} characters; the client process",
        )


def peak_memory(*arguments: str) -> float:
    """Megabytes of `dbsim …`, through a small process between: a child's peak counts that of whoever forked it."""
    command = [sys.executable, "-c", PROBE, sys.executable, "-c", "from dbsim.cli import main; main()", *arguments]
    code, kilobytes = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    if code:
        raise SystemExit(f"dbsim {arguments[0]} ended with exit code {code}")
    return kilobytes / 1024

"""Every page of `dbsim serve`: time to the first byte beside a search of the same data, and the memory it takes."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from urllib.parse import quote, urlsplit

import numpy as np
import psutil

import dbsim
from benchmarks import server
from benchmarks.report import Report, Target, console
from benchmarks.server import timed
from dbsim.dedupe.results import Duplicates

BAR, MEMORY = Target("≤", 10), Target("≤", 200, "value")
WORDS, CHANGED = 40, 3  # of a text, and of those in a near-copy
DECISIONS = 1000
WARM = 8.0  # seconds in which the figures of whole tables are counted for the first time


@dataclass(frozen=True)
class Sizes:
    """Rows, a tenth of which begin a group of three; requests a page."""

    rows: int
    requests: int


SIZES = {"small": Sizes(5_000, 20), "medium": Sizes(50_000, 50), "full": Sizes(1_000_000, 200)}
PARTS = server.ENGINES


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("web", asdict(sizes) | {"words": WORDS, "decisions": DECISIONS})
    with server.postgres() as url:
        report.versions |= server.server_versions(url)
        for engine in parts:
            with server.empty(engine, url) as database:
                measure(report, sizes, engine, database)
    return report


def texts(rows: int) -> Iterator[tuple[int, str]]:
    """Of ten rows three are near-copies of one text: a tenth as many groups as rows."""
    rng = np.random.default_rng(15)
    lexicon = np.array([f"w{number:x}" for number in range(50_000)])
    for start in range(0, rows, 10):
        words = lexicon[rng.zipf(1.2, (10, WORDS)) % len(lexicon)]
        words[1:3] = words[0]
        for copy in (1, 2):
            words[copy, :CHANGED] = lexicon[rng.integers(len(lexicon), size=CHANGED)]
        for place, line in enumerate(words.tolist()):
            yield start + place + 1, " ".join(line)


def measure(report: Report, sizes: Sizes, engine: str, database: dbsim.Database) -> None:
    server.load(database, "articles", texts(sizes.rows))
    index = database.create_index("articles", table="articles", columns=["body"], threshold=0.5, secret=server.SECRET)
    index.sync()
    groups = index.duplicates()
    for number, group in zip(range(DECISIONS), groups, strict=False):  # of different groups, so that none contradicts
        one, two = (hit.key for hit in group.members[:2])
        index.decide(one, two, ("same", "different", "unsure")[number % 3])
    index.sync()
    console.print(f"{engine}: {sizes.rows:,} rows, {len(groups):,} groups")
    keys = np.random.default_rng(1).integers(1, sizes.rows, sizes.requests).tolist()
    asked = [text or "" for text in index.texts(keys)]
    search = timed(lambda text: index.search(text), asked)
    report.add(f"{engine}: a search", search.median, "ms")
    with serving(database.url) as (process, address):
        for name, paths in pages(address, asked, groups).items():
            visit(address, paths[:2])
            time.sleep(0 if name in ("search", "group") else WARM * sizes.rows / 1_000_000)
            taken = float(np.median(visit(address, paths))) * 1e3
            report.add(f"{engine}: {name}", taken, "ms", peer="a search", peer_value=search.median, target=BAR)
        used = psutil.Process(process.pid).memory_info().rss / 1e6
        report.add(f"{engine}: memory of the server", used, "MB", target=MEMORY)


def pages(address: str, asked: Sequence[str], groups: Duplicates) -> dict[str, list[str]]:
    """Name → addresses without the host, as many as requests."""
    count = len(asked)
    numbers = [group.id for group, _ in zip(groups, range(count), strict=False)]
    shown = {name: f"/duplicates?index=articles&sort={name}" for name in ("size", "score", "diameter")}
    found = {f"duplicates by {name}": [path] * count for name, path in shown.items()}
    found |= {name: [f"/{name}?index=articles"] * count for name in ("review", "decisions", "statistics")}
    return {
        "overview": ["/"] * count,
        "search": [f"/search?index=articles&q={quote(text)}" for text in asked],
        "group": [f"/group?index=articles&id={number}" for number in numbers],
        **found,
    }


@contextmanager
def serving(url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "dbsim", "serve", url, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout is not None
        found = re.search(r"open (\S+)", process.stdout.readline())
        assert found, "the server prints its address"
        try:
            yield process, found[1]
        finally:
            process.terminate()


def visit(address: str, paths: Sequence[str]) -> list[float]:
    """Seconds to the first byte of each, on one connection, with the cookie of the first."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=600)
    connection.request("GET", f"{parts.path}?{parts.query}")
    entrance = connection.getresponse()
    entrance.read()
    cookie = (entrance.getheader("set-cookie") or "").split(";")[0]
    taken = []
    for path in paths:
        began = time.perf_counter()
        connection.request("GET", path, headers={"cookie": f"{cookie}; dbsim_browser=benchmark"})
        answer = connection.getresponse()
        answer.read(1)
        taken.append(time.perf_counter() - began)
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path} answered {answer.status}")
    return taken


if __name__ == "__main__":
    from benchmarks.__main__ import alone

    alone("web")

"""Writers, searchers, followers, deciders and changes of options at once, all killed at random: as long as told.

    python -m tests.reliability.campaign --minutes 10      both engines, half of the time each
    python -m tests.reliability.campaign --minutes 60 --soak      nobody is killed; does the memory of anyone grow?

After every round the index is compared with a build from scratch, byte for byte, and its groups with a run from
nothing. What is printed: rounds, SIGKILLs, what was done, errors that reached somebody, the largest processes. Exit
code 1 when anything differed or an error was told that is not true.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

import psycopg
from sqlalchemy import make_url

import dbsim
from dbsim.errors import Contradiction, UnknownKey
from tests.articles import forget_pairs, stored_groups, stored_pairs
from tests.conftest import SECRET
from tests.integration.helpers import articles, near_copy, sentence
from tests.oracle import assert_in_step
from tests.postgres_server import postgres_server
from tests.reliability.harness import Application

ROWS, FAMILIES = 120, 12
ROUND = 6.0  # seconds between two comparisons
CAST = {"write": 4, "search": 2, "follow": 2, "decide": 1, "change": 1}  # how many of each
SOAKED = {"write": 8, "search": 4, "follow": 2, "decide": 1, "change": 1}
LISTEN = 2.0  # seconds between two looks at what was told
GROWTH = 1.2  # of the largest process of a kind, from the second quarter of a soak to its last
TRUE = re.compile(r"was changed by somebody else|is locked by|is not filled yet|has no row with|there is no row")
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["dbsim", "tests.reliability.campaign"])


def body(chance: random.Random) -> str:
    return near_copy(chance.randrange(FAMILIES), chance.randrange(12))


# ── who takes part ──
def write(url: str, chance: random.Random) -> Iterator[None]:
    with Application(url) as app:
        while True:
            key = 1 + chance.randrange(ROWS)
            if chance.random() < 0.2:
                app.execute("DELETE FROM articles WHERE id = ?", key)
            else:
                upsert = "INSERT INTO articles VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body"
                app.execute(upsert, key, body(chance))
            yield


def search(url: str, chance: random.Random) -> Iterator[None]:
    with dbsim.open(url) as database:
        index = database.index("articles")
        while True:
            index.search(sentence(chance.randrange(FAMILIES)))
            yield


def follow(url: str, chance: random.Random) -> Iterator[None]:
    with dbsim.open(url) as database:
        index = database.index("articles")
        while True:
            index.sync()
            yield


def decide(url: str, chance: random.Random) -> Iterator[None]:
    with dbsim.open(url) as database:
        index = database.index("articles")
        while True:
            one, two = chance.sample(range(1, ROWS + 1), 2)
            with suppress(Contradiction, UnknownKey):
                index.decide(one, two, chance.choice(["same", "different", "unsure"]))
            yield


def change(url: str, chance: random.Random) -> Iterator[None]:
    with dbsim.open(url) as database:
        while True:
            index = database.index("articles")
            if chance.random() < 0.2:
                index.alter(keys=chance.choice([4, 6, 8]), rows=2)
            else:
                index.duplicates(by=chance.choice(["components", "tight"]), threshold=0.6)
            yield


def play(part: str, url: str, seed: int, log: str) -> None:
    """Until killed; tells how often it did what it does, what went wrong, and its memory."""
    chance, done = random.Random(seed), 0
    steps: Callable[[str, random.Random], Iterator[None]] = globals()[part]
    while True:
        try:
            for _ in steps(url, chance):
                done += 1
                if done % 20 == 0:
                    tell(log, part, "")
                time.sleep(0.002 if part == "write" else 0.0)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is told
            if not (isinstance(error, dbsim.DbsimError) and TRUE.search(str(error))):
                tell(log, part, f"{type(error).__name__}: {error}"[:300] + place_of(error))


def place_of(error: BaseException) -> str:
    """The last line of dbsim's that it came through."""
    lines = [one for one in traceback.extract_tb(error.__traceback__) if f"{os.sep}dbsim{os.sep}" in one.filename]
    return f" ({Path(lines[-1].filename).name}:{lines[-1].lineno} {lines[-1].name})" if lines else ""


def tell(log: str, part: str, error: str) -> None:
    """One short write, so that whoever is killed leaves a whole line or none."""
    line = json.dumps([part, memory(), error]) + "\n"
    number = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(number, line.encode())
    os.close(number)


def memory() -> int:
    """Resident, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


# ── the play ──
class Campaign:
    """One engine."""

    def __init__(self, url: str, log: Path) -> None:
        self.url, self.log, self.read = url, log, 0
        self.kills, self.rounds, self.done = 0, 0, Counter[str]()
        self.errors, self.most = Counter[str](), Counter[str]()
        self.chance, self.seed, self.different = random.Random(7), 0, 0
        self.quarters: list[Counter[str]] = []  # of a soak: the largest process of each kind

    def run(self, seconds: float, *, soak: bool) -> None:
        with dbsim.open(self.url, create=True) as database:
            database.upgrade()
            articles(database.engine, {key: body(self.chance) for key in range(1, ROWS + 1)})
            index = database.create_index(
                "articles", table="articles", columns="body", words=2, threshold=0.6, rows=2, keys=4, secret=SECRET
            )
            index.sync()
            index.duplicates(by="components", threshold=0.6, publish=True)
            if soak:
                self.soak(seconds)
                self.compare(database)
                return
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self.round(min(ROUND, max(end - time.monotonic(), 1.0)))
                self.compare(database)

    def round(self, seconds: float) -> None:
        cast = [(part, self.start(part)) for part, count in CAST.items() for _ in range(count)]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(self.chance.uniform(0.0, 0.25))
            place = self.chance.randrange(len(cast))
            self.kill(cast[place][1])
            cast[place] = (cast[place][0], self.start(cast[place][0]))
            self.listen()
        for _, process in cast:
            self.kill(process)
        self.listen()

    def soak(self, seconds: float) -> None:
        cast = [self.start(part) for part, count in SOAKED.items() for _ in range(count)]
        for _ in range(4):
            self.most, end = Counter(), time.monotonic() + seconds / 4
            while time.monotonic() < end:
                time.sleep(LISTEN)
                self.listen()
            self.quarters.append(self.most)
        self.errors["ended by itself"] += sum(not process.is_alive() for process in cast)
        self.errors += Counter()  # without zeros
        for process in cast:
            self.kill(process)

    def start(self, part: str) -> BaseProcess:
        self.seed += 1
        process = processes.Process(target=play, args=(part, self.url, self.seed, str(self.log)), daemon=True)
        process.start()
        return process

    def kill(self, process: BaseProcess) -> None:
        process.kill()
        process.join()
        self.kills += process.exitcode == -signal.SIGKILL

    def listen(self) -> None:
        if not self.log.exists():
            return
        with self.log.open("rb") as file:
            file.seek(self.read)
            lines = file.read().splitlines(keepends=True)
        for line in lines:
            if not line.endswith(b"\n"):  # being written
                break
            part, size, error = json.loads(line)
            self.read += len(line)
            self.done[part] += 0 if error else 20
            self.most[part] = max(self.most[part], size)
            if error:
                self.errors[f"{part}: {error}"] += 1

    def compare(self, database: dbsim.Database) -> None:
        self.rounds += 1
        database.index("articles").sync()
        try:
            assert_in_step(database, "articles")
            database.index("articles").duplicates(by="components", threshold=0.6, publish=True)
            before = stored_groups(database), stored_pairs(database)
            forget_pairs(database)
            database.index("articles").duplicates(by="components", threshold=0.6, publish=True)
            assert (stored_groups(database), stored_pairs(database)) == before
        except AssertionError as error:
            self.different += 1
            print(f"DIFFERS in round {self.rounds}: {str(error)[:500]}")

    def report(self, engine: str) -> bool:
        done = ", ".join(f"{count} {part}" for part, count in sorted(self.done.items()))
        most = ", ".join(f"{part} {size} MB" for part, size in sorted(self.most.items()))
        print(f"{engine}: {self.rounds} rounds, {self.kills} SIGKILLs, about {done}; {self.different} rounds differed")
        print(f"  largest processes: {most}")
        grown = False
        if self.quarters:
            parts = [[(part, quarter[part]) for quarter in self.quarters] for part in SOAKED]
            print("  by quarters: " + "; ".join(f"{p[0][0]} {', '.join(str(size) for _, size in p)} MB" for p in parts))
            grown = any(p[3][1] > GROWTH * p[1][1] for p in parts)
        for error, count in self.errors.most_common():
            print(f"  {count} × {error}")
        return not self.different and not self.errors and not grown


@contextmanager
def places() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="dbsim-campaign-") as folder, postgres_server() as server:
        name = f"campaign_{uuid.uuid4().hex[:8]}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        url = make_url(server).set(database=name).render_as_string(hide_password=False)
        yield {"sqlite": f"sqlite:///{folder}/campaign.db", "postgresql": url}
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--soak", action="store_true")
    asked = parser.parse_args()
    good = True
    with places() as found, tempfile.TemporaryDirectory(prefix="dbsim-campaign-") as folder:
        for engine, url in found.items():
            campaign = Campaign(url, Path(folder) / engine)
            campaign.run(asked.minutes * 60 / len(found), soak=asked.soak)
            good &= campaign.report(engine)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

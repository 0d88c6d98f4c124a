"""How often a reader of one verb changes rooms: `python -m tools.count_hops` → hops between packages a verb.

A hop is a call from a function of one package of dbsim to a function of another, and every call counts, also the
hundredth of the same function: on the tree of 16 November, before it had its rooms, that gives 137 hops for a first
sync, 59 for a search of three rows and 145 from an UPDATE to groups (the issue that asked for fewer says 167, 59, 142).
A package is a folder directly under dbsim/; modules beside those folders are one together. Roads are hops of different
pairs of functions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import dbsim
from dbsim.sync.filling import fill

ROOT = Path(dbsim.__file__).parent
ROWS = 8
SECRET = b"the same buckets"  # in every run
TEXT = "near duplicate search in the database people already have finds rows that are almost like this one"
WORDS = TEXT.split()
Hop = tuple[str, str]


class Hops:
    """A profile function that counts each pair of functions in different packages."""

    def __init__(self) -> None:
        self.seen: Counter[Hop] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        callee = _place(frame)
        caller = frame.f_back
        while caller is not None and _place(caller) is None:
            caller = caller.f_back  # through SQLAlchemy, numpy or the standard library
        if callee is None or caller is None or (place := _place(caller)) is None:
            return
        if place[0] != callee[0]:
            self.seen[place[1], callee[1]] += 1


def _place(frame: FrameType) -> tuple[str, str] | None:
    """Package and function of a frame of dbsim's, or None."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(ROOT):
        return None
    parts = path.relative_to(ROOT).with_suffix("").parts
    return (parts[0] if len(parts) > 1 else "dbsim"), f"{'/'.join(parts)}:{frame.f_code.co_qualname}"


def counted(work: Callable[[], Any]) -> Counter[Hop]:
    hops = Hops()
    sys.setprofile(hops)
    try:
        work()
    finally:
        sys.setprofile(None)
    return hops.seen


@contextmanager
def patient() -> Iterator[None]:
    """However slow the machine is: a filling ends a transaction by the clock."""
    before, fill.AIM = fill.AIM, 60.0
    try:
        yield
    finally:
        fill.AIM = before


def measure(rows: int = ROWS) -> dict[str, Counter[Hop]]:
    """The three walks of a newcomer, on a SQLite file."""
    with tempfile.TemporaryDirectory() as folder, patient():
        database = dbsim.open(Path(folder) / "walk.db", create=True)
        database.upgrade()
        with database.engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
            for number in range(rows):
                body = " ".join(WORDS[(number // 2 + place) % len(WORDS)] for place in range(15))
                connection.exec_driver_sql("INSERT INTO articles VALUES (?, ?)", (number, body))
        index = database.create_index("articles", table="articles", columns=["body"], secret=SECRET)
        found = {"first sync": counted(index.sync), "search": counted(lambda: index.search(TEXT))}
        list(index.duplicates())
        with database.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE articles SET body = ? WHERE id = 7", (TEXT,))
        found["UPDATE to groups"] = counted(index.sync)
        database.engine.dispose()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="every road with its hops, not only how many")
    listed = parser.parse_args().list
    for verb, hops in measure().items():
        print(f"{verb}: {hops.total()} hops on {len(hops)} roads")
        rooms: Counter[Hop] = Counter()
        for (a, b), count in hops.items():
            rooms[_room(a), _room(b)] += count
        for (a, b), count in rooms.most_common():
            print(f"  {count:4} {a} → {b}")
        if listed:
            print("\n".join(f"       {count:4} {a} → {b}" for (a, b), count in hops.most_common()))


def _room(function: str) -> str:
    return function.split("/")[0] if "/" in function else "dbsim"


if __name__ == "__main__":
    main()

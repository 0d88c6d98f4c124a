"""How often a reader of one verb changes rooms: `python -m tools.count_hops` → hops between packages a verb.

A hop is a call from a function of one package of dbsim to a function of another; the same two functions count once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import dbsim

ROOT = Path(dbsim.__file__).parent
WORDS = [
    "near",
    "duplicate",
    "search",
    "in",
    "the",
    "database",
    "people",
    "already",
    "have",
    "finds",
    "rows",
    "that",
    "are",
    "almost",
    "like",
    "this",
    "one",
]


class Hops:
    """A profile function that remembers each pair of functions in different packages once."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()

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
            self.seen.add((".".join(place), ".".join(callee)))


def _place(frame: FrameType) -> tuple[str, str] | None:
    """Package and function of a frame of dbsim's, or None."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(ROOT):
        return None
    parts = path.relative_to(ROOT).with_suffix("").parts
    return (parts[0] if len(parts) > 1 else "dbsim"), f"{'.'.join(parts)}:{frame.f_code.co_qualname}"


def counted(work: Callable[[], Any]) -> set[tuple[str, str]]:
    hops = Hops()
    sys.setprofile(hops)
    try:
        work()
    finally:
        sys.setprofile(None)
    return hops.seen


def measure() -> dict[str, set[tuple[str, str]]]:
    """The three walks of a newcomer, on a SQLite file."""
    with tempfile.TemporaryDirectory() as folder:
        database = dbsim.open(Path(folder) / "walk.db", create=True)
        database.upgrade()
        with database.engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
            for number in range(60):
                body = " ".join(WORDS[(number // 2 + place) % len(WORDS)] for place in range(15))
                connection.exec_driver_sql("INSERT INTO articles VALUES (?, ?)", (number, body))
        index = database.create_index("articles", table="articles", columns=["body"])
        found = {"first sync": counted(index.sync), "search": counted(lambda: index.search(" ".join(WORDS)))}
        list(index.duplicates())
        with database.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE articles SET body = ? WHERE id = 7", (" ".join(WORDS),))
        found["UPDATE to groups"] = counted(index.sync)
        database.engine.dispose()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="every hop, not only how many")
    listed = parser.parse_args().list
    for verb, hops in measure().items():
        print(f"{verb}: {len(hops)} hops")
        for rooms, count in Counter((a.split(".")[0], b.split(".")[0]) for a, b in hops).most_common():
            print(f"  {count:4} {rooms[0]} → {rooms[1]}")
        if listed:
            print("\n".join(f"       {a} → {b}" for a, b in sorted(hops)))


if __name__ == "__main__":
    main()

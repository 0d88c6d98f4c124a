"""Wait, and work, without holding up others: pauses for threads and event loops, transactions that stay short."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Connection

Result = TypeVar("Result")
Write = Callable[[Callable[[Connection], Result]], Result]
ROOM = 0.025  # seconds the lock stays free: who waits for it looks that often at first,
LONGEST_ROOM = 0.11  # and every .1 s in the end
AIM = 0.04  # seconds the write lock is held: an application that came just after it was taken hardly notices
LEAST = 20  # rows: below that a commit costs more than what is committed


def pause(seconds: float) -> None:
    """An event loop goes on meanwhile."""
    if in_event_loop():
        from sqlalchemy.util import await_only

        await_only(asyncio.sleep(seconds))
    else:
        time.sleep(seconds)


def in_event_loop() -> bool:
    """Whether this code was called through `run_sync`, so that asynchronous drivers can be waited for."""
    greenlets = sys.modules.get("greenlet")  # nobody has used one before it is loaded
    return greenlets is not None and getattr(greenlets.getcurrent(), "__sqlalchemy_greenlet_provider__", False)


@dataclass
class Room:
    """Of one engine: for how long all of its transactions together have kept others out lately.

    SQLite has no queue for its lock: taken again at once, it could keep an application out for long. Who waits looks
    again after pauses that grow to .05 s in the first .13 s, then to .1 s: room is half of the time it was held.
    """

    _released: float = 0.0
    _held: float = 0.0  # seconds, since room was left

    def leave(self) -> None:
        """Wait before the lock is taken again, unless there was room or it was held for moments only."""
        room = min(max(ROOM, self._held / 2), LONGEST_ROOM)
        left = self._released + room - time.monotonic()
        if left <= 0:
            self._held = 0.0
        elif self._held >= AIM / 2:
            pause(left)
            self._held = 0.0

    def held_since(self, began: float) -> None:
        self._released = time.monotonic()
        self._held += self._released - began


@dataclass
class Pace:
    """`size` rows at once, between LEAST and `most`; unless writers wait for each other it is always `most`."""

    most: int
    writers_wait: bool
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = max(self.most // 4, min(LEAST, self.most)) if self.writers_wait else self.most

    def write(self, write: Write[Result], work: Callable[[Connection], Result]) -> Result:
        """`work` in a transaction; how long it held the lock, its commit included, decides about the next one."""
        began = time.monotonic()

        def timed(connection: Connection) -> Result:
            nonlocal began
            began = time.monotonic()  # the lock is held from now on
            return work(connection)

        result = write(timed)
        self.learn(time.monotonic() - began)
        return result

    def learn(self, seconds: float) -> None:
        """Slower at once, faster step by step: a page cache that is cold now is warm soon."""
        if not self.writers_wait:
            return
        if seconds > AIM:
            self.size = max(int(self.size * AIM / seconds), min(LEAST, self.most))
        elif seconds < AIM / 2:
            self.size = min(2 * self.size, self.most)

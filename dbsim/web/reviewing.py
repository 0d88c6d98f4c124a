"""Who looks at which pair just now, and what each has decided: the memory of one server for the page Review."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dbsim.dedupe.browse import Doubtful
from dbsim.report.templating import written_key

CLAIM = 600.0  # seconds a pair is kept for somebody who does not answer
SESSIONS = 1000  # remembered


@dataclass
class Session:
    """One browser: the pair it was given, what it decided last, how fast it is."""

    claimed: frozenset[str] | None = None
    until: float = 0.0
    done: int = 0
    began: float = field(default_factory=time.monotonic)
    history: deque[tuple[Any, Any, Any]] = field(default_factory=lambda: deque(maxlen=200))  # a, b, decision before
    skipped: set[frozenset[str]] = field(default_factory=set)

    @property
    def an_hour(self) -> int:
        minutes = max((time.monotonic() - self.began) / 60, 0.5)
        return round(self.done / minutes * 60)


def identity(a: Any, b: Any) -> frozenset[str]:
    """Of a pair, whether its keys come from the database or from a form."""
    return frozenset((written_key(a), written_key(b)))


class Claims:
    """No two browsers get the same pair at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, str], Session] = {}

    def session(self, index: str, browser: str) -> Session:
        with self._lock:
            if len(self._sessions) > SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            return self._sessions.setdefault((index, browser), Session())

    def take(self, index: str, browser: str, pairs: Iterable[Doubtful]) -> Doubtful | None:
        """The first pair that nobody else looks at; it is the browser's until it decides, or leaves it long."""
        mine = self.session(index, browser)
        with self._lock:
            now = time.monotonic()
            taken = {
                other.claimed
                for (name, _), other in self._sessions.items()
                if name == index and other is not mine and other.until > now
            }
            for pair in pairs:
                both = identity(pair.a, pair.b)
                if both not in taken and both not in mine.skipped:
                    mine.claimed, mine.until = both, now + CLAIM
                    return pair
            mine.claimed = None
        return None

    def release(self, index: str, browser: str) -> None:
        self.session(index, browser).claimed = None

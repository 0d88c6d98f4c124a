"""What each browser has decided and skipped: the memory of one server for the page Review."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dbsim.dedupe.people.browse import Doubtful
from dbsim.dedupe.people.claims import Claims
from dbsim.index import Index
from dbsim.report.templating import written_key

SESSIONS = 1000  # remembered


@dataclass
class Session:
    """One browser: what it decided last, how fast it is."""

    done: int = 0
    began: float = field(default_factory=time.monotonic)
    history: deque[tuple[Any, Any, Any]] = field(default_factory=lambda: deque(maxlen=200))  # a, b, decision before
    skipped: set[frozenset[str]] = field(default_factory=set)
    place: tuple[float, int, int] | None = None  # in the order of pairs, up to which everything is decided or taken

    @property
    def an_hour(self) -> int:
        minutes = max((time.monotonic() - self.began) / 60, 0.5)
        return round(self.done / minutes * 60)


def identity(a: Any, b: Any) -> frozenset[str]:
    """Of a pair, whether its keys come from the database or from a form."""
    return frozenset((written_key(a), written_key(b)))


class Sessions:
    """What this server remembers of every browser; which pair it has is written in the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, str], Session] = {}

    def of(self, index: Index, browser: str) -> Session:
        with self._lock:
            if len(self._sessions) > SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            return self._sessions.setdefault((index.name, browser), Session())

    def take(self, index: Index, browser: str, pairs: Iterable[Doubtful]) -> Doubtful | None:
        """The first pair that nobody else looks at; it is the browser's until it decides, or leaves it long."""
        skipped = self.of(index, browser).skipped
        open_ = [pair for pair in pairs if identity(pair.a, pair.b) not in skipped]
        names = [" ".join(sorted(identity(pair.a, pair.b))) for pair in open_]
        place = Claims(index.context).take(browser, names) if names else None
        return None if place is None else open_[place]

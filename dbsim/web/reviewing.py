"""Which pair a browser is asked about next, and what it has decided and skipped: the server's memory for Review."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from dbsim.dedupe.people.browse import Browser
from dbsim.dedupe.people.claims import Claims
from dbsim.dedupe.people.pair_pages import Doubtful, Place
from dbsim.report.templating import written_key
from dbsim.tables.source import Key

SESSIONS = 1000  # remembered
FEWEST, MOST = 12, 1000  # pairs read at once in the search for one that is undecided
SHARE, LONGEST = 50, 60.0  # a way is remembered so many times as long as it took, and for a minute at most
Outdated = Sequence[tuple[Key, Key]]


@dataclass
class Session:
    """One browser: what it decided last, how fast it is."""

    done: int = 0
    began: float = field(default_factory=time.monotonic)
    history: deque[tuple[Any, Any, Any]] = field(default_factory=lambda: deque(maxlen=200))  # a, b, before: see `_undo`
    skipped: set[frozenset[str]] = field(default_factory=set)
    place: Place | None = None  # in the order of pairs, up to which everything is decided or taken

    @property
    def an_hour(self) -> int:
        minutes = max((time.monotonic() - self.began) / 60, 0.5)
        return round(self.done / minutes * 60)


def identity(a: Any, b: Any) -> frozenset[str]:
    """Of a pair, whether its keys come from the database or from a form."""
    return frozenset((written_key(a), written_key(b)))


@dataclass
class Way:
    """Up to here, from the first of all pairs on, everything is decided: no new browser has to walk there again."""

    place: Place | None = None
    until: float = 0.0

    @property
    def start(self) -> Place | None:
        return self.place if time.monotonic() < self.until else None

    def note(self, place: Place | None, took: float) -> None:
        self.place, self.until = place, time.monotonic() + min(SHARE * took, LONGEST)


class Sessions:
    """What this server remembers of every browser; which pair it has is written in the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, str], Session] = {}
        self._ways: dict[str, Way] = {}

    def of(self, index: str, browser: str) -> Session:
        with self._lock:
            if len(self._sessions) > SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            return self._sessions.setdefault((index, browser), Session())

    def desk(self, view: Browser, browser: str) -> Desk:
        name = view.context.name
        return Desk(view, browser, self.of(name, browser), self._ways.setdefault(name, Way()))


@dataclass(frozen=True)
class Batch:
    """Pairs to be judged, what they are called in the table of claims, and which of them the browser has already."""

    pairs: list[Doubtful]
    names: list[str]
    held: int | None
    found: list[Doubtful]  # skipped ones too
    end: Place | None  # where to go on


@dataclass(frozen=True)
class Desk:
    """Where one browser reviews one index."""

    view: Browser
    browser: str
    session: Session
    way: Way

    def next(self, outdated: Outdated) -> Doubtful | None:
        """The first pair that nobody else looks at; it is the browser's until it decides, or leaves it long."""
        claims = Claims(self.view.context)
        for batch in self._batches(outdated):
            place = claims.take(self.browser, batch.names) if batch.held is None else batch.held
            if place is not None:
                pair = batch.pairs[place]
                self.session.place = _before(pair) or self.session.place
                return pair
        self.session.place = None
        return None

    def begin_again(self) -> None:
        """After a decision was taken back: its pair is to be asked again."""
        self.session.place, self.way.until = None, 0.0

    def _batches(self, outdated: Outdated) -> Iterator[Batch]:
        """Outdated decisions first, then from where this browser is; at the end from the beginning of all once more,
        since others may have left pairs open."""
        start = self.session.place or self.way.start
        yield from self._walk(start, outdated)
        if start is not None:
            yield from self._walk(None, ())

    def _walk(self, start: Place | None, outdated: Outdated) -> Iterator[Batch]:
        """To the end of all pairs, some at a time: no transaction takes long, however much is decided already."""
        place, size, began, open_ = start, FEWEST, time.monotonic(), start is not None
        while True:
            batch = self.view.read(lambda c: self._look(c, place, size, outdated))  # noqa: B023
            if not open_:
                open_ = bool(batch.found)
                self.way.note(_before(batch.found[0]) if open_ else batch.end, time.monotonic() - began)
            if batch.names:
                yield batch
            if batch.end is None:
                return
            place, outdated = batch.end, ()
            size = FEWEST if batch.found else min(size * 4, MOST)

    def _look(self, connection: Connection, place: Place | None, size: int, outdated: Outdated) -> Batch:
        again = self.view.again(connection, outdated) if outdated else []
        found, end = self.view.doubtful(connection, place, size)
        pairs = [pair for pair in (*again, *found) if identity(pair.a, pair.b) not in self.session.skipped]
        names = [" ".join(sorted(identity(pair.a, pair.b))) for pair in pairs]
        held = Claims(self.view.context).held(connection, self.browser, names) if names else None
        return Batch(pairs, names, held, found, end)


def _before(pair: Doubtful) -> Place | None:
    """From where on the pair is the next one."""
    if pair.place is None:
        return None
    score, a, b = pair.place
    return score, a, b - 1

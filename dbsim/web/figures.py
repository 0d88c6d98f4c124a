"""Figures about a whole index, counted in the background where that takes long: (name, count) → value or None."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from dbsim.errors import DbsimError

SHARE = 50  # a count is good for so many times as long as it took, and for a minute at most
LONGEST = 60.0
QUICK = 0.003  # seconds: what is counted faster is counted by the page itself, a thread would take longer
SOON = 0.05  # seconds: likewise, of what has just been changed here: a page would contradict itself
PATIENCE = 0.2  # seconds a page waits for what was never counted; then it says so, and looks again by itself
REMEMBERED = 500  # figures


@dataclass
class Figure:
    """`done` is set when the count that was begun last is there; the value is good until then."""

    value: Any = None
    error: Exception | None = None
    known: bool = False
    took: float = 0.0
    until: float = 0.0
    forgotten: int = 0  # times
    counting: bool = False
    done: threading.Event = field(default_factory=threading.Event)


class Figures:
    """The memory of one server. Counting a million rows takes seconds; no page waits for it twice.

    `always`: a figure is counted whenever it is asked for, and waited for.
    """

    def __init__(self, *, always: bool = False) -> None:
        self.always = always
        self._lock = threading.Lock()
        self._known: dict[Any, Figure] = {}

    def get(self, name: Any, count: Callable[[], Any]) -> Any:
        """The value as last counted; None while it is counted for the first time and that takes long."""
        with self._lock:
            if len(self._known) > REMEMBERED:
                self._known.clear()
            found = self._known.setdefault(name, Figure())
            begin = not found.counting and time.monotonic() > found.until
            if begin:
                found.counting = True
                found.done.clear()
        quick = self.always or (found.known and found.took <= (SOON if found.until == 0.0 else QUICK))
        if begin and quick:
            self._count(found, count)
        elif begin:
            threading.Thread(target=self._count, args=(found, count), daemon=True).start()
        if quick or not found.known:
            found.done.wait(LONGEST if self.always else PATIENCE)
        if found.error is not None:
            raise found.error
        return found.value

    def forget(self, name: Any) -> None:
        """What this server has changed itself is counted again; meanwhile it is as it was."""
        with self._lock:
            if name in self._known:
                self._known[name].until = 0.0
                self._known[name].forgotten += 1

    def _count(self, found: Figure, count: Callable[[], Any]) -> None:
        began, forgotten = time.monotonic(), found.forgotten
        try:
            found.value, found.error = count(), None
        except (DbsimError, SQLAlchemyError, OSError) as error:  # told to whoever asks
            found.error = error
        with self._lock:
            now = time.monotonic()
            found.took = now - began if found.error is None else 0.0
            if not self.always and forgotten == found.forgotten:  # else something changed while it was counted
                found.until = now + min(found.took * SHARE, LONGEST)
            found.known, found.counting = True, False
            found.done.set()

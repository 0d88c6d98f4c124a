"""Figures about a whole index, counted in the background where that takes long: (name, count) → value or None."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from dbsim.errors import DbsimError

QUICK = 0.003  # seconds: what is counted faster is counted whenever it is asked for
SHARE = 50  # else a count is good for so many times as long as it took, and for a minute at most
LONGEST = 60.0
PATIENCE = 1.0  # seconds a page waits for what was never counted
REMEMBERED = 500  # figures


@dataclass
class Figure:
    """`done` is set when the count that was begun last is there."""

    value: Any = None
    error: Exception | None = None
    took: float = 0.0
    at: float = 0.0
    counting: bool = False
    done: threading.Event = field(default_factory=threading.Event)


class Figures:
    """The memory of one server. Counting a million rows takes seconds; no page waits for it twice."""

    def __init__(self, quick: float = QUICK) -> None:
        self.quick = quick
        self._lock = threading.Lock()
        self._known: dict[Any, Figure] = {}

    def get(self, name: Any, count: Callable[[], Any]) -> Any:
        """The value as last counted; None while it is counted for the first time and that takes long."""
        with self._lock:
            if len(self._known) > REMEMBERED:
                self._known.clear()
            found = self._known.setdefault(name, Figure())
            begin = not found.counting and time.monotonic() - found.at > self._good_for(found)
            if begin:
                found.counting = True
                found.done.clear()
        if begin and found.at and found.took <= self.quick:  # a thread would take longer
            self._count(found, count)
        elif begin:
            threading.Thread(target=self._count, args=(found, count), daemon=True).start()
        if not found.at or found.took <= self.quick:
            found.done.wait(max(PATIENCE, self.quick))
        if found.error is not None:
            raise found.error
        return found.value

    def forget(self, name: Any) -> None:
        """What this server has changed itself is counted again."""
        with self._lock:
            self._known.pop(name, None)

    def _good_for(self, found: Figure) -> float:
        return 0.0 if found.took <= self.quick else min(found.took * SHARE, LONGEST)

    def _count(self, found: Figure, count: Callable[[], Any]) -> None:
        began = time.monotonic()
        try:
            found.value, found.error = count(), None
        except (DbsimError, SQLAlchemyError, OSError) as error:  # told to whoever asks
            found.error = error
        finally:
            found.at = time.monotonic()
            found.took = found.at - began if found.error is None else 0.0
            found.counting = False
            found.done.set()

"""Pairs and groups follow while the queue is emptied, where a long look at the database keeps writers out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbsim.dedupe.run import FULL_FROM

EACH = 500  # rows: what they change is found in some .15 s of CPU, beside .1 s that any number takes


@dataclass
class KeepingUp:
    """Told how many rows of the queue were worked in, and how many waited at first."""

    keep_up: Callable[[], object]
    _rows: int = 0

    def __call__(self, rows: int, waited: int) -> None:
        """Not where so many change that all pairs are sought again in the end, which is done in short steps."""
        self._rows += rows
        if self._rows >= EACH and waited <= FULL_FROM:
            self._rows = 0
            self.keep_up()

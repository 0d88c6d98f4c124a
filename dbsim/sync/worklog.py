"""What a follower tells about its work: SyncReports → at most a line a minute on the logger `dbsim`."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from dbsim.sync.worker import SyncReport

EVERY = 60.0  # seconds between two lines
log = logging.getLogger("dbsim")


@dataclass
class WorkLog:
    """Adds up what was done since the last line."""

    index: str
    every: float = EVERY
    rows: int = 0
    runs: int = 0
    told: float | None = None  # when

    def add(self, report: SyncReport) -> None:
        done = report.filled + report.changed + report.repaired
        if done:
            log.debug("index %r: a run with %d rows", self.index, done)
            self.rows, self.runs = self.rows + done, self.runs + 1
        if report.switched:
            log.info("index %r: generation %d is searched now", self.index, report.generation)
        if self.rows and (self.told is None or time.monotonic() - self.told >= self.every):
            self.tell()

    def tell(self) -> None:
        """What has not been told yet, if there is any."""
        if self.rows:
            rows, runs = self.rows, self.runs
            self.rows = self.runs = 0  # before it is told: a signal that comes right after must not have it told again
            self.told = time.monotonic()
            log.info("index %r: %d rows in %d runs", self.index, rows, runs)

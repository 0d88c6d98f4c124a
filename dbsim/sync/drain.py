"""Work off the queue, one transaction a batch: every change reaches all generations of the index.

So each generation is as fresh as the one that is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from dbsim.engines.pause import Pace
from dbsim.progress import Progress
from dbsim.sync import models
from dbsim.sync.generations import Generations
from dbsim.sync.presign import SignedAhead
from dbsim.sync.refresh import quarantine_unreadable, refresh, sign_ahead
from dbsim.tables import catalogue
from dbsim.tables.key_conditions import sendable

After = Callable[[int, int], None]  # (rows of a batch that is not the last, rows that waited at first)


@dataclass
class Drain:
    """Any number of these may empty one queue at once."""

    index: Generations
    progress: Progress
    pace: Pace
    after: After
    _emptied: bool = False  # by the last batch, of all that nobody else had taken

    def run(self) -> int:
        """Until the queue has been empty for a moment: an application that never stops writing must not hold it up."""
        changed, total, self._emptied = 0, 0, False
        while not self._emptied and (step := self.batch()):
            changed += step
            if not self._emptied and not total:
                total = changed + self.index.read(self._waiting)
            self.progress("changes", changed, max(changed, total))
            if not self._emptied:
                self.after(step, max(changed, total))
        return changed

    def _waiting(self, connection: Connection) -> int:
        return connection.scalar(select(func.count()).select_from(self.index.tables.queue)) or 0

    def batch(self) -> int:
        """The next changes; on SQLite signed before the write lock is taken."""
        signed_ahead: dict[int, SignedAhead] | None = {}
        if self.index.backend.writers_wait:
            signed_ahead = self.index.read(self._sign_ahead)
            if signed_ahead is None:  # nobody's write waits for a look at an empty queue
                return 0
        return self.pace.write(self.index.write, lambda c: self.step(c, signed_ahead))

    def _sign_ahead(self, connection: Connection) -> dict[int, SignedAhead] | None:
        """For each generation; None when nothing waits."""
        backend = self.index.backend
        keys = backend.pending(connection, self.index.tables, self.pace.size)
        if not keys:
            return None
        found = {}
        for tables, signer in self.index.all(connection):
            models.current(connection, tables, signer)
            if signer.model is not None:
                found[tables.record.generation] = sign_ahead(connection, backend, tables, signer, keys)
        return found

    def step(self, connection: Connection, signed_ahead: dict[int, SignedAhead] | None = None) -> int:
        """Claim a batch, lock its documents, read the truth, write, all in the caller's transaction."""
        backend = self.index.backend
        backend.share(connection, self.index.name)
        if not catalogue.exists(connection, self.index.name):
            return 0
        limit = self.pace.size
        keys = backend.claim(connection, self.index.tables, limit)
        self._emptied = len(keys) < limit
        unreadable = not all(map(sendable, keys))
        if keys:
            # read after the claim: a generation that appears later reads these rows itself
            for tables, signer in self.index.all(connection):
                models.current(connection, tables, signer)
                if signer.model is None:  # nothing is stored yet, and the filling will read it all
                    continue
                signed = (signed_ahead or {}).get(tables.record.generation) or SignedAhead(signer)
                refresh(connection, backend, tables, signed, keys)
                if unreadable:
                    quarantine_unreadable(connection, tables, backend.unreadable_keys(connection, tables))
        return len(keys)

"""Fill a generation with several processes: a Filling → rows stored, ready for the one process that finishes it.

Where writers do not wait for each other (PostgreSQL), each process reads, signs and stores key ranges of its own, and
B-trees are built side by side. On SQLite, where one writes at a time, the processes sign and this one reads and writes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import tee
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from dbsim.crew import Crew, cores
from dbsim.engines.context import IndexContext
from dbsim.engines.urls import origin
from dbsim.sync.presign import SignedAhead
from dbsim.sync.refresh import last_stored
from dbsim.tables.key_conditions import after, key_columns
from dbsim.tables.source import Texts

if TYPE_CHECKING:
    from dbsim.sync.filling.fill import Filling

WORTH = 50_000  # rows from which a second process gains more than its start costs
LONG = 2000  # characters a row, from which signing takes longer than one process takes to write
ROUND = 3.0  # seconds a process works before the others are waited for and the queue is looked at
PARTS = 8  # parts for each process, so that all end at about the same time


def processes(context: IndexContext, asked: int | None, rows: int, characters: Callable[[], float]) -> int:
    """How many fill: as many as asked for, or as many as pay.

    Where one process writes (SQLite), others that sign 450 characters a row gain nothing: 0.86 × at 1,000,000 rows.
    """
    if asked is not None:
        return asked
    if rows < WORTH or origin(context.engine) is None:
        return 1
    return 1 if context.backend.writers_wait and characters() < LONG else cores()


@dataclass
class Crowd:
    """The processes of one filling."""

    filling: Filling
    count: int
    shown: Callable[[int], None]
    meanwhile: Callable[[], object]

    def run(self) -> int:
        """Rows stored, B-trees built; what is left is for the caller."""
        return self._sign_ahead() if self.filling.backend.writers_wait else self._fill_parts()

    # ── every process fills ──
    def _fill_parts(self) -> int:
        context = self.filling.context
        url = origin(context.engine) or context.engine.url.render_as_string(hide_password=False)
        what = (url, context.name, context.tables.record.generation)
        filled, left = 0, self.filling.write(self._divide)
        with Crew(self.count, "dbsim.sync.filling.hand:serve", *what) as crew:
            while left:
                until = time.monotonic() + ROUND
                filled += sum(crew.map([("fill", number, until) for number in left]))
                self.shown(filled)
                self.meanwhile()
                left = self.filling.read(self._left)
            self._build_indexes(crew)
        return filled

    def _divide(self, connection: Connection) -> list[int]:
        filling = self.filling
        if not filling.unfinished(connection, lock=True):
            return []
        if not filling.parts_exist(connection):
            stored = last_stored(connection, filling.tables)
            filling.parts.create(connection, filling.backend, PARTS * self.count, stored)
        return self._left(connection)

    def _left(self, connection: Connection) -> list[int]:
        if not self.filling.unfinished(connection) or not self.filling.parts_exist(connection):
            return []
        return [part.number for part in self.filling.parts.all(connection) if not part.done]

    def _build_indexes(self, crew: Crew) -> None:
        """Side by side, as soon as the rows are there; the caller builds those that are missing then."""
        count = len(self.filling.tables.indexes)
        for done, _ in enumerate(crew.map([("index", number, 0.0) for number in range(count)]), 1):
            self.filling.progress("building indexes", done, count)

    # ── others sign, this one writes ──
    def _sign_ahead(self) -> int:
        filling, signer = self.filling, self.filling.signer
        options = filling.tables.record.options.to_json()
        what = (options, filling.tables.record.secret, signer.model, signer.generation)
        filled = 0
        with Crew(self.count, "dbsim.sync.filling.hand:sign", *what) as crew:
            read, sent = tee(self._ahead())
            signed = crew.map([batch.columns for batch in batches] for batches in sent)
            for batches, signatures in zip(read, signed, strict=True):
                ahead = SignedAhead.of(signer, zip(batches, signatures, strict=True))
                upto = batches[-1].keys[-1]
                filled += filling.pace.write(filling.write, partial(filling.step, signer=ahead, upto=upto))
                self.shown(filled)
                self.meanwhile()
        return filled

    def _ahead(self) -> Iterator[list[Texts]]:
        """The rows in key order, in short reads; what changes before they are written is signed again then."""
        tables = self.filling.tables
        columns = key_columns(tables.source, tables)
        last = self.filling.read(lambda c: last_stored(c, tables))
        while True:
            start = [] if last is None else [after(columns, last)]
            found = self.filling.read(lambda c: list(self.filling.next_rows(c, start, self.filling.pace.size)))  # noqa: B023
            if not found:
                return
            yield found
            last = found[-1].keys[-1]

"""Put rows into the bit slices of their word signatures: rows of dbsim_<index> → blocks of slices.

First all rows in key order, a block a transaction; a killed run goes on behind the last row that has a place. From then
on the tail, whenever it is long: its rows get new places at the end, together with those of blocks that are mostly
holes, and the blocks that they come into are written anew from the rows themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, delete, func, insert, select

from dbsim.engines.pause import Pace
from dbsim.hashing.word_signatures import turned
from dbsim.lifecycle.words import slices
from dbsim.progress import Progress, quiet
from dbsim.sync.slicing.stage import SliceStage
from dbsim.tables import catalogue, slice_tables
from dbsim.tables.key_conditions import after, among, chunks, key_columns
from dbsim.tables.slice_tables import COMPLETE, FIRST_WIDE
from dbsim.tables.source import Key


@dataclass(frozen=True)
class Ahead:
    """A block made before the lock was taken: keys, their first place, slices."""

    keys: list[Key]
    first: int
    bits: NDArray[np.uint8]


@dataclass
class Slicing(SliceStage):
    """The slices of one generation; one worker at a time."""

    progress: Progress = quiet

    def run(self) -> None:
        """When many rows are without a place (`slices.due`)."""
        self.write(self._create)
        pace = Pace(slice_tables.BLOCK, writers_wait=self.backend.writers_wait)
        done = 0
        while step := self._next(pace):
            done += step
            self.progress("turning word signatures", done, done)

    def _next(self, pace: Pace) -> int:
        """One step; on SQLite its bits are turned before the write lock is taken."""
        ahead = self.read(self._ahead) if self.backend.writers_wait else None
        return pace.write(self.write, lambda c: self.step(c, ahead))

    def step(self, connection: Connection, ahead: Ahead | None = None) -> int:
        """The next block of the first turn, or the tail; how many rows got a place. 0 when nothing is left to do."""
        if not self.hold(connection) or not slices.due(connection, self.backend, self.tables):
            return 0
        if not slices.complete(connection, self.tables):
            return self._first(connection, ahead)
        return self._fold(connection)

    def _create(self, connection: Connection) -> None:
        if self.hold(connection):
            slices.create(connection, self.backend, self.tables, self.context.after_create_table)

    def hold(self, connection: Connection) -> bool:
        """Keep other workers from these rows, and inline triggers to their queue; False when the index is another."""
        name = self.tables.record.name
        self.backend.share(connection, name)
        self.backend.lock_all(connection, self.tables)
        found = catalogue.generations(connection, name, lock=True)
        mine = (self.tables.record.generation, self.tables.record.secret)
        return any(record.ready and (record.generation, record.secret) == mine for record in found)

    def _ahead(self, connection: Connection) -> Ahead | None:
        """The next block of the first turn; who changes one of its rows from now on, notes that in the tail."""
        if slices.complete(connection, self.tables):
            return None
        width = len(self.tables.key_names)
        rows = [tuple(row) for row in connection.execute(self._following(connection, list(self.tables.words.c)))]
        if not rows:
            return None
        bits = turned(np.arange(len(rows)), np.array([row[width:] for row in rows], np.int64))
        return Ahead([row[:width] for row in rows], self._first_free(connection), bits)

    def _following(self, connection: Connection, columns: list[Any]) -> Select[Any]:
        """The rows behind the last one with a place."""
        keys, last = key_columns(self.tables.words, self.tables), self._last_key(connection)
        query = select(*columns).order_by(*keys).limit(slice_tables.BLOCK)
        return query if last is None else query.where(after(keys, last))

    def _first(self, connection: Connection, ahead: Ahead | None) -> int:
        """Places for the next rows; with the last of them the slices are complete."""
        columns = key_columns(self.tables.words, self.tables)
        keys = [tuple(row) for row in connection.execute(self._following(connection, columns))]
        first, size = self._first_free(connection), slice_tables.BLOCK
        if ahead is not None and (ahead.keys, ahead.first) == (keys, first) and first % size == 0:
            self.insert_places(connection, first, keys)
            self.replace_block(connection, first // size, ahead.bits)
        else:
            self._append(connection, keys)
        if len(keys) < size:
            connection.execute(insert(self.sliced.slices).values(slice=COMPLETE, block=0))
        return len(keys)

    def _last_key(self, connection: Connection) -> Key | None:
        keys = self.sliced.keys(self.sliced.places)
        row = connection.execute(select(*keys).order_by(*(key.desc() for key in keys)).limit(1)).first()
        return None if row is None else tuple(row)

    def _fold(self, connection: Connection) -> int:
        """Rows of the tail, and of blocks that are mostly holes, to the end.

        The tail is emptied before the signatures are read: whoever changes one later notes it there once more.
        """
        tail = self.sliced.tail
        noted = [tuple(row) for row in connection.execute(select(tail).distinct())]
        for some in chunks(noted, self.backend.key_batch):
            for table in (tail, self.sliced.places):
                connection.execute(delete(table).where(among(self.sliced.keys(table), some)))
        keys = [*noted, *self._dissolved(connection)]
        self._append(connection, self._stored(connection, keys))
        return len(noted)

    def _dissolved(self, connection: Connection) -> list[Key]:
        """Rows of blocks, but for the last one, whose places are holes for more than a half; the blocks are gone."""
        places, slices_, size = self.sliced.places, self.sliced.slices, slice_tables.BLOCK
        block = places.c.place // size
        counts = connection.execute(select(block, func.count()).group_by(block)).all()
        live: dict[int, int] = dict(map(tuple, counts))
        found: list[Key] = []
        for head, room in ((0, size), (self.sliced.bits, size >> self.sliced.wider)):
            known = connection.scalars(select(slices_.c.block).where(slices_.c.slice == head).order_by(slices_.c.block))
            for number in (one for one in known.all()[:-1] if 2 * live.get(one, 0) < room):
                inside = places.c.place.between(number * size, number * size + size - 1)
                found += [tuple(row) for row in connection.execute(select(*self.sliced.keys(places)).where(inside))]
                connection.execute(delete(places).where(inside))
                connection.execute(delete(slices_).where(slices_.c.block == number, slices_.c.slice != COMPLETE))
        return found

    def _stored(self, connection: Connection, keys: Sequence[Key]) -> list[Key]:
        """Those of the rows that are still there, in key order within pieces."""
        columns = key_columns(self.tables.signatures, self.tables)
        found: list[Key] = []
        for some in chunks(keys, self.backend.key_batch):
            query = select(*columns).where(among(columns, some)).order_by(*columns)
            found += [tuple(row) for row in connection.execute(query)]
        return found

    def _append(self, connection: Connection, keys: Sequence[Key]) -> None:
        """New places behind all others, and their blocks written."""
        if not keys:
            return
        first, size = self._first_free(connection), slice_tables.BLOCK
        self.insert_places(connection, first, keys)
        for block in range(first // size, (first + len(keys) - 1) // size + 1):
            self.replace_block(connection, block, turned(*self.block_signatures(connection, block)))

    def _first_free(self, connection: Connection) -> int:
        place = self.sliced.places.c.place
        last = connection.scalar(select(func.max(place)).where(place < FIRST_WIDE * slice_tables.BLOCK))
        return 0 if last is None else int(last) + 1

    def insert_places(self, connection: Connection, first: int, keys: Sequence[Key]) -> None:
        self.backend.insert_rows(connection, self.sliced.places, [(first + n, *key) for n, key in enumerate(keys)])

    def replace_block(self, connection: Connection, block: int, bits: NDArray[np.uint8], first: int = 0) -> None:
        """Its slices, numbered from `first` on."""
        rows = self.sliced.slices
        connection.execute(delete(rows).where(rows.c.block == block, rows.c.slice != COMPLETE))
        values = ((number, block, self.backend.stored_bits(row.tobytes())) for number, row in enumerate(bits, first))
        self.backend.insert_rows(connection, rows, values)

    def block_signatures(self, connection: Connection, block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places within a block, and the signatures of the rows there: places × 64-bit words."""
        places, stored, size = self.sliced.places, self.tables.words, slice_tables.BLOCK
        words = list(stored.c)[len(self.tables.key_names) :]
        query = (
            select(places.c.place, *words)
            .join(stored, self.sliced.row(places))
            .where(places.c.place.between(block * size, block * size + size - 1))
        )
        rows = np.array([tuple(row) for row in connection.execute(query)], np.int64).reshape(-1, 1 + len(words))
        return rows[:, 0] - block * size, rows[:, 1:]

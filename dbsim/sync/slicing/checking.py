"""Whether the bit slices are those of the rows, for `check`: Connection → keys of rows that a question could miss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from dbsim.hashing.word_signatures import turned
from dbsim.lifecycle.words import slices
from dbsim.sync.slicing.stage import SliceStage
from dbsim.sync.slicing.turning import Slicing
from dbsim.sync.slicing.wide import wide_signatures
from dbsim.tables import slice_tables
from dbsim.tables.key_conditions import chunks, key_columns
from dbsim.tables.slice_tables import FIRST_WIDE
from dbsim.tables.source import Key


@dataclass
class SliceCheck(SliceStage):
    """Of one generation."""

    @cached_property
    def slicing(self) -> Slicing:
        return Slicing(self.context)

    def run(self, *, repair: bool) -> list[Key]:
        """Rows that a question could miss: neither in the tail nor at a place that has their bits."""
        if not self.read(lambda c: slices.exist(c, self.backend, self.tables)):
            return []
        found = self.read(self._wrong)
        if repair and found:
            self.write(lambda c: self._note(c, found))
        return found

    def _wrong(self, connection: Connection) -> list[Key]:
        self.backend.snapshot(connection)
        if not slices.complete(connection, self.tables):
            return []
        tail, places, stored = self.sliced.tail, self.sliced.places, self.tables.words
        noted = {tuple(row) for row in connection.execute(select(tail).distinct())}
        lost = (
            select(*key_columns(stored, self.tables))
            .outerjoin(places, self.sliced.row(places))
            .where(places.c.place.is_(None))
        )
        found = [tuple(row) for row in connection.execute(lost)]
        for block in connection.scalars(select(places.c.place // slice_tables.BLOCK).distinct()).all():
            found += self._wrong_in(connection, int(block))
        return [key for key in dict.fromkeys(found) if key not in noted]

    def _wrong_in(self, connection: Connection, block: int) -> Iterator[Key]:
        rows, places, size = self.sliced.slices, self.sliced.places, slice_tables.BLOCK
        wide = block >= FIRST_WIDE
        numbers, words = (self._wide if wide else self.slicing.block_signatures)(connection, block)
        expected = turned(numbers, words)
        width = expected.shape[1]
        query = select(rows.c.slice, rows.c.bits).where(rows.c.block == block)
        kept = {number: self.backend.read_bits(bits) for number, bits in connection.execute(query) if bits is not None}
        first = self.sliced.bits if wide else 0
        held = b"".join(kept.get(first + n, b"")[:width].ljust(width, b"\0") for n in range(len(expected)))
        differing = np.bitwise_or.reduce(np.frombuffer(held, np.uint8).reshape(expected.shape) ^ expected, axis=0)
        for place in numbers[np.unpackbits(differing)[numbers] == 1].tolist():
            query = select(*self.sliced.keys(places)).where(places.c.place == block * size + place)
            yield from (tuple(row) for row in connection.execute(query))

    def _wide(self, connection: Connection, block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same of a wide block, of rows whose texts have not changed since they were signed."""
        places, first = self.sliced.places, block * slice_tables.BLOCK
        query = select(places).where(places.c.place.between(first, first + slice_tables.BLOCK - 1))
        at = {tuple(row[1:]): row[0] - first for row in connection.execute(query)}
        keys, signed = wide_signatures(self.context, connection, list(at))
        return np.array([at[key] for key in keys], np.int64), signed

    def _note(self, connection: Connection, keys: Sequence[Key]) -> None:
        """Into the tail, where every question looks."""
        if self.slicing.hold(connection):
            for some in chunks(keys, self.backend.key_batch):
                slices.forget(connection, self.backend, self.tables, some)
                slices.note(connection, self.backend, self.tables, some)

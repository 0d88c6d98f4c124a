"""Give long texts places of their own, with signatures that they do not fill: full blocks of slices → wide blocks.

Block after block: rows that a question for two words would read in vain as often as it should read any for one move to
a wide block. Their bits are made from the texts before the lock is taken; a row that has changed since then is in the
tail, or has another place, and stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, insert, select

from dbsim.engines.pause import Pace
from dbsim.hashing.word_signatures import turned
from dbsim.lifecycle.create import outdated
from dbsim.lifecycle.words import slices
from dbsim.progress import Progress, quiet
from dbsim.sync.slicing.stage import SliceStage
from dbsim.sync.slicing.turning import Slicing
from dbsim.sync.slicing.wide import wide_signatures
from dbsim.tables import slice_tables
from dbsim.tables.slice_tables import FIRST_WIDE, WIDENED
from dbsim.tables.source import Key

FEWEST = 256  # places of a block a long text: fewer are not worth a wide block
SLICES_AT_ONCE = 256


@dataclass(frozen=True)
class Long:
    """Rows of a block to move: where they are, their keys, their long signatures."""

    places: list[int]
    keys: list[Key]
    signed: NDArray[np.int64]


@dataclass
class Widening(SliceStage):
    """Of one generation, after all of its rows have places."""

    progress: Progress = quiet

    @cached_property
    def slicing(self) -> Slicing:
        return Slicing(self.context)

    def run(self) -> None:
        if not self.sliced.wanted or not self.sliced.wider or self.read(self._outdated):
            return
        pace = Pace(slice_tables.BLOCK, writers_wait=self.backend.writers_wait)
        done = 0
        while (block := self.read(self._next)) is not None:
            long = self.read(lambda c, block=block: self._long(c, block))  # type: ignore[misc]
            pace.write(self.write, lambda c, block=block, long=long: self._move(c, block, long))  # type: ignore[misc]
            done += len(long.keys)
            self.progress("widening word signatures", done, done)

    def _outdated(self, connection: Connection) -> bool:
        """Whether SQL still has a function that knows of no wide blocks."""
        return outdated(connection, self.backend, self.tables)

    def _next(self, connection: Connection) -> int | None:
        """The first full block whose long texts nobody has looked for; all but the last are full."""
        if not slices.exist(connection, self.backend, self.tables) or not slices.complete(connection, self.tables):
            return None
        rows = self.sliced.slices
        known, seen = (
            connection.scalars(select(rows.c.block).where(rows.c.slice == mark).order_by(rows.c.block)).all()
            for mark in (0, WIDENED)
        )
        return next((block for block in known[:-1] if block not in {*seen}), None)

    def _long(self, connection: Connection, block: int) -> Long:
        self.backend.snapshot(connection)
        filled, size = self._filled(connection, block), slice_tables.BLOCK
        live = {place: key for place, key in self._live(connection, block).items() if filled[place % size]}
        if len(live) < max(size // FEWEST, 1):
            live = {}
        keys, signed = wide_signatures(self.context, connection, list(live.values()))
        places = {key: place for place, key in live.items()}
        return Long([places[key] for key in keys], keys, signed)

    def _live(self, connection: Connection, block: int) -> dict[int, Key]:
        places, first = self.sliced.places, block * slice_tables.BLOCK
        query = select(places).where(places.c.place.between(first, first + slice_tables.BLOCK - 1))
        return {row[0]: tuple(row[1:]) for row in connection.execute(query)}

    def _filled(self, connection: Connection, block: int) -> NDArray[np.bool_]:
        """Which places of a block have a field that drops too often, by the bits that are set."""
        filled, first = np.zeros(slice_tables.BLOCK, bool), 0
        for field in (one for one in self.context.options.fields if one.word_bits):
            assert field.signature is not None
            counts = np.zeros(slice_tables.BLOCK, np.int64)
            for start in range(first, first + field.word_bits, SLICES_AT_ONCE):
                stop = min(start + SLICES_AT_ONCE, first + field.word_bits)
                bits = self._bits(connection, block, start, stop)
                counts[: 8 * bits.shape[1]] += np.unpackbits(bits, axis=1).sum(axis=0, dtype=np.int64)
            filled |= (counts / field.word_bits) ** field.word_marks > np.sqrt(field.false_drops)
            first += field.word_bits
        return filled

    def _bits(self, connection: Connection, block: int, start: int, stop: int) -> NDArray[np.uint8]:
        """Slices start … stop - 1 of a block: slices × bytes; none at all of a new block."""
        rows = self.sliced.slices
        query = select(rows.c.bits).where(rows.c.block == block, rows.c.slice >= start, rows.c.slice < stop)
        found = [self.backend.read_bits(bits) for (bits,) in connection.execute(query.order_by(rows.c.slice))]
        if not found:
            return np.zeros((stop - start, 0), np.uint8)
        return np.frombuffer(b"".join(found), np.uint8).reshape(stop - start, -1)

    def _move(self, connection: Connection, block: int, long: Long) -> None:
        if not self.slicing.hold(connection) or not slices.complete(connection, self.tables):
            return
        now = self._live(connection, block)
        kept = [n for n, (place, key) in enumerate(zip(long.places, long.keys, strict=True)) if now.get(place) == key]
        places = self.sliced.places
        for start in range(0, len(kept), self.backend.key_batch):
            some = [long.places[n] for n in kept[start : start + self.backend.key_batch]]
            connection.execute(delete(places).where(places.c.place.in_(some)))
        self._append(connection, [long.keys[n] for n in kept], long.signed[kept])
        rows = self.sliced.slices
        connection.execute(delete(rows).where(rows.c.slice == WIDENED, rows.c.block == block))
        connection.execute(insert(rows).values(slice=WIDENED, block=block))

    def _append(self, connection: Connection, keys: list[Key], signed: NDArray[np.int64]) -> None:
        """New places behind those of the wide blocks."""
        size, room = slice_tables.BLOCK, slice_tables.BLOCK >> self.sliced.wider
        place = self.sliced.places.c.place
        last = connection.scalar(select(func.max(place)).where(place >= FIRST_WIDE * size))
        block, offset = (FIRST_WIDE, 0) if last is None else (int(last) // size, int(last) % size + 1)
        done = 0
        while done < len(keys):
            if offset >= room:
                block, offset = block + 1, 0
            some = slice(done, done + room - offset)
            self.slicing.insert_places(connection, block * size + offset, keys[some])
            self._add(connection, block, offset, signed[some])
            done, offset = some.stop, room

    def _add(self, connection: Connection, block: int, offset: int, signed: NDArray[np.int64]) -> None:
        """The bits of these rows at places from `offset` on beside those that the block has."""
        first, count = self.sliced.bits, self.sliced.bits << self.sliced.wider
        held = self._bits(connection, block, first, first + count)
        bits = turned(np.arange(offset, offset + len(signed)), signed)
        width = min(held.shape[1], bits.shape[1])
        # the rows that were last may have gone, and left their bits behind
        bits[:, :width] |= held[:, :width] & np.packbits(np.arange(8 * width) < offset)
        self.slicing.replace_block(connection, block, bits, first)

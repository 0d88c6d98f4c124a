"""Word signatures: columns behind all others of the signature table, and their bit slices: IndexTables → Table.

Slices are the signatures turned, so that a question reads few bits of every row:

dbsim_<index>_word_slices  a bit of the signatures, over a block of rows: one bit a place
dbsim_<index>_word_places  the row behind each place; a place without a row is a hole
dbsim_<index>_word_tail    rows that came or changed since, append-only: their signatures are looked at one by one

A long text fills its signature, so that nearly every question would read it. Where many have filled, they get places in
wide blocks, whose slices are those of a longer signature; it is stored nowhere else, but made from the text.

A question ANDs the slices of its words' bits, looks up the places that are left, and adds the tail. So each row has to
be in the tail unless its place has its bits; anything else there is costs time, and no answer, because texts decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Column, ColumnElement, Integer, MetaData, Table, and_
from sqlalchemy.schema import CreateIndex, Index

from dbsim.hashing.signer import Signatures
from dbsim.tables.index_tables import IndexTables, PlainType, TablesBeside, made_once, signatures_name
from dbsim.tables.names import identifier
from dbsim.tables.types import many_bits, placed, row_number

BLOCK = 8192  # places: slices of 1 kB, of which PostgreSQL compresses none and SQLite puts several on a page
TAIL = 512  # rows that stay unsliced, at a few microseconds a question each
COMPLETE = -1  # in the place of a slice: every row has a place or is in the tail
WIDENED = -2  # in the place of a slice: the block's long texts were looked for
WIDER = 3  # long texts have 2^3 times the bits, in blocks of as many times fewer places …
FIRST_WIDE = 1 << 20  # … numbered from here on, their slices behind those of the others
MOST_SLICES = 10_240  # of a block: SQLite writes them in 0.1 s, for which others wait
SUFFIXES = ("word_slices", "word_places", "word_tail")


def slice_names(index: str, generation: int) -> list[str]:
    return [identifier(signatures_name(index, generation), suffix) for suffix in SUFFIXES]


@dataclass(frozen=True)
class SliceTables(TablesBeside):
    """Those of one generation."""

    @property
    def wanted(self) -> bool:
        """Whether this index has word signatures on one machine."""
        return bool(self.tables.names.words) and not self.tables.record.options.distributed

    @made_once
    def bits(self) -> int:
        """Of the signatures of all fields: slices 0 … bits - 1, and from there on those of long texts."""
        return sum(field.word_bits for field in self.tables.record.options.fields)

    @made_once
    def wider(self) -> int:
        """How often the bits are doubled for long texts; 0 where there is no room for that."""
        return WIDER if self.bits << WIDER <= MOST_SLICES else 0

    @made_once
    def _names(self) -> list[str]:
        return slice_names(self.tables.record.name, self.tables.record.generation)

    @made_once
    def slices(self) -> Table:
        return Table(
            self._names[0],
            MetaData(),
            Column("slice", Integer, primary_key=True, autoincrement=False),
            Column("block", Integer, primary_key=True, autoincrement=False),
            Column("bits", many_bits()),
        )

    @made_once
    def places(self) -> Table:
        place = Column("place", row_number(), primary_key=True, autoincrement=False)
        return Table(self._names[1], MetaData(), place, *self._key_columns())

    @made_once
    def tail(self) -> Table:
        return Table(self._names[2], MetaData(), *self._key_columns())

    @property
    def all(self) -> list[Table]:
        """In the order they are made: the last one tells that all are there."""
        return [self.slices, self.places, self.tail]

    def index(self) -> CreateIndex:
        """To find a row's place."""
        place = placed(self.tables.record.options.tablespace)
        return CreateIndex(Index(identifier(self.places.name, "key"), *self.keys(self.places), **place))

    def _key_columns(self) -> list[Column[Any]]:
        """Numbered, so that a column of the source may have any name, and get another."""
        types = (type_ for _, type_ in self.tables.record.primary_key)
        return [Column(f"key_{number}", PlainType(type_), nullable=False) for number, type_ in enumerate(types)]

    def keys(self, table: Any) -> list[ColumnElement[Any]]:
        return [table.c[f"key_{number}"] for number in range(len(self.tables.key_names))]

    def row(self, table: Any) -> ColumnElement[bool]:
        """A row of the signature table is the one that a place or the tail names."""
        stored = self.tables.words
        own = (stored.c[name] for name in self.tables.key_names)
        return and_(*(a == b for a, b in zip(self.keys(table), own, strict=True)))


def word_columns(tables: IndexTables) -> list[Column[Any]]:
    """The columns of the word signatures, which questions for words read, and nothing else."""
    names = [name for field in tables.names.words for name in field]
    return [Column(name, BigInteger, nullable=False) for name in names]


def word_values(rows: Signatures) -> list[list[int]]:
    """Their values, column by column."""
    return [column.tolist() for part in rows.words for column in part.T]

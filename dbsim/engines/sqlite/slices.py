"""How bit slices are put together in SQL on SQLite, by a function of dbsim's own: it cannot AND BLOBs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from dbsim.engines.backend import Backend, Terms
from dbsim.engines.urls import origin
from dbsim.resources import filled, sql
from dbsim.tables import slice_tables
from dbsim.tables.names import quote
from dbsim.tables.slice_tables import SliceTables

CACHE = 16_000  # kB, of which only what is read is taken
WRITING = 48_000
MOST_ARGUMENTS = 100  # of a function: SQLite allows 127 or more


class SQLiteSlices(Backend):
    """See `Slices` for what each step means."""

    def word_places(self, sliced: SliceTables, terms: Terms, wide: Terms | None, *, every: bool) -> str:
        slices, heads = quote(sliced.slices.name), [0]
        found = _found(slices, terms, every)
        if wide is not None:
            heads.append(sliced.bits)
            found = f"CASE b.slice WHEN 0 THEN {found} ELSE {_found(slices, wide, every)} END"
        names = {
            "keys": ", ".join(f"p.{column.name}" for column in sliced.keys(sliced.places)),
            "found": found,
            "heads": ", ".join(map(str, heads)),
            "slices": slices,
            "places": quote(sliced.places.name),
            "block": slice_tables.BLOCK,
        }
        return filled(sql("sqlite", "word_places"), names)

    def make_room(self, connection: Connection, *, writing: bool = False) -> None:
        # SQLite's own 2 MB are less than one question reads: slices, places, texts; and of millions of rows, written in
        # no order of their keys, every one needs pages that have just been put out of memory
        room = WRITING if writing else CACHE
        if connection.info.get("dbsim_room", 0) < room and origin(connection.engine) is not None:
            connection.exec_driver_sql(f"PRAGMA cache_size = -{room}")
            connection.info["dbsim_room"] = room

    def found_by(self, columns: Sequence[str], keys: str) -> str | None:
        return f"({', '.join(columns)}) IN ({keys})"


def _found(slices: str, terms: Terms, every: bool) -> str:
    many = sum(len(field) for term in terms for field in term) > MOST_ARGUMENTS
    return (_in_digits if many else _as_they_are)(slices, terms, every)


def _as_they_are(slices: str, terms: Terms, every: bool) -> str:
    """Every slice of a block is an argument: nothing is written in digits and read again."""
    form = ",".join("|".join(str(len(field)) for field in term) for term in terms)
    bits = (
        f"(SELECT s.bits FROM {slices} AS s WHERE s.slice = {number} AND s.block = b.block)"
        for term in terms
        for field in term
        for number in field
    )
    return f"dbsim_common({int(every)}, '{form}', {', '.join(bits)})"


def _in_digits(slices: str, terms: Terms, every: bool) -> str:
    """Any number of slices, a term an argument."""
    bits = (" || '|' || ".join(_field(slices, field) for field in term) for term in terms)
    return f"dbsim_places({int(every)}, {', '.join(bits)})"


def _field(slices: str, numbers: Sequence[int]) -> str:
    """The slices of a block in the form of dbsim_places; by look-ups, because GROUP BY would sort all of them."""
    listed = ", ".join(map(str, numbers))
    return (
        f"(SELECT '{len(numbers)}:' || group_concat(hex(s.bits), '') FROM {slices} AS s "
        f"WHERE s.slice IN ({listed}) AND s.block = b.block)"
    )

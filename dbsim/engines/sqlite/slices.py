"""How bit slices are put together in SQL on SQLite, by a function of dbsim's own: it cannot AND BLOBs."""

from __future__ import annotations

from collections.abc import Sequence

from dbsim.engines.backend import Backend
from dbsim.resources import filled, sql
from dbsim.tables import slice_tables
from dbsim.tables.names import quote
from dbsim.tables.slice_tables import SliceTables


class SQLiteSlices(Backend):
    """See `Slices` for what each step means."""

    def word_places(self, sliced: SliceTables, terms: Sequence[Sequence[Sequence[int]]], *, every: bool) -> str:
        bits = (" || '|' || ".join(_field(quote(sliced.slices.name), field) for field in term) for term in terms)
        names = {
            "keys": ", ".join(f"p.{column.name}" for column in sliced.keys(sliced.places)),
            "every": str(int(every)),
            "bits": ", ".join(bits),
            "slices": quote(sliced.slices.name),
            "places": quote(sliced.places.name),
            "block": slice_tables.BLOCK,
        }
        return filled(sql("sqlite", "word_places"), names)

    def found_by(self, columns: Sequence[str], keys: str) -> str | None:
        return f"({', '.join(columns)}) IN ({keys})"


def _field(slices: str, numbers: Sequence[int]) -> str:
    """The slices of a block in the form of dbsim_places; by look-ups, because GROUP BY would sort all of them."""
    listed = ", ".join(map(str, numbers))
    return (
        f"(SELECT '{len(numbers)}:' || group_concat(hex(s.bits), '') FROM {slices} AS s "
        f"WHERE s.slice IN ({listed}) AND s.block = b.block)"
    )

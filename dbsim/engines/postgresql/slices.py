"""How bit slices are put together in SQL on PostgreSQL, which can AND them itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbsim.engines.backend import Backend, Terms
from dbsim.resources import filled, sql
from dbsim.tables import slice_tables
from dbsim.tables.names import quote
from dbsim.tables.slice_tables import SliceTables


class PostgreSQLSlices(Backend):
    """See `Slices` for what each step means."""

    def word_places(self, sliced: SliceTables, terms: Terms, wide: Terms | None, *, every: bool) -> str:
        bits = _bits(terms, every)
        if wide is not None:  # NULL where a block has none of the slices
            bits = f"coalesce({bits}, {_bits(wide, every)})"
        numbers = sorted({number for term in (*terms, *(wide or ())) for field in term for number in field})
        return word_places(sliced, bits, listed(numbers))

    def found_by(self, columns: Sequence[str], keys: str) -> str | None:
        # an array makes an index scan, a subquery perhaps a scan of the whole table
        return f"{columns[0]} = ANY (ARRAY({keys}))" if len(columns) == 1 else None


def _bits(terms: Terms, every: bool) -> str:
    fields = ([f"bit_and(bits) FILTER (WHERE slice IN ({listed(field)}))" for field in term] for term in terms)
    return (" & " if every else " | ").join(f"({' | '.join(parts)})" for parts in fields)


def listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def word_places(sliced: SliceTables, bits: str, slices: str, home: str | None = None) -> str:
    """The statement with these bits of a block, made of these slices."""
    names = {
        "keys": ", ".join(f"p.{column.name}" for column in sliced.keys(sliced.places)),
        "bits": bits,
        "listed": slices,
        "slices": _of(home, sliced.slices.name),
        "places": _of(home, sliced.places.name),
        "block": slice_tables.BLOCK,
    }
    return filled(sql("postgresql", "word_places"), names)


def _of(home: str | None, name: str) -> str:
    return quote(name) if home is None else f"{home}.{quote(name)}"

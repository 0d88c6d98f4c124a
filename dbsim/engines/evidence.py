"""The score of two records as SQL: prior and weight of each field's level, in whole numbers, then the probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol

from sqlalchemy import BigInteger, ColumnElement, Connection, Double, and_, case, cast, literal_column, null

from dbsim.engines.backend import FilterColumns
from dbsim.hashing.bloom import Reading
from dbsim.hashing.records.family import Records
from dbsim.hashing.records.learning import Learned
from dbsim.hashing.records.levels import AHEAD, ALIKE, CROSSED, EQUAL
from dbsim.hashing.records.packing import STRANGERS_LANE, pack
from dbsim.options import IndexOptions
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.model_rows import load
from dbsim.tables.names import quote


class Comparing(Protocol):
    """The part of a Backend that compares filters; a view that knows no function has one of its own."""

    def jaccard(self, one: FilterColumns, two: FilterColumns, reading: Reading) -> ColumnElement[float]: ...

    def level(self, one: FilterColumns, two: FilterColumns, reading: Reading) -> ColumnElement[int]: ...

    def probability(self, evidence: ColumnElement[int]) -> ColumnElement[float]: ...

    def larger(self, one: ColumnElement[int], two: ColumnElement[int]) -> ColumnElement[int]: ...


def learned_of(connection: Connection, tables: IndexTables) -> Learned | None:
    """What the index has learned of the table's persons, if it is about persons and has."""
    record = tables.record
    family = record.options.hashing
    model = load(connection, record.name, record.generation) if isinstance(family, Records) else None
    return family.learned(model) if model and isinstance(family, Records) else None


def between(comparing: Comparing, tables: IndexTables, learned: Learned | None, a: str, b: str) -> ColumnElement[float]:
    """The probability for two rows of the signature table by their aliases; unknown before anything is learned."""
    if learned is None:
        return cast(null(), Double)
    names = tables.names
    columns = list(zip(names.bits, names.counts, names.rarities, strict=True))
    left, right = (
        [Side(*(literal_column(f"{alias}.{quote(name)}") for name in field)) for field in columns] for alias in (a, b)
    )
    return comparing.probability(evidence(comparing, tables.record.options, learned, left, right))


def of_copies(tables: IndexTables, learned: Learned, larger: str, alias: str = "a") -> str:
    """The sums for a row and its exact copy, in one number as in `evidence`, as text; `larger` is SQL's maximum."""
    names, packed, place = tables.names, pack(learned.evidence), learned.evidence.place
    parts = []
    for number, (count, rarity) in enumerate(zip(names.counts, names.rarities, strict=True)):
        worth = f"{packed.weights[number][EQUAL]} + {alias}.{quote(rarity)} * {1 << STRANGERS_LANE}"
        parts.append(f"CASE WHEN {alias}.{quote(count)} > 0 THEN {worth} ELSE 0 END")
    total = [str(packed.prior), *(f"({part})" for number, part in enumerate(parts) if number not in place)]
    if place:
        here = " + ".join(f"({parts[number]})" for number in place)
        total.append(f"{larger}({here}, {packed.moved})")
    return " + ".join(total)


@dataclass(frozen=True)
class Side(FilterColumns):
    """One field of one row."""

    rarity: ColumnElement[Any]


def evidence(
    backend: Comparing, options: IndexOptions, learned: Learned, left: Sequence[Side], right: Sequence[Side]
) -> ColumnElement[int]:
    """The sums of which the least is what `Learned.score` gives, in one number; see hashing/records/packing.py."""
    packed = pack(learned.evidence)
    levels = [
        case((_both(one, two), backend.level(one, two, field.reading)), else_=_number(0))
        for field, one, two in zip(options.fields, left, right, strict=True)
    ]
    parts = [_worth(level, packed.weights[number], left[number], right[number]) for number, level in enumerate(levels)]
    total, used = _number(packed.prior), {*(learned.crossed or ()), *learned.evidence.place}
    if learned.crossed is not None:
        total = total + _names(backend, options, learned, left, right, parts)
    if learned.evidence.place:
        place = [parts[number] for number in learned.evidence.place]
        total = total + backend.larger(reduce(add, place), _number(packed.moved))
    return reduce(add, [part for number, part in enumerate(parts) if number not in used], total)


def _names(
    backend: Comparing,
    options: IndexOptions,
    learned: Learned,
    left: Sequence[Side],
    right: Sequence[Side],
    parts: Sequence[ColumnElement[int]],
) -> ColumnElement[int]:
    """Crossed, both names together are worth one weight."""
    assert learned.crossed is not None
    given, surname = learned.crossed
    weight = _number(pack(learned.evidence).weights[given][CROSSED])
    over = crossed(backend, options.fields[given].reading, left, right, given, surname)
    return case((over, weight), else_=parts[given] + parts[surname])


def _worth(level: ColumnElement[int], weights: Sequence[int], one: Side, two: Side) -> ColumnElement[int]:
    """A missing value says nothing; an equal one the more the rarer it is."""
    rarity = case((one.rarity < two.rarity, one.rarity), else_=two.rarity)
    worth: dict[int, ColumnElement[int]] = {number: _number(weights[number]) for number in range(1, EQUAL)}
    worth[EQUAL] = _number(weights[EQUAL]) + rarity * _number(1 << STRANGERS_LANE)
    return _choice(level, worth)


def _choice(level: ColumnElement[int], values: dict[int, ColumnElement[int]]) -> ColumnElement[int]:
    branches: dict[ColumnElement[int], ColumnElement[int]] = {
        literal_column(str(number)): value for number, value in values.items()
    }
    return case(branches, value=level, else_=_number(0)) if branches else _number(0)


def crossed(
    backend: Comparing, reading: Reading, left: Sequence[Side], right: Sequence[Side], given: int, surname: int
) -> ColumnElement[bool]:
    """Both names are alike the other row's other name, and more so than its own: conditions from rare to frequent."""

    def alike(one: Side, two: Side) -> ColumnElement[Any]:
        jaccard = backend.jaccard(one, two, reading)
        return case((_both(one, two), jaccard), else_=_real(0.0))

    over, back = alike(left[given], right[surname]), alike(left[surname], right[given])
    own = alike(left[given], right[given]) + alike(left[surname], right[surname])
    threshold = _real(ALIKE)
    ahead = case(
        (and_(over > threshold, back > threshold), over + back > own + _real(AHEAD)),
        else_=literal_column("1 = 0"),
    )
    return and_(over > threshold, ahead)


def _both(one: Side, two: Side) -> ColumnElement[bool]:
    return and_(one.count > 0, two.count > 0)


def _number(value: int) -> ColumnElement[int]:
    return literal_column(f"({value})", BigInteger)


def _real(value: float) -> ColumnElement[float]:
    """In binary, on PostgreSQL too."""
    return cast(literal_column(repr(value)), Double)

"""The score of two records as SQL: prior and weight of each field's level, in whole numbers, then the probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Double, Integer, and_, case, cast, literal_column

from dbsim.engines.backend import Backend
from dbsim.hashing.records.learning import Learned
from dbsim.hashing.records.levels import AHEAD, ALIKE, CROSSED, EQUAL
from dbsim.options import IndexOptions


@dataclass(frozen=True)
class Side:
    """One field of one row."""

    bits: ColumnElement[Any]
    count: ColumnElement[Any]
    rarity: ColumnElement[Any]


def evidence(
    backend: Backend, options: IndexOptions, learned: Learned, left: Sequence[Side], right: Sequence[Side]
) -> ColumnElement[int]:
    """The sum that `Learned.score` gives, in 1/UNIT bit."""
    parts = [
        _field(backend, field.bits, learned.evidence.weights[number].tolist(), left[number], right[number])
        for number, field in enumerate(options.fields)
    ]
    total = _number(learned.evidence.prior)
    if learned.crossed is not None:
        given, surname = learned.crossed
        weight = _number(int(learned.evidence.weights[given, CROSSED]))
        over = _crossed(backend, options.fields[given].bits, left, right, given, surname)
        total = total + case((over, weight), else_=parts[given] + parts[surname])
        parts = [part for number, part in enumerate(parts) if number not in learned.crossed]
    for part in parts:
        total = total + part
    return total


def _field(backend: Backend, size: int, weights: Sequence[int], one: Side, two: Side) -> ColumnElement[int]:
    """A missing value says nothing; an equal one the more the rarer it is."""
    level = case((_both(one, two), backend.level(one.bits, one.count, two.bits, two.count, size)))
    rarity = case((one.rarity < two.rarity, one.rarity), else_=two.rarity)
    worth: dict[int, ColumnElement[int]] = {number: _number(weights[number]) for number in range(1, EQUAL)}
    worth[EQUAL] = _number(weights[EQUAL]) + rarity
    branches: dict[ColumnElement[int], ColumnElement[int]] = {
        literal_column(str(number)): value for number, value in worth.items()
    }
    return case(branches, value=level, else_=_number(0))


def _crossed(
    backend: Backend, size: int, left: Sequence[Side], right: Sequence[Side], given: int, surname: int
) -> ColumnElement[bool]:
    """Both names are alike the other row's other name, and more so than its own: conditions from rare to frequent."""

    def alike(one: Side, two: Side) -> ColumnElement[Any]:
        jaccard = backend.jaccard(one.bits, one.count, two.bits, two.count, size)
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
    return literal_column(f"({value})", Integer)


def _real(value: float) -> ColumnElement[float]:
    """In binary, on PostgreSQL too."""
    return cast(literal_column(repr(value)), Double)

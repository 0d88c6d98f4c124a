"""The score of two rows as SQL: Σ weight·Ĵ over the fields present in both, weights renormalised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Double, and_, case, cast, func, literal_column

from dbsim.engines.backend import Backend, FilterColumns
from dbsim.options import IndexOptions

Filter = tuple[ColumnElement[Any], ColumnElement[Any]]  # bits, count


def score(
    backend: Backend, options: IndexOptions, left: Sequence[Filter], right: Sequence[Filter]
) -> ColumnElement[float]:
    """NULL when no field is present in both."""
    parts = []
    for field, (bits, count), (other_bits, other_count) in zip(options.fields, left, right, strict=True):
        both = and_(count > 0, other_count > 0)
        filters = FilterColumns(bits, count), FilterColumns(other_bits, other_count)
        parts.append((field.weight, both, backend.jaccard(*filters, field.reading)))
    if len(parts) == 1:
        _, both, value = parts[0]
        return case((both, value))
    zero = _number(0.0)
    total: ColumnElement[float] = zero
    weight: ColumnElement[float] = zero
    for share, both, value in parts:
        number = _number(share)
        total = total + case((both, number * value), else_=zero)
        weight = weight + case((both, number), else_=zero)
    return total / func.nullif(weight, zero, type_=Double)


def _number(value: float) -> ColumnElement[float]:
    """In binary, on PostgreSQL too, where 0.1 is a decimal: so 0.1 + 0.2 has the same last bit on every engine."""
    return cast(literal_column(repr(float(value))), Double)

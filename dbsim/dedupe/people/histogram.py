"""How many rows of a query have a score in each of BARS equal parts of 0 … 1, counted by the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Integer, case, cast, func, select

BARS = 40


def counted(value: ColumnElement[float]) -> Any:
    """A query: (bar, how many)."""
    bar = _bar(value)
    return select(bar, func.count()).group_by(bar)


def bars(rows: Iterable[Any]) -> list[int]:
    """The answer, with the bars that nothing is in."""
    found = [0] * BARS
    for place, number in rows:
        found[min(max(int(place), 0), BARS - 1)] += number
    return found


def _bar(value: ColumnElement[float]) -> ColumnElement[int]:
    """Which of BARS equal parts of 0 … 1; of a number cast to a whole one SQLite keeps less, PostgreSQL the nearest."""
    whole = cast(value * BARS, Integer)
    return (whole - case((whole > value * BARS, 1), else_=0)).label("bar")

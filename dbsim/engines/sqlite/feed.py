"""A column that grows with every change, on SQLite: its value as a text to keep, and compared with the column."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, literal_column

from dbsim.engines.backend import Backend
from dbsim.tables.names import literal

MOMENT = re.compile(r"'(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d)[^']*'")  # as SQLite quotes a text


class SQLiteFeed(Backend):
    """See `Feed` for what each step means."""

    def feed_text(self, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """With its type, which decides how SQLite compares it."""
        return func.quote(value)

    def feed_since(self, kept: str, type_: str, overlap: timedelta) -> ColumnElement[Any]:
        """A moment written as 2026-11-17 23:10:00 (or with a T) is put back; numbers have no unit."""
        found = MOMENT.fullmatch(kept)
        if found is None:
            return literal_column(kept)
        earlier = datetime.fromisoformat(f"{found[1]} {found[3]}") - overlap
        return literal_column(literal(f"{earlier:%Y-%m-%d}{found[2]}{earlier:%H:%M:%S}"))

"""A column that grows with every change, on PostgreSQL: its value as a text to keep, and compared with the column."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, literal_column

from dbsim.engines.backend import Backend
from dbsim.tables.names import literal


class PostgreSQLFeed(Backend):
    """See `Feed` for what each step means."""

    def feed_text(self, value: ColumnElement[Any]) -> ColumnElement[Any]:
        return cast(value, Text)

    def feed_since(self, kept: str, type_: str, overlap: timedelta) -> ColumnElement[Any]:
        since: ColumnElement[Any] = literal_column(f"{literal(kept)}::{type_.split(' COLLATE ')[0]}")
        if type_.startswith(("timestamp", "date")):
            return since - literal_column(f"interval '{int(overlap.total_seconds())} seconds'")
        return since

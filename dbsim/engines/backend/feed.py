"""Changes found by a column instead of triggers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement


class Feed(ABC):
    """A column that grows with every change of a row, for tables without triggers."""

    @abstractmethod
    def feed_text(self, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """A value of the column, as a text to keep."""

    @abstractmethod
    def feed_since(self, kept: str, type_: str, overlap: timedelta) -> ColumnElement[Any]:
        """That value in a comparison with the column; a moment is put back by the overlap."""

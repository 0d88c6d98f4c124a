"""Bit slices of word signatures, put together by the database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from sqlalchemy import Connection

from dbsim.tables.slice_tables import SliceTables

Terms = Sequence[Sequence[Sequence[int]]]


class Slices(ABC):
    """How bit slices are put together in SQL."""

    @abstractmethod
    def word_places(self, sliced: SliceTables, terms: Terms, wide: Terms | None, *, every: bool) -> str:
        """A statement for keys of the rows that may have every term, or one of them at least.

        A term is its slices in each field; a row may have it when some field has all of those. `wide` are the same
        terms in the slices of long texts, where there can be any.
        """

    def make_room(self, connection: Connection, *, writing: bool = False) -> None:
        """Memory for the pages that questions read again and again, or for those of the B-trees that are being written;
        only of connections that dbsim made itself."""
        return

    @abstractmethod
    def found_by(self, columns: Sequence[str], keys: str) -> str | None:
        """A condition on these columns of a large table: one of the few rows of a subquery; None if it takes a scan."""

"""Rows of the host's table as a search sees them: keys → the text of every field as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from dbsim.engines.stored_keys import stored_keys
from dbsim.errors import UnknownKey
from dbsim.search.several import Several
from dbsim.tables.key_conditions import chunks
from dbsim.tables.source import Key, public_key

Row = tuple[str, ...]  # the text of every field


@dataclass
class Rows(Several):
    """Of the table of one index."""

    def texts(self, keys: Sequence[Key]) -> list[str | None]:
        """The joined text of rows of the source; None for one that is gone."""
        return [None if row is None else "\n".join(row) for row in self.columns_of(keys)]

    def columns_of(self, keys: Sequence[Key]) -> list[Row | None]:
        """The text of every field of rows of the source; None for one that is gone."""
        found: dict[Key, Row] = {}
        with self.context.searching() as own:
            keys = stored_keys(own, self.backend, self.tables, keys)
            for some in chunks(keys, self.backend.key_batch):
                for batch in self.source_texts(own, some):
                    found |= zip(batch.keys, zip(*batch.columns, strict=True), strict=True)
        return [found.get(key) for key in keys]

    def _rows(self, connection: Connection, keys: Sequence[Key]) -> list[tuple[Key, Row] | None]:
        """The keys as the table has them and the text of every field, read at once; None for a row that is gone."""
        found = {
            key: tuple(texts)
            for batch in self.source_texts(connection, keys)
            for key, *texts in zip(batch.keys, *batch.columns, strict=True)
        }
        return [(key, found[key]) if key in found else self._perhaps(connection, key) for key in keys]

    def _perhaps(self, connection: Connection, key: Key) -> tuple[Key, Row] | None:
        """One row, however its key was written."""
        for batch in self.source_texts(connection, [key]):
            return batch.keys[0], tuple(column[0] for column in batch.columns)
        return None

    def _row(self, connection: Connection, key: Key) -> tuple[Key, Row]:
        found = self._perhaps(connection, key)
        if found is None:
            raise self._unknown(key)
        return found

    def _unknown(self, key: Key) -> UnknownKey:
        shown = public_key(self.tables.key_names, key)
        return UnknownKey(f"table {self.tables.record.options.table!r} has no row with the key {shown!r}")

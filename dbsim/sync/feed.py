"""Changes of a table without triggers, by a column that grows with every change: what was seen last → keys since.

It cannot see rows that were deleted, changes that leave the column as it was, and what is committed later than OVERLAP
after the moment it carries: `sync --reconcile` finds all of that. Rows in which it is NULL are looked at every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, column, delete, func, insert, or_, select

from dbsim.errors import UnknownName
from dbsim.sync.generations import Generations
from dbsim.tables.index_tables import feed_table
from dbsim.tables.key_conditions import after, key_columns
from dbsim.tables.source import Key

OVERLAP = timedelta(minutes=10)  # looked at again: a transaction may commit some time after it took its timestamp
PAGE = 5_000  # keys at once


@dataclass
class Feed:
    """Of one index with the option `changed`."""

    index: Generations

    def newest(self, connection: Connection) -> str | None:
        """The largest value there is now, as text; None in an empty table."""
        tables, backend = self.index.tables, self.index.backend
        name = tables.record.options.changed
        options = tables.record.options
        source = backend.describe(connection, options.table, options.schema)
        if source is None or name not in source.columns:
            raise UnknownName(f"column of table {options.table!r} named", name, source.columns if source else ())
        shown = backend.feed_text(func.max(column(name)))
        return connection.scalar(select(shown).select_from(tables.source))

    def since(self, connection: Connection) -> str | None:
        """What the last run has seen; None before the first."""
        return connection.scalar(select(feed_table(self.index.name).c.up_to))

    def note(self, connection: Connection, newest: str | None) -> None:
        made = feed_table(self.index.name)
        connection.execute(delete(made))
        if newest is not None:
            connection.execute(insert(made).values(up_to=newest))

    def keys(self, since: str) -> Iterator[list[Key]]:
        """Of rows that may have changed since then, in pages."""
        last: Key | None = None
        while page := self.index.read(partial(self._page, since=since, last=last)):
            yield page
            last = page[-1]

    def _page(self, connection: Connection, since: str, last: Key | None) -> list[Key]:
        tables, backend = self.index.tables, self.index.backend
        options = tables.record.options
        described = backend.describe(connection, options.table, options.schema)
        type_ = "" if described is None else described.columns[options.changed]
        keys = key_columns(tables.source, tables)
        changed: Any = column(options.changed)
        # some applications leave it NULL until the first change: nothing tells such rows from new ones
        new = or_(changed >= backend.feed_since(since, type_, OVERLAP), changed.is_(None))
        query = select(*keys).where(new).order_by(*keys).limit(PAGE)
        rows = connection.execute(query if last is None else query.where(after(keys, last)))
        return [tuple(row) for row in rows]

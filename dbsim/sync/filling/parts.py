"""Key ranges of a filling that several processes share: dbsim_<index>_parts, there while a generation is being filled.

Every part knows the keys it covers and how far it is. Whoever fills a part locks its row, reads on from `reached`, and
moves that in the transaction that stores the rows; so a process can be killed at any time, and the next run, with any
number of processes, goes on. The key's columns have the source's own types, so that any key is kept as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Integer,
    MetaData,
    Table,
    and_,
    false,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.schema import CreateTable

from dbsim.engines.backend import Backend
from dbsim.engines.execute import run
from dbsim.tables.index_tables import PlainType, TablesBeside, made_once, parts_name
from dbsim.tables.key_conditions import after, key_columns, up_to
from dbsim.tables.source import Key


@dataclass(frozen=True)
class Part:
    """Rows with after < key ≤ upto; those up to `reached` are stored. None: no row yet, or no bound."""

    number: int
    done: bool
    after: Key | None
    upto: Key | None
    reached: Key | None

    def rest(self, columns: Sequence[ColumnElement[object]]) -> list[ColumnElement[bool]]:
        """A condition on rows that are still to be stored."""
        low, found = self.reached or self.after, list[ColumnElement[bool]]()
        if low is not None:
            found.append(after(columns, low))
        if self.upto is not None:
            found.append(up_to(columns, self.upto))
        return found

    def covered(self, columns: Sequence[ColumnElement[object]]) -> ColumnElement[bool]:
        """A condition on rows whose turn is over; behind the last row of all it never is."""
        high = self.upto if self.done and self.upto is not None else self.reached
        if high is None:
            return false()
        return up_to(columns, high) if self.after is None else and_(after(columns, self.after), up_to(columns, high))


@dataclass(frozen=True)
class Parts(TablesBeside):
    """The parts of one generation."""

    @made_once
    def table(self) -> Table:
        names = self._names
        keys = [
            Column(names[kind][place], PlainType(type_))
            for kind in ("after", "upto", "reached")
            for place, (_, type_) in enumerate(self.tables.record.primary_key)
        ]
        return Table(
            parts_name(self.tables.record.name, self.tables.record.generation),
            MetaData(),
            Column("part", Integer, primary_key=True, autoincrement=False),
            Column("done", Boolean, nullable=False),
            *keys,
        )

    @property
    def _names(self) -> dict[str, list[str]]:
        width = len(self.tables.key_names)
        return {kind: [f"{kind}_{place}" for place in range(width)] for kind in ("after", "upto", "reached")}

    def create(self, connection: Connection, backend: Backend, count: int, stored: Key | None) -> None:
        """About equal numbers of rows in each, beginning behind the last row that is stored already."""
        connection.execute(CreateTable(self.table))
        run(connection, backend.table_settings([self.table.name]))
        cuts = self._cuts(connection, count, stored)
        bounds = [*([] if stored is None else [(None, stored)]), *zip([stored, *cuts], [*cuts, None], strict=True)]
        for number, (low, high) in enumerate(bounds):
            filled = stored is not None and number == 0
            values = self._values("after", low) | self._values("upto", high)
            values |= self._values("reached", high if filled else None)
            connection.execute(insert(self.table).values(part=number, done=filled, **values))

    def _cuts(self, connection: Connection, count: int, stored: Key | None) -> list[Key]:
        columns = key_columns(self.tables.source, self.tables)
        rows = select(*columns, func.row_number().over(order_by=columns).label("dbsim_number"))
        if stored is not None:
            rows = rows.where(after(columns, stored))
        numbered = rows.subquery("numbered")
        total = connection.scalar(select(func.count()).select_from(numbered)) or 0
        step = max(total // count, 1)
        keys = [numbered.c[name] for name in self.tables.key_names]
        query = select(*keys).where(numbered.c.dbsim_number % step == 0, numbered.c.dbsim_number <= step * (count - 1))
        return [tuple(row) for row in connection.execute(query.order_by(numbered.c.dbsim_number))]

    def _values(self, kind: str, key: Key | None) -> dict[str, object]:
        return {} if key is None else dict(zip(self._names[kind], key, strict=True))

    def all(self, connection: Connection) -> list[Part]:
        return [self._part(tuple(row)) for row in connection.execute(select(self.table).order_by(self.table.c.part))]

    def take(self, connection: Connection, number: int) -> Part:
        """Locked until the transaction ends."""
        query = select(self.table).where(self.table.c.part == number).with_for_update()
        return self._part(tuple(connection.execute(query).one()))

    def _part(self, row: tuple[object, ...]) -> Part:
        width = len(self.tables.key_names)
        keys = [row[2 + place * width : 2 + (place + 1) * width] for place in range(3)]
        return Part(int(str(row[0])), bool(row[1]), *(None if None in key else key for key in keys))

    def reach(self, connection: Connection, part: Part, key: Key | None, *, done: bool) -> None:
        """Rows up to the key are stored; `done`: there are no more."""
        values = self._values("reached", key)
        connection.execute(update(self.table).where(self.table.c.part == part.number).values(done=done, **values))

    def covered(self, connection: Connection) -> ColumnElement[bool]:
        """A condition on the source's rows whose turn is over."""
        columns = key_columns(self.tables.source, self.tables)
        return or_(false(), *(part.covered(columns) for part in self.all(connection)))

"""Compare stored signatures with the host's rows in both directions: Engine → Differences; repair on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, literal_column, select

from dbsim.engines.context import Stage
from dbsim.engines.pause import Pace
from dbsim.engines.source_rows import source_rows, texts
from dbsim.sync.presign import SignedAhead
from dbsim.sync.refresh import refresh, sign_ahead
from dbsim.tables import catalogue
from dbsim.tables.key_conditions import after, among, chunks, key_columns, up_to
from dbsim.tables.names import quote
from dbsim.tables.source import Key, Texts, key_json

Counter = Callable[[int, int], None]  # done, total
Stored = dict[Key, tuple[Any, ...]]

ALL = 1 << 40  # changes in the queue


@dataclass
class Differences:
    """Keys of rows that are not stored, stored without a row, or stored otherwise than they would be now."""

    compared: int = 0
    missing: list[Key] = field(default_factory=list)
    orphaned: list[Key] = field(default_factory=list)
    different: list[Key] = field(default_factory=list)
    repaired: int = 0

    @property
    def keys(self) -> list[Key]:
        return self.missing + self.orphaned + self.different

    def __bool__(self) -> bool:
        return bool(self.keys)

    def without(self, keys: Set[Key]) -> Differences:
        return Differences(
            compared=self.compared,
            missing=[key for key in self.missing if key not in keys],
            orphaned=[key for key in self.orphaned if key not in keys],
            different=[key for key in self.different if key not in keys],
        )

    def extend(self, part: Differences) -> None:
        self.compared += part.compared
        self.missing += part.missing
        self.orphaned += part.orphaned
        self.different += part.different
        self.repaired += part.repaired


@dataclass
class Comparison(Stage):
    """One walk through both tables in key order, a range at a time."""

    fingerprints_only: bool = False  # a fingerprint decides the whole signature, at a fraction of the work
    progress: Counter = lambda done, total: None

    def all(self, *, repair: bool) -> Differences:
        """Every row of both tables."""
        total = self.read(lambda c: c.scalar(select(func.count()).select_from(self.tables.source)))
        found, last, more = Differences(), None, True
        while more:
            last, part = self.read(partial(self._range, last=last))
            self._take(found, part, repair)
            self.progress(found.compared, max(total or 0, found.compared))
            more = last is not None
        return found

    def sample(self, size: int, *, repair: bool) -> Differences:
        """Some rows of each table, drawn at random."""
        drawn = self.read(lambda c: self._draw(c, size))
        return self.keys(drawn, repair=repair)

    def keys(self, keys: Sequence[Key], *, repair: bool = False) -> Differences:
        """Just these rows."""
        found = Differences()
        for some in chunks(keys, self.backend.key_batch):
            self._take(found, self.read(partial(self._some, keys=some)), repair)
            self.progress(found.compared, len(keys))
        return found

    def unexplained(self, keys: Sequence[Key]) -> Differences:
        """Of these rows, those that differ and do not wait in the queue, seen at one moment."""

        def work(connection: Connection) -> Differences:
            self.backend.snapshot(connection)
            found = Differences()
            for some in chunks(keys, self.backend.key_batch):
                found.extend(self._some(connection, some))
            return found.without({*self.backend.pending(connection, self.tables, ALL)})

        return self.read(work)

    def _take(self, found: Differences, part: Differences, repair: bool) -> None:
        """Add up; a repair reads the rows again under their locks, so the comparison itself needs none."""
        if repair and part:
            part.repaired = sum(self._repaired(part.keys))
        found.extend(part)

    def _repaired(self, keys: Sequence[Key]) -> Iterator[int]:
        """How many, a transaction at a time; on SQLite signed before the write lock is taken."""
        pace = Pace(self.backend.queue_batch, self.backend.writers_wait)
        while keys:
            some, keys = keys[: pace.size], keys[pace.size :]
            signer = SignedAhead(self.signer)
            if self.backend.writers_wait:
                signer = self.read(lambda c: sign_ahead(c, self.backend, self.tables, self.signer, some))  # noqa: B023
            yield pace.write(self.write, partial(self._repair, signer=signer, keys=some))

    def _repair(self, connection: Connection, signer: SignedAhead, keys: Sequence[Key]) -> int:
        self.backend.share(connection, self.tables.record.name)
        mine, found = self.tables.record, catalogue.generations(connection, self.tables.record.name)
        if (mine.generation, mine.secret) not in {(record.generation, record.secret) for record in found}:
            return 0  # dropped since the rows were compared
        return refresh(connection, self.backend, self.tables, signer, keys)

    def _draw(self, connection: Connection, size: int) -> list[Key]:
        drawn: list[Key] = []
        for table in (self.tables.source, self.tables.signatures):
            keys = key_columns(table, self.tables)
            query = select(*keys).where(*self.backend.readable_key(keys)).order_by(func.random()).limit(size)
            drawn += [tuple(row) for row in connection.execute(query)]
        return list(dict.fromkeys(drawn))

    def _some(self, connection: Connection, keys: list[Key]) -> Differences:
        source, stored = self.tables.source, self.tables.signatures
        query = source_rows(self.backend, self.tables).where(among(key_columns(source, self.tables), keys))
        there = self._stored(connection, among(key_columns(stored, self.tables), keys))
        return self._differences(connection, texts(connection, self.backend, self.tables, query), there)

    def _range(self, connection: Connection, last: Key | None) -> tuple[Key | None, Differences]:
        """The next rows of the source and everything stored between the same keys; the last range is open."""
        columns = key_columns(self.tables.source, self.tables)
        start = [column.is_not(None) for column in columns] + ([after(columns, last)] if last else [])
        start += self.backend.readable_key(columns)
        order = select(*columns).where(*start).order_by(*columns)
        end = connection.execute(order.offset(self.backend.fill_batch - 1).limit(1)).first()
        upper = tuple(end) if end else None
        query = source_rows(self.backend, self.tables).where(*start)
        stored_columns = key_columns(self.tables.signatures, self.tables)
        bounds = [after(stored_columns, last)] if last else []
        if upper is not None:
            query = query.where(up_to(columns, upper))
            bounds.append(up_to(stored_columns, upper))
        there = self._stored(connection, *bounds)
        return upper, self._differences(connection, texts(connection, self.backend, self.tables, query), there)

    def _stored(self, connection: Connection, *conditions: Any) -> Stored:
        table = self.tables.signatures
        width = len(self.tables.key_names)
        wanted = [table.c[self.tables.names.fingerprint]] if self.fingerprints_only else self._all_columns()[width:]
        rows = connection.execute(select(*key_columns(table, self.tables), *wanted).where(*conditions))
        return {tuple(row)[:width]: tuple(row)[width:] for row in rows}

    def _all_columns(self) -> list[ColumnElement[Any]]:
        """Also those that only SQL reads."""
        table = self.tables.signatures
        others = list(self.backend.stored_table(self.tables).c)[len(table.c) :]
        return [*table.c, *(literal_column(quote(column.name), column.type) for column in others)]

    def _differences(self, connection: Connection, batches: Iterator[Texts], stored: Stored) -> Differences:
        found = Differences()
        for batch in batches:
            signed = list(zip(batch.keys, self._fresh(batch), strict=True))
            held = self._held(connection, [key for key, fresh in signed if fresh[0] is None])
            for key, fresh in signed:
                found.compared += 1
                old = stored.pop(key, None)
                if old is None:
                    found.missing.append(key)
                elif self._comparable(old) != fresh or batch.failures.get(key) != held.get(key_json(key)):
                    found.different.append(key)
        found.orphaned = list(stored)
        found.compared += len(stored)
        return found

    def _held(self, connection: Connection, keys: Sequence[Key]) -> dict[str, str]:
        """Why rows are in quarantine: they have no signature, like empty texts, so it cannot tell the two apart."""
        table, found = catalogue.quarantine_table, {}
        for some in chunks(keys, self.backend.key_batch):
            rows = connection.execute(
                select(table.c.source_key, table.c.reason).where(
                    table.c.index_name == self.tables.record.name,
                    table.c.generation == self.tables.record.generation,
                    table.c.source_key.in_([key_json(key) for key in some]),
                )
            )
            found.update({row.source_key: row.reason for row in rows})
        return found

    def _fresh(self, batch: Texts) -> list[tuple[Any, ...]]:
        if self.fingerprints_only:
            present, values = self.signer.fingerprint(batch.columns)
            return [(value if there else None,) for there, value in zip(present.tolist(), values.tolist(), strict=True)]
        return self.backend.stored_values(self.signer.sign(batch.columns))

    def _comparable(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.fingerprints_only:
            return values
        head = 1 + self.tables.record.options.keys
        end = head + 2 * len(self.tables.record.options.fields)
        filters = [
            self.backend.read_bits(value) if place % 2 == 0 and value is not None else value
            for place, value in enumerate(values[head:end])
        ]
        return (*values[:head], *filters, *values[end:])

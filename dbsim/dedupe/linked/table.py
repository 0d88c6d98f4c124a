"""The table of links: a_<key of A>, b_<key of B>, score, evidence as JSON, decision; what people wrote is read back."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Double, MetaData, Table, Text, delete, insert, inspect, select

from dbsim.dedupe.linked.results import Link, Pair
from dbsim.errors import InvalidOption
from dbsim.tables.decision_tables import DIFFERENT, SAME
from dbsim.tables.index_tables import IndexTables, PlainType, links_name
from dbsim.tables.key_conditions import among, chunks, sendable
from dbsim.tables.names import identifier
from dbsim.tables.source import Key

BATCH = 500  # rows written or deleted in one statement


@dataclass(frozen=True)
class Stored:
    """A link of a former run."""

    pair: Pair
    evidence: str


@dataclass(frozen=True)
class LinkTable:
    """`alike`: both indexes are on one engine; else keys of B are text."""

    table: Table
    mine: int  # columns of A's key
    alike: bool

    @staticmethod
    def of(mine: IndexTables, other: IndexTables, into: str | None, *, alike: bool) -> LinkTable:
        name = into or links_name(mine.record.name, other.record.name)
        own = [Column(identifier("a", key), PlainType(type_)) for key, type_ in mine.record.primary_key]
        theirs = [
            Column(identifier("b", key), PlainType(type_) if alike else Text())
            for key, type_ in other.record.primary_key
        ]
        values = [Column("score", Double), Column("evidence", Text), Column("decision", Text)]
        return LinkTable(Table(name, MetaData(), *own, *theirs, *values), len(own), alike)

    @property
    def name(self) -> str:
        return self.table.name

    def read(self, connection: Connection) -> dict[tuple[str, str], Stored]:
        """What is there; a decision that is none, and a table of somebody else, are refused."""
        looked = inspect(connection)
        if not looked.has_table(self.name):
            return {}
        if [one["name"] for one in looked.get_columns(self.name)] != [one.name for one in self.table.c]:
            raise InvalidOption(f"there is another table {self.name!r}: name one for the links (into, --into)")
        found = (self._stored(tuple(row)) for row in connection.execute(select(self.table)))
        return {one.pair.name: one for one in found}

    def _stored(self, row: tuple[Any, ...]) -> Stored:
        score, evidence, decision = row[-3:]
        if decision is not None and decision not in (SAME, DIFFERENT):
            raise InvalidOption(f"the decision {decision!r} is none: write {SAME} or {DIFFERENT}, or NULL")
        return Stored(Pair(row[: self.mine], row[self.mine : -3], score, decision), evidence)

    def write(
        self, connection: Connection, links: Sequence[tuple[Pair, Link]], changed: Collection[Key] | None
    ) -> None:
        """Replace the links of these rows of A, or of all."""
        self.table.create(connection, checkfirst=True)
        columns = list(self.table.c)[: self.mine]
        if changed is None or not all(map(sendable, changed)):
            changed = None
            connection.execute(delete(self.table))
        else:
            for some in chunks(changed, BATCH):
                connection.execute(delete(self.table).where(among(columns, some)))
        wanted = [one for one in links if changed is None or one[0].a in changed]
        for start in range(0, len(wanted), BATCH):
            connection.execute(insert(self.table), [self._row(*one) for one in wanted[start : start + BATCH]])

    def _row(self, pair: Pair, link: Link) -> dict[str, Any]:
        b = pair.b if self.alike else tuple(str(part) for part in pair.b)
        values = (*pair.a, *b, link.score, json.dumps(link.evidence), link.decision)
        return dict(zip((column.name for column in self.table.c), values, strict=True))

"""What people decided about pairs of rows, as a table anybody may read and write: IndexTables → Table.

dbsim_<index>_decisions  one row a pair, the smaller key first: verdict, who, when, note, and what was decided upon
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ColumnElement,
    Delete,
    Double,
    MetaData,
    PrimaryKeyConstraint,
    ScalarSelect,
    Select,
    Table,
    Text,
    and_,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    text,
)
from sqlalchemy.schema import CreateIndex, Index

from dbsim.tables.index_tables import PlainType, TablesBeside, made_once
from dbsim.tables.key_conditions import among
from dbsim.tables.names import identifier, quote
from dbsim.tables.source import Key
from dbsim.tables.types import moment, placed, writer

SAME, DIFFERENT, UNSURE = VERDICTS = ("same", "different", "unsure")
NO_TEXT, CHANGED = -1, -2  # instead of a fingerprint: a row without features; one whose text is another since long
LONGEST = {"decided_by": 200, "note": 4000}  # characters


def decisions_name(index: str) -> str:
    return identifier("dbsim", index, "decisions")


def decided_name(index: str) -> str:
    """PostgreSQL: the view of them for a role that was granted the index."""
    return identifier("dbsim", index, "decided")


def sides_of(key_names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Column names of both keys, as in the view of pairs: a and b, or a_<column>, … for a composite key."""
    if len(key_names) == 1:
        return ["a"], ["b"]
    return [identifier("a", name) for name in key_names], [identifier("b", name) for name in key_names]


@dataclass(frozen=True)
class DecisionTables(TablesBeside):
    """The table of one index, whatever its generation: the keys are the source's."""

    @made_once
    def sides(self) -> tuple[list[str], list[str]]:
        return sides_of(self.tables.key_names)

    @made_once
    def decisions(self) -> Table:
        name = (decided_name if self.tables.shown else decisions_name)(self.tables.record.name)
        types = [type_ for _, type_ in self.tables.record.primary_key]
        keys = [
            Column(n, PlainType(t), nullable=False) for side in self.sides for n, t in zip(side, types, strict=True)
        ]
        return Table(
            name,
            MetaData(),
            *keys,
            Column("verdict", Text, nullable=False),
            Column("decided_by", Text, nullable=False, server_default=writer()),
            Column("decided_at", moment(), nullable=False, server_default=text("CURRENT_TIMESTAMP")),
            Column("note", Text, nullable=False, server_default=""),
            Column("score", Double),
            Column("fingerprint_a", BigInteger),  # of the texts when it was decided; NULL until the next sync looks
            Column("fingerprint_b", BigInteger),
            PrimaryKeyConstraint(*(key.name for key in keys), name=identifier(name, "pkey")),
            *self._constraints(name),
        )

    def _constraints(self, name: str) -> list[CheckConstraint]:
        first, second = (", ".join(map(quote, side)) for side in self.sides)
        listed = ", ".join(f"'{verdict}'" for verdict in VERDICTS)
        lengths = " AND ".join(f"length({column}) <= {most}" for column, most in LONGEST.items())
        return [
            CheckConstraint(_plain(f"({first}) < ({second})"), name=identifier(name, "smaller_key_first")),
            CheckConstraint(f"verdict IN ({listed})", name=identifier(name, "verdict")),
            CheckConstraint("score IS NULL OR score BETWEEN 0 AND 1", name=identifier(name, "score")),
            CheckConstraint(lengths, name=identifier(name, "length")),
        ]

    def index(self) -> CreateIndex:
        """To find the decisions about a row by its second place."""
        columns = [self.decisions.c[name] for name in self.sides[1]]
        place = placed(self.tables.record.options.tablespace)
        return CreateIndex(Index(identifier(self.decisions.name, "b"), *columns, **place), if_not_exists=True)

    # ── conditions ──
    def keys(self, side: int) -> list[ColumnElement[Any]]:
        return [self.decisions.c[name] for name in self.sides[side]]

    def row(self, side: int, stored: Any) -> ColumnElement[bool]:
        """`stored`, a row of the signature table, is the decision's first or second one."""
        own = (stored.c[name] for name in self.tables.key_names)
        return and_(*(a == b for a, b in zip(self.keys(side), own, strict=True)))

    def fingerprint(self, stored: Any) -> ColumnElement[Any]:
        """Of a row as it is stored now."""
        return func.coalesce(stored.c[self.tables.names.fingerprint], NO_TEXT)

    def in_force(self) -> Select[Any]:
        """Both keys, the verdict and the fingerprints of both rows, of decisions that count."""
        contents = [self._content(side) for side in (0, 1)]
        valid = self.valid(*(func.coalesce(one, NO_TEXT) for one in contents))
        return select(*self.keys(0), *self.keys(1), self.decisions.c.verdict, *contents).where(
            valid, self.decisions.c.verdict != UNSURE, *(one.is_not(None) for one in contents)
        )

    def _content(self, side: int) -> ScalarSelect[Any]:
        """Looked up and not joined: SQLite would begin the join with every row there is, and decisions are few."""
        stored = self.tables.signatures
        found = select(stored.c[self.tables.names.fingerprint]).where(self.row(side, stored))
        return found.correlate(self.decisions).scalar_subquery()

    def orphaned(self) -> ColumnElement[bool]:
        """A row of it is gone, perhaps without a worker: an inline index's triggers know nothing of decisions."""
        stored = self.tables.signatures
        rows = (select(stored.c[self.tables.key_names[0]]).where(self.row(side, stored)) for side in (0, 1))
        return not_(and_(*(exists(row.correlate(self.decisions)) for row in rows)))

    def without_rows(self, keys: Sequence[Key]) -> list[Delete]:
        """Statements that delete the decisions about those of these rows that are no longer stored."""
        stored, table = self.tables.signatures, self.decisions
        found = []
        for side in (0, 1):
            gone = not_(exists(select(stored.c[self.tables.key_names[0]]).where(self.row(side, stored))))
            found.append(delete(table).where(among(self.keys(side), keys), gone))
        return found

    def in_order(self) -> Select[Any]:
        """Decisions in force, the oldest first."""
        return self.in_force().order_by(self.decisions.c.decided_at, *self.keys(0), *self.keys(1))

    def valid(self, now_a: ColumnElement[Any], now_b: ColumnElement[Any]) -> ColumnElement[bool]:
        """Both texts have the fingerprints of those that were decided upon; what has not been looked at yet counts."""
        pairs = ((self.decisions.c.fingerprint_a, now_a), (self.decisions.c.fingerprint_b, now_b))
        return and_(*(or_(then.is_(None), then == now) for then, now in pairs))


def _plain(condition: str) -> str:
    """SQLAlchemy takes a colon in the text of a constraint for a parameter."""
    return condition.replace(":", "\\:")

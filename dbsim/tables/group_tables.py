"""The tables of an index's stored pairs and groups, made when they are first asked for: IndexTables → GroupTables.

dbsim_<index>_edges     near-duplicate pairs of contents, each content by its fingerprint
dbsim_<index>_contents  the group of every content, one generation for each full regrouping
dbsim_<index>_changes   contents that came or went since the pairs were last brought up to date
dbsim_<index>_grouping  one row: how the pairs and groups were made, and how far a run has come
dbsim_<index>_groups    a view for users: one row for every row of the source that belongs to a group
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    column,
    insert,
    literal_column,
    select,
    table,
)
from sqlalchemy.schema import CreateIndex, Index

from dbsim.tables.index_tables import IndexTables, PlainType, free_name
from dbsim.tables.key_conditions import among, key_columns
from dbsim.tables.names import identifier, quote
from dbsim.tables.source import Key


@dataclass(frozen=True)
class GroupTables:
    """The names and SQLAlchemy tables of one index's groups."""

    tables: IndexTables

    @cached_property
    def edges(self) -> Table:
        return self._table(
            "edges",
            Column("a", BigInteger, primary_key=True, autoincrement=False),
            Column("b", BigInteger, primary_key=True, autoincrement=False),
            Column("score", Double, nullable=False),
        )

    @cached_property
    def contents(self) -> Table:
        """group_id is the fingerprint of the representative's content; the key columns are the representative's."""
        keys = [
            Column(name, PlainType(type_))
            for name, (_, type_) in zip(self.representative, self.tables.record.primary_key, strict=True)
        ]
        return self._table(
            "contents",
            Column("generation", Integer, primary_key=True, autoincrement=False),
            Column("fingerprint", BigInteger, primary_key=True, autoincrement=False),
            Column("group_id", BigInteger, nullable=False),
            Column("score", Double, nullable=False),
            Column("diameter", Double, nullable=False),
            *keys,
        )

    @cached_property
    def changes(self) -> Table:
        """`gained` is -1 for a content that lost a row and 1 for one that got one; its bucket keys come along."""
        keys = [Column(f"k{number}", BigInteger) for number in range(self.tables.record.options.keys)]
        return self._table("changes", Column("gained", SmallInteger), Column("fingerprint", BigInteger), *keys)

    @cached_property
    def state(self) -> Table:
        return self._table(
            "grouping",
            Column("id", Integer, primary_key=True, autoincrement=False),
            Column("token", Text, nullable=False),  # whose run it is
            Column("version", BigInteger, nullable=False),  # raised with every change of this row
            Column("pairing", Text, nullable=False),  # JSON of how pairs are found; '' before the first run
            Column("reached", BigInteger),  # pairs whose smaller fingerprint is up to here are stored
            Column("paired", Boolean, nullable=False),  # no run is under way: changes may be worked in
            Column("settled", Boolean, nullable=False),  # the changes made while pairs were sought are worked in
            Column("generation", Integer, nullable=False),  # of the groups shown; 0 before there are any
            Column("grouping", Text, nullable=False),  # JSON of how they were grouped
            Column("limited", Text, nullable=False),  # JSON of what was too large to compare all with all
        )

    @cached_property
    def representative(self) -> list[str]:
        """Names of the representative's key columns."""
        taken = {"generation", "fingerprint", "group_id", "score", "diameter"}
        taken |= {name.lower() for name in self.tables.key_names}
        return [free_name(taken, "representative", name) for name in self.tables.key_names]

    @cached_property
    def shown(self) -> list[str]:
        """Names of the view's columns after the row's own key: group, score, diameter, then the representative."""
        taken = {name.lower() for name in self.tables.key_names}
        return [*(free_name(taken, name) for name in ("group_id", "score", "diameter")), *self.representative]

    @cached_property
    def groups(self) -> Any:
        """The view."""
        return table(self._name("groups"), *(column(name) for name in (*self.tables.key_names, *self.shown)))

    def _name(self, suffix: str) -> str:
        return identifier("dbsim", self.tables.record.name, suffix)

    def _table(self, suffix: str, *columns: Column[Any]) -> Table:
        return Table(self._name(suffix), MetaData(), *columns)

    @property
    def all(self) -> list[Table]:
        return [self.edges, self.contents, self.changes, self.state]

    def indexes(self) -> list[CreateIndex]:
        found = [
            Index(identifier(self.edges.name, "b"), self.edges.c.b),
            Index(identifier(self.contents.name, "group"), self.contents.c.generation, self.contents.c.group_id),
        ]
        return [CreateIndex(index, if_not_exists=True) for index in found]

    def view(self) -> str:
        """The statement that makes the view; it reads dbsim's own tables only."""
        names, shown = self.tables.names, self.shown
        stored, contents, state = self.tables.signatures.name, self.contents.name, self.state.name
        taken = [(column, name) for column, name in zip(("group_id", "score", "diameter"), shown, strict=False)]
        taken += [(name, name) for name in self.representative]
        columns = [f"s.{quote(name)} AS {quote(name)}" for name in self.tables.key_names]
        columns += [f"c.{quote(column)} AS {quote(name)}" for column, name in taken]
        return (
            f"CREATE VIEW {quote(self._name('groups'))} AS SELECT {', '.join(columns)} FROM {quote(state)} g "
            f"JOIN {quote(contents)} c ON c.generation = g.generation "
            f"JOIN {quote(stored)} s ON s.{quote(names.fingerprint)} = c.fingerprint"
        )


def note_changes(connection: Connection, tables: IndexTables, keys: Sequence[Key], gained: int) -> None:
    """Write down the contents of these rows as they are stored now: `gained` is -1 before a change and 1 after it."""
    groups = GroupTables(tables)
    stored, names = tables.signatures, tables.names
    fingerprint = stored.c[names.fingerprint]
    found = select(literal_column(str(gained)), fingerprint, *(stored.c[name] for name in names.keys)).where(
        among(key_columns(stored, tables), keys), fingerprint.is_not(None)
    )
    connection.execute(insert(groups.changes).from_select(list(groups.changes.c), found))

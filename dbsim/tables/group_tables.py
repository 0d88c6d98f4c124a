"""The tables of an index's stored pairs and groups, made when they are first asked for: IndexTables → GroupTables.

dbsim_<index>_grouping      one row a pairing: how pairs were sought, and how far a run has come
dbsim_<index>_edges         its near-duplicate pairs of contents, each content by its fingerprint
dbsim_<index>_changes       contents that came or went since its pairs were last brought up to date
dbsim_<index>_results       one row a result: its name, whose pairs it groups and how
dbsim_<index>_contents      the group of every content, one generation for each full regrouping
dbsim_<index>_apart         rows that are a content of their own, because decisions name several rows of it
dbsim_<index>_respected     the decisions in force that groups were last made with
dbsim_<index>_claims        pairs that somebody looks at just now
dbsim_<index>_groups        a view for users: one row for every row of the source in a group of the published result
dbsim_<index>_saved_groups  the same of all results, with the result's name
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    String,
    Table,
    Text,
    column,
    insert,
    literal_column,
    select,
    table,
    true,
)
from sqlalchemy.schema import CreateIndex, Index

from dbsim.tables.decision_tables import sides_of
from dbsim.tables.index_tables import IndexTables, PlainType, TablesBeside, free_name, made_once
from dbsim.tables.key_conditions import among
from dbsim.tables.names import identifier, literal, quote
from dbsim.tables.source import Key
from dbsim.tables.types import placed

ORDERS = ("group_rows", "lowest", "diameter")  # of lists of groups
PUBLISHED = "published"  # the result that dbsim_<index>_groups shows


@dataclass(frozen=True)
class GroupTables(TablesBeside):
    """The names and SQLAlchemy tables of one index's groups."""

    @made_once
    def edges(self) -> Table:
        """`score` is what decided: computed from the texts where `exact`, else the estimate."""
        return self._table(
            "edges",
            Column("pairing", Integer, primary_key=True, autoincrement=False),
            Column("a", BigInteger, primary_key=True, autoincrement=False),
            Column("b", BigInteger, primary_key=True, autoincrement=False),
            Column("score", Double, nullable=False),
            Column("exact", Boolean, nullable=False),
        )

    @made_once
    def contents(self) -> Table:
        """group_id is the fingerprint of the representative's content; the key columns are the representative's.

        A row of `apart` stands here under its own number, with its content beside it.
        """
        keys = [
            Column(name, PlainType(type_))
            for name, (_, type_) in zip(self.representative, self.tables.record.primary_key, strict=True)
        ]
        return self._table(
            "contents",
            Column("generation", Integer, primary_key=True, autoincrement=False),
            Column("fingerprint", BigInteger, primary_key=True, autoincrement=False),
            Column("content", BigInteger, nullable=False),
            Column("group_id", BigInteger, nullable=False),
            Column("score", Double, nullable=False),
            Column("diameter", Double, nullable=False),
            Column("exact", Boolean, nullable=False),  # the score; see edges
            Column("group_rows", BigInteger),  # of the whole group, and its lowest score: with the representative only,
            Column("lowest", Double),  # so that lists of groups are read off an index
            *keys,
        )

    @made_once
    def apart(self) -> Table:
        """`number`, which is negative, stands in `contents` in the place of the row's fingerprint."""
        taken = {"generation", "number", "fingerprint"}
        keys = [
            Column(free_name(taken, "row", name), PlainType(type_), primary_key=True, autoincrement=False)
            for name, type_ in self.tables.record.primary_key
        ]
        return self._table(
            "apart",
            Column("generation", Integer, primary_key=True, autoincrement=False),
            Column("number", BigInteger, nullable=False),
            Column("fingerprint", BigInteger, nullable=False),
            *keys,
        )

    @made_once
    def respected(self) -> Table:
        """A row a decision in force; the fingerprints are those of the rows."""
        sides, types = sides_of(self.tables.key_names), [type_ for _, type_ in self.tables.record.primary_key]
        keys = [
            Column(name, PlainType(type_), primary_key=True, autoincrement=False)
            for side in sides
            for name, type_ in zip(side, types, strict=True)
        ]
        return self._table(
            "respected",
            *keys,
            Column("verdict", Text, nullable=False),
            Column("fingerprint_a", BigInteger, nullable=False),
            Column("fingerprint_b", BigInteger, nullable=False),
        )

    @made_once
    def claims(self) -> Table:
        return self._table(
            "claims",
            Column("pair", String(32), primary_key=True),  # a hash of both keys
            Column("holder", String(64), nullable=False),  # which browser
            Column("until", BigInteger, nullable=False),  # seconds
        )

    @made_once
    def changes(self) -> Table:
        """`gained` is -1 for a content that lost a row and 1 for one that got one; its bucket keys come along.

        0 is for one whose text could not be read when it was to be compared: it is compared again.
        """
        keys = [Column(f"k{number}", BigInteger) for number in range(self.tables.record.options.keys)]
        return self._table(
            "changes",
            Column("pairing", Integer),
            Column("gained", SmallInteger),
            Column("fingerprint", BigInteger),
            *keys,
        )

    @made_once
    def state(self) -> Table:
        return self._table(
            "grouping",
            Column("id", Integer, primary_key=True, autoincrement=False),  # of the pairing
            Column("token", Text, nullable=False),  # whose run it is; '' when nobody's
            Column("seen", BigInteger, nullable=False),  # when the run last gave a sign of life, in seconds
            Column("version", BigInteger, nullable=False),  # raised with every change of this row
            Column("pairing", Text, nullable=False),  # JSON of how pairs are found
            Column("bucket", BigInteger, nullable=False),  # the largest that is compared all with all; 0: not known yet
            Column("reached", BigInteger),  # pairs whose smaller fingerprint is up to here are stored
            Column("paired", Boolean, nullable=False),  # no run is under way: changes may be worked in
            Column("settled", Boolean, nullable=False),  # the changes made while pairs were sought are worked in
            Column("limited", Text, nullable=False),  # JSON of what was too large to compare all with all
        )

    @made_once
    def results(self) -> Table:
        return self._table(
            "results",
            Column("name", String(200), primary_key=True),  # PUBLISHED is what the view of groups shows
            Column("pairing", Integer, nullable=False),
            Column("generation", Integer, nullable=False),  # of the groups; 0 before there are any
            Column("grouping", Text, nullable=False),  # JSON of how they were grouped
            Column("saved", Boolean, nullable=False),  # False: an exploration, which goes some time after it was asked
            Column("asked", BigInteger, nullable=False),  # when, in seconds
        )

    @made_once
    def representative(self) -> list[str]:
        """Names of the representative's key columns."""
        taken = {"generation", "fingerprint", "content", "group_id", "score", "diameter", "exact", "result"}
        taken |= {"group_rows", "lowest"}
        taken |= {name.lower() for name in self.tables.key_names}
        return [free_name(taken, "representative", name) for name in self.tables.key_names]

    @property
    def apart_keys(self) -> list[str]:
        """Names of the key columns of `apart`."""
        return [column.name for column in list(self.apart.c)[3:]]

    @made_once
    def shown(self) -> list[str]:
        """Names of the view's columns after the row's own key: group, score, diameter, representative, exact."""
        taken = {name.lower() for name in self.tables.key_names}
        values = [free_name(taken, name) for name in ("group_id", "score", "diameter", "exact")]
        return [*values[:3], *self.representative, values[3]]

    @made_once
    def result_name(self) -> str:
        """The column of the second view that names the result."""
        return free_name({name.lower() for name in self.tables.key_names}, "result")

    @made_once
    def groups(self) -> Any:
        """The view of the published result."""
        return table(self._name("groups"), *(column(name) for name in (*self.tables.key_names, *self.shown)))

    @made_once
    def saved_groups(self) -> Any:
        """The view of all results."""
        names = (self.result_name, *self.tables.key_names, *self.shown)
        return table(self._name("saved_groups"), *(column(name) for name in names))

    def _name(self, suffix: str) -> str:
        return identifier("dbsim", self.tables.record.name, suffix)

    def _table(self, suffix: str, *columns: Column[Any]) -> Table:
        return Table(self._name(suffix), MetaData(), *columns)

    @property
    def all(self) -> list[Table]:
        found = [self.edges, self.contents, self.changes, self.state, self.results]
        return [*found, self.apart, self.respected, self.claims]

    def indexes(self) -> list[CreateIndex]:
        place = placed(self.tables.record.options.tablespace)
        edges, contents = self.edges, self.contents
        found = [
            Index(identifier(edges.name, "b"), edges.c.pairing, edges.c.b, **place),
            Index(identifier(edges.name, "score"), *(edges.c[one] for one in ("pairing", "score", "a", "b")), **place),
            Index(identifier(contents.name, "group"), contents.c.generation, contents.c.group_id, **place),
            *(self._order(name) for name in ORDERS),
        ]
        return [CreateIndex(index, if_not_exists=True) for index in found]

    def _order(self, name: str) -> Index:
        """Groups by one of their figures; only representatives are in it."""
        columns = [self.contents.c[one] for one in ("generation", name, "group_id")]
        leads = self.contents.c.group_rows.is_not(None)
        place = placed(self.tables.record.options.tablespace)
        named = identifier(self.contents.name, name)
        return Index(named, *columns, postgresql_where=leads, sqlite_where=leads, **place)

    def views(self) -> list[str]:
        """The statements that make the views; they read dbsim's own tables only."""
        published, made = f"r.name = {literal(PUBLISHED)}", "r.grouping <> ''"
        named = [f"r.name AS {quote(self.result_name)}"]
        return [self._view(self.groups.name, [], published), self._view(self.saved_groups.name, named, made)]

    def _view(self, name: str, first: list[str], condition: str) -> str:
        own = ["group_id", "score", "diameter", *self.representative, "exact"]
        columns = first + [f"s.{quote(key)} AS {quote(key)}" for key in self.tables.key_names]
        columns += [f"c.{quote(one)} AS {quote(shown)}" for one, shown in zip(own, self.shown, strict=True)]
        rows = zip(self.apart_keys, self.tables.key_names, strict=True)
        own_row = " AND ".join(f"x.{quote(apart)} = s.{quote(key)}" for apart, key in rows)
        return (
            f"CREATE VIEW {quote(name)} AS SELECT {', '.join(columns)} FROM {quote(self.results.name)} r "
            f"JOIN {quote(self.contents.name)} c ON c.generation = r.generation "
            f"JOIN {quote(self.tables.signatures.name)} s ON s.{quote(self.tables.names.fingerprint)} = c.content "
            f"LEFT JOIN {quote(self.apart.name)} x "
            f"ON x.generation = c.generation AND x.fingerprint = c.content AND {own_row} "
            f"WHERE {condition} AND coalesce(x.number, c.content) = c.fingerprint"
        )


def note_changes(connection: Connection, tables: IndexTables, keys: Sequence[Key], gained: int) -> None:
    """Write down the contents of these rows as they are stored now, for every pairing.

    `gained` is -1 before a change and 1 after it.
    """
    groups = GroupTables.of(tables)
    stored, names = tables.signatures, tables.names
    fingerprint = stored.c[names.fingerprint]
    values = (groups.state.c.id, literal_column(str(gained)), fingerprint, *(stored.c[name] for name in names.keys))
    every = stored.join(groups.state, true())
    found = select(*values).select_from(every).where(among(tables.stored_key, keys), fingerprint.is_not(None))
    connection.execute(insert(groups.changes).from_select(list(groups.changes.c), found))

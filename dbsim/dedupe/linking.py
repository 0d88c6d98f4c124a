"""Rows of one index that are rows of another, also of another database: two SearchEngines → dbsim_<A>_links_<B>.

The texts of A are signed with B's secret and looked up in B, a batch at a time; B's model says the probability. A run
replaces the table in one transaction, so that it always is what a run from nothing gives, but for the decisions in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Column, Connection, Double, MetaData, Table, Text, delete, func, insert, inspect, select

from dbsim.dedupe.matching import one_to_one
from dbsim.engines.signature_rows import as_signatures
from dbsim.errors import DbsimError, InvalidOption
from dbsim.hashing.bloom import Filters
from dbsim.hashing.records.waterfall import waterfalls
from dbsim.hashing.signer import Signatures
from dbsim.progress import Progress
from dbsim.search.limits import Bounds, Search
from dbsim.search.searcher import SearchEngine
from dbsim.tables.catalogue import is_ready
from dbsim.tables.decision_tables import DIFFERENT, SAME
from dbsim.tables.index_tables import IndexTables, PlainType, links_name
from dbsim.tables.key_conditions import after, among, chunks, key_columns
from dbsim.tables.names import identifier
from dbsim.tables.source import Key, public_key

BATCH = 200  # rows of A asked with in one statement
MOST = 100  # rows of B for one of A
FORCED = 2.0  # the score of a pair that people decided to be the same, for the assignment


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """`one_to_one`: every row has one partner at most; `into` is the table, `dbsim_<A>_links_<B>` unless named."""

    threshold: float | None = None
    one_to_one: bool = False
    into: str | None = None


@dataclass(frozen=True)
class Link:
    """A row of A, a row of B, their score (of persons the probability), what speaks for it, and what people said."""

    a: Any
    b: Any
    score: float
    evidence: dict[str, Any]
    decision: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "score": self.score, "evidence": self.evidence, "decision": self.decision}


class Links(list[Link]):
    """In the order of A's keys, the best first; `table` holds them, `asked` rows of A were looked up."""

    table: str = ""
    asked: int = 0


@dataclass(frozen=True)
class _Pair:
    a: Key
    b: Key
    score: float
    decision: str | None = None


@dataclass(frozen=True)
class Linking:
    """One run."""

    mine: SearchEngine
    other: SearchEngine
    options: LinkOptions
    progress: Progress

    def run(self) -> Links:
        _require_alike(self.mine, self.other)
        table = link_table(self.mine.tables, self.other.tables, self.options.into, alike=self._one_engine)
        known = self.mine.read(partial(self._decided, table=table))
        asked, pairs = 0, list[_Pair]()
        for keys in self._pages():
            pairs += self._found(keys)
            asked += len(keys)
        chosen = self._chosen(pairs, known)
        found = Links(self._links(chosen))
        found.table, found.asked = table.name, asked
        self.mine.write(partial(self._store, table=table, links=found, pairs=chosen))
        return found

    @property
    def _one_engine(self) -> bool:
        return type(self.mine.backend) is type(self.other.backend)

    # ── asking ──
    def _pages(self) -> Iterator[list[Key]]:
        """The keys of A's rows that have a text, in order."""
        stored, tables, last = self.mine.tables.signatures, self.mine.tables, None
        keys = key_columns(stored, tables)
        total, done = self.mine.read(self._size), 0
        while True:
            query = select(*keys).where(stored.c[tables.names.fingerprint].is_not(None)).order_by(*keys).limit(BATCH)
            query = query if last is None else query.where(after(keys, last))
            page = [tuple(row) for row in self.mine.read(lambda c: c.execute(query).all())]  # noqa: B023
            if not page:
                return
            yield page
            last, done = page[-1], done + len(page)
            self.progress("linking", done, max(done, total))

    def _size(self, connection: Connection) -> int:
        return connection.scalar(select(func.count()).select_from(self.mine.tables.signatures)) or 0

    @property
    def _bounds(self) -> Bounds:
        return Search(threshold=self.options.threshold, limit=MOST).bounds(self.other.options)

    def _found(self, keys: Sequence[Key]) -> list[_Pair]:
        rows = [(key, texts) for key, texts in zip(keys, self.mine.columns_of(keys), strict=True) if texts is not None]
        if not rows:
            return []
        signed = self.other.sign([list(texts) for _, texts in rows])
        results = self.other.search_many(signed, self._bounds, None, None)
        names = self.other.tables.key_names
        return [
            _Pair(key, _tuple(names, hit.key), hit.score)
            for (key, _), hits in zip(rows, results, strict=True)
            for hit in hits
            if not self._itself(key, _tuple(names, hit.key))
        ]

    def _itself(self, a: Key, b: Key) -> bool:
        """Two indexes of one table: a row is no partner of its own."""
        mine, theirs = self.mine, self.other
        same = mine.engine is theirs.engine and mine.options.table == theirs.options.table
        return same and mine.options.schema == theirs.options.schema and a == b

    # ── choosing ──
    def _chosen(self, pairs: Sequence[_Pair], known: dict[tuple[str, str], _Pair]) -> list[_Pair]:
        """With what people said; of one-to-one links the best partner of each row."""
        left = dict(known)
        said = [replace(one, decision=_verdict(left.pop(_name(one), None))) for one in pairs]
        said += [one for one in left.values() if self._there(one)]
        apart = [one for one in said if one.decision == DIFFERENT]
        rest = [one for one in said if one.decision != DIFFERENT]
        if self.options.one_to_one:
            a, b = (_numbered([getattr(one, side) for one in rest]) for side in ("a", "b"))
            scores = np.array([FORCED if one.decision == SAME else one.score for one in rest])
            rest = [one for one, kept in zip(rest, one_to_one(a, b, scores).tolist(), strict=True) if kept]
        order = {repr(one.a): place for place, one in enumerate(said)}
        return sorted([*rest, *apart], key=lambda one: (order[repr(one.a)], -one.score, repr(one.b)))

    def _there(self, one: _Pair) -> bool:
        return None not in (self.mine.columns_of([one.a])[0], self.other.columns_of([one.b])[0])

    # ── evidence ──
    def _links(self, pairs: Sequence[_Pair]) -> Iterator[Link]:
        mine, theirs = self.mine.tables.key_names, self.other.tables.key_names
        for start in range(0, len(pairs), BATCH):
            some = pairs[start : start + BATCH]
            for one, evidence in zip(some, self._evidence(some), strict=True):
                yield Link(public_key(mine, one.a), public_key(theirs, one.b), one.score, evidence, one.decision)

    def _evidence(self, pairs: Sequence[_Pair]) -> list[dict[str, Any]]:
        learned = self.other.learned
        if learned is None:
            return [{"score": one.score} for one in pairs]
        texts = self.mine.columns_of([one.a for one in pairs])
        nothing = ("",) * len(self.other.options.fields)
        columns = [[(row or nothing)[number] for row in texts] for number in range(len(nothing))]
        signed = self.other.signer.sign(columns)
        stored = self.other.read(lambda c: self._stored(c, [one.b for one in pairs]))
        names = [field.name for field in self.other.options.fields]
        found = []
        for place, one in enumerate(pairs):
            row = stored.get(repr(one.b))
            made = None if row is None else waterfalls(learned, names, _row(signed, place), row)[0]
            found.append({} if made is None else made.to_json())
        return found

    def _stored(self, connection: Connection, keys: Sequence[Key]) -> dict[str, Signatures]:
        tables, width = self.other.tables, len(self.other.tables.key_names)
        found: dict[str, Signatures] = {}
        for some in chunks(keys, self.other.backend.key_batch):
            query = select(tables.signatures).where(among(key_columns(tables.signatures, tables), some))
            for values in connection.execute(query):
                row = tuple(values)
                found[repr(row[:width])] = as_signatures(self.other.backend, tables, [row], skip=width)
        return found

    # ── the table ──
    def _decided(self, connection: Connection, table: Table) -> dict[tuple[str, str], _Pair]:
        """What people wrote into the table of a former run."""
        looked = inspect(connection)
        if not looked.has_table(table.name):
            return {}
        if [one["name"] for one in looked.get_columns(table.name)] != [one.name for one in table.c]:
            raise InvalidOption(f"there is another table {table.name!r}: name one for the links (into, --into)")
        width = len(self.mine.tables.key_names)
        end = width + len(self.other.tables.key_names)
        rows = [tuple(row) for row in connection.execute(select(table).where(table.c.decision.is_not(None)))]
        found = [_Pair(row[:width], row[width:end], row[end], row[-1]) for row in rows]
        for one in found:
            _verdict(one)
        return {_name(one): one for one in found}

    def _store(self, connection: Connection, table: Table, links: Links, pairs: Sequence[_Pair]) -> None:
        table.create(connection, checkfirst=True)
        connection.execute(delete(table))
        names = [column.name for column in table.c]
        rows = [
            (*one.a, *self._kept(one.b), link.score, json.dumps(link.evidence), link.decision)
            for one, link in zip(pairs, links, strict=True)
        ]
        for start in range(0, len(rows), BATCH):
            some = [dict(zip(names, row, strict=True)) for row in rows[start : start + BATCH]]
            connection.execute(insert(table), some)

    def _kept(self, key: Key) -> Key:
        return key if self._one_engine else tuple(str(part) for part in key)


def link_table(mine: IndexTables, other: IndexTables, into: str | None, *, alike: bool) -> Table:
    """a_<key of A>, b_<key of B>, score, evidence as JSON, decision; keys of another engine as text."""
    name = into or links_name(mine.record.name, other.record.name)
    own = [Column(identifier("a", key), PlainType(type_)) for key, type_ in mine.record.primary_key]
    theirs = [
        Column(identifier("b", key), PlainType(type_) if alike else Text()) for key, type_ in other.record.primary_key
    ]
    values = [Column("score", Double), Column("evidence", Text), Column("decision", Text)]
    return Table(name, MetaData(), *own, *theirs, *values)


def _require_alike(a: SearchEngine, b: SearchEngine) -> None:
    mine, theirs = a.options, b.options
    for one in (a, b):
        if not one.read(lambda c, one=one: is_ready(c, one.options.name)):  # type: ignore[misc]
            raise DbsimError(f"index {one.options.name!r} is not filled yet: run `dbsim sync` first")
    if mine.hashing.rarity != theirs.hashing.rarity:
        raise InvalidOption("an index of persons is linked with another one of persons: create both with --records")
    kinds = [[(field.normaliser, field.unit, field.size) for field in options.fields] for options in (mine, theirs)]
    if kinds[0] != kinds[1]:
        said = [", ".join(f"{f.name} ({f.normaliser})" for f in options.fields) for options in (mine, theirs)]
        raise InvalidOption(
            f"the indexes must have the same kinds of fields in the same order, but {mine.name!r} has {said[0]} and "
            f"{theirs.name!r} has {said[1]}: create one of them anew with --column NAME:KIND"
        )


def _verdict(one: _Pair | None) -> str | None:
    if one is not None and one.decision not in (SAME, DIFFERENT):
        raise InvalidOption(f"the decision {one.decision!r} is none: write {SAME} or {DIFFERENT}, or NULL")
    return None if one is None else one.decision


def _name(one: _Pair) -> tuple[str, str]:
    return repr(one.a), repr(tuple(map(str, one.b)))


def _tuple(names: Sequence[str], key: Any) -> Key:
    return tuple(key[name] for name in names) if len(names) > 1 else (key,)


def _numbered(keys: Sequence[Key]) -> Any:
    """The same number for the same key, in the order in which they come."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(repr(key), len(numbers)) for key in keys], np.int64)


def _row(signed: Signatures, place: int) -> Signatures:
    some = slice(place, place + 1)
    return Signatures(
        signed.present[some],
        signed.fingerprints[some],
        signed.keys[some],
        tuple(Filters(one.bits[some], one.counts[some]) for one in signed.filters),
        rarities=tuple(one[some] for one in signed.rarities),
    )

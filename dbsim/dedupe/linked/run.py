"""Rows of one index that are rows of another, also of another database: two SearchEngines → dbsim_<A>_links_<B>.

The texts of A are signed as B signs and looked up in B, a batch at a time; B's model says the probability. What the
last run has seen is remembered (memory.py): a run asks with the rows of A that changed since, and with those that a
changed row of B was, or may now be, a partner of. The table is always what a run from nothing gives, but for decisions.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table

from dbsim.dedupe.linked import memory as remembered
from dbsim.dedupe.linked.alike import require_alike
from dbsim.dedupe.linked.evidence import evidence_of
from dbsim.dedupe.linked.matching import one_to_one
from dbsim.dedupe.linked.memory import AGAIN, GONE, Kept, Memory, Numbers, Seen, memory_table, shortened
from dbsim.dedupe.linked.results import Link, LinkOptions, Links, Pair
from dbsim.dedupe.linked.sides import Side, bucket_keys, waiting
from dbsim.dedupe.linked.table import LinkTable, Stored
from dbsim.progress import Progress
from dbsim.search.limits import Bounds, Search
from dbsim.search.searcher import SearchEngine
from dbsim.tables import catalogue
from dbsim.tables.decision_tables import DIFFERENT, SAME
from dbsim.tables.source import Key, public_key

BATCH = 200  # rows of A asked with in one statement
MOST = 100  # rows of B for one of A
CANDIDATES = 10_000  # rows of B that are ranked for one of A
FORCED = 2.0  # the score of a pair that people decided to be the same, for the assignment


class _Overtaken(Exception):
    """Another run has stored its links meanwhile."""


@dataclass
class _Answers:
    """What B said to rows of A."""

    places: list[int] = field(default_factory=list)  # of the rows asked with
    contents: list[int] = field(default_factory=list)
    keys: list[Sequence[int]] = field(default_factory=list)
    pairs: list[tuple[int, int, float]] = field(default_factory=list)  # by numbers
    stale: set[int] = field(default_factory=set)  # rows of B


@dataclass(frozen=True)
class Linking:
    """One run."""

    mine: SearchEngine
    other: SearchEngine
    options: LinkOptions
    progress: Progress

    def run(self) -> Links:
        require_alike(self.mine, self.other)
        while True:
            try:
                return self._run()
            except _Overtaken:
                continue

    def _run(self) -> Links:
        known = self.mine.read(self.links.read)
        kept = self.mine.read(self._kept)
        a, b = Side.of(self.mine), Side.of(self.other)
        places = self._to_ask(kept.memory, a, b)
        if 2 * len(places) > len(a):
            kept, places = replace(kept, memory=Memory.none(self._width), last=0, entries=0), np.arange(len(a))
        answers = self._asked(a, places)
        made = self._made(kept.memory, a, b, answers)
        pairs = self._pairs(kept.memory, made, a, b)
        chosen = self._chosen(pairs, known)
        asked = {repr(a.keys[place]) for place in answers.places}
        found = Links(self._links(chosen, known, asked))
        found.table, found.rows, found.asked = self.links.name, len(a), len(answers.places)
        links = list(zip(chosen, found, strict=True))
        changed = _changed(chosen, known, asked) if kept.last else None
        self.mine.write(partial(self._store, kept=kept, made=made, links=links, changed=changed))
        return found

    @cached_property
    def links(self) -> LinkTable:
        alike = type(self.mine.backend) is type(self.other.backend)
        return LinkTable.of(self.mine.tables, self.other.tables, self.options.into, alike=alike)

    @cached_property
    def _memory(self) -> Table:
        return memory_table(self.mine.options.name)

    @property
    def _width(self) -> int:
        return self.other.options.keys

    @cached_property
    def _between(self) -> str:
        """What a memory is of: these generations of these indexes, with this model and threshold."""
        self.other.sign([])  # so that its model is there
        records = [one.tables.record for one in (self.mine, self.other)]
        said = [(one.stamp, one.generation) for one in records]
        return json.dumps([said, self.other.signer.generation, self._bounds.threshold])

    @property
    def _bounds(self) -> Bounds:
        return Search(threshold=self.options.threshold, limit=MOST, max_candidates=CANDIDATES).bounds(
            self.other.options
        )

    # ── what is to be asked ──
    def _kept(self, connection: Connection) -> Kept:
        """Buckets that reach into their neighbours, or have no borders, are asked from nothing each time."""
        family = self.other.signer.family
        if not self.mine.backend.has_table(connection, self._memory.name):
            return Kept(Memory.none(self._width), "")
        between = "" if family.nearest or family.radius is not None else self._between
        return remembered.load(connection, self._memory, self.links.name, between, self._width)

    def _to_ask(self, memory: Memory, a: Side, b: Side) -> Numbers:
        """Places of the rows of A that may have other partners than before."""
        changed = memory.a.differs(a.numbers, a.contents) | np.isin(a.numbers, waiting(self.mine))
        if len(memory.a.numbers) and not changed.all():
            others = memory.b.differs(b.numbers, b.contents) | np.isin(b.numbers, waiting(self.other))
            numbers = np.concatenate([b.numbers[others], memory.b.gone(b.numbers)])
            keys = bucket_keys(self.other, [b.keys[place] for place in np.flatnonzero(others).tolist()])
            changed |= np.isin(a.numbers, np.concatenate([memory.paired(numbers), memory.sharing(keys)]))
        return np.flatnonzero(changed)

    # ── asking ──
    def _asked(self, a: Side, places: Numbers) -> _Answers:
        answers = _Answers()
        for start in range(0, len(places), BATCH):
            some = places[start : start + BATCH].tolist()
            self._ask(a, some, answers)
            self.progress("linking", start + len(some), len(places))
        return answers

    def _ask(self, a: Side, places: list[int], answers: _Answers) -> None:
        keys = [a.keys[place] for place in places]
        nothing = ("",) * len(self.other.options.fields)
        texts = [list(row or nothing) for row in self.mine.columns_of(keys)]
        signed = self.other.sign(texts)
        results = self.other.search_many(signed, self._bounds, None, None)
        names = self.other.tables.key_names
        for place, key, query, hits in zip(places, keys, signed, results, strict=True):
            number, content = int(a.numbers[place]), int(a.contents[place])
            answers.places.append(place)
            answers.contents.append(content if query is not None and query.fingerprint == content else AGAIN)
            answers.keys.append(query.keys if query is not None else (0,) * self._width)
            for hit in hits:
                partner = _tuple(names, hit.key)
                if not self._itself(key, partner):
                    theirs = remembered.number_of(partner)
                    answers.pairs.append((number, theirs, hit.score))
                    answers.stale |= {theirs} if hit.stale else set()

    def _itself(self, a: Key, b: Key) -> bool:
        """Two indexes of one table: a row is no partner of its own."""
        mine, theirs = self.mine, self.other
        same = mine.engine is theirs.engine and mine.options.table == theirs.options.table
        return same and mine.options.schema == theirs.options.schema and a == b

    # ── remembering ──
    def _made(self, memory: Memory, a: Side, b: Side, answers: _Answers) -> Memory:
        """What this run adds: the rows asked with, and the rows of either side that came, changed or went."""
        gone = memory.a.gone(a.numbers)
        places = np.array(answers.places, np.int64)
        numbers = np.concatenate([a.numbers[places], gone])
        contents = np.concatenate([np.array(answers.contents, np.int64), np.full(len(gone), GONE)])
        keys = np.concatenate([shortened(answers.keys, self._width), np.zeros((len(gone), self._width), np.uint32)])
        pairs = list(zip(*answers.pairs, strict=True)) or [(), (), ()]
        left, right = (np.array(side, np.int64) for side in pairs[:2])
        return Memory(Seen(numbers, contents), self._seen(memory, b, answers), keys, left, right, np.array(pairs[2]))

    def _seen(self, memory: Memory, b: Side, answers: _Answers) -> Seen:
        """Of B; rows whose text may not be the one that was signed are to be compared again."""
        unsure = np.concatenate([np.array(sorted(answers.stale), np.int64), waiting(self.other)])
        again = np.isin(b.numbers, unsure)
        chosen = memory.b.differs(b.numbers, b.contents) | again
        gone = memory.b.gone(b.numbers)
        contents = np.where(again, AGAIN, b.contents)[chosen]
        return Seen(
            np.concatenate([b.numbers[chosen], gone]), np.concatenate([contents, np.full(len(gone), GONE, np.int64)])
        )

    def _pairs(self, memory: Memory, made: Memory, a: Side, b: Side) -> list[Pair]:
        """All pairs there are now, in the order of A's keys, the best first."""
        old = memory.without(made.a.numbers, memory.a.gone(a.numbers))
        sides = [(memory.left[old], memory.right[old], memory.scores[old]), (made.left, made.right, made.scores)]
        found = [
            (a.by_number[left], -score, b.by_number[right])
            for some in sides
            for left, right, score in zip(*(column.tolist() for column in some), strict=True)
            if right in b.by_number  # it came while the run went on: the next run will find it
        ]
        return [Pair(a.keys[left], b.keys[right], -score) for left, score, right in sorted(found)]

    # ── choosing ──
    def _chosen(self, pairs: Sequence[Pair], known: dict[tuple[str, str], Stored]) -> list[Pair]:
        """With what people said; of one-to-one links the best partner of each row."""
        left = {name: one.pair for name, one in known.items() if one.pair.decision}
        said = [replace(one, decision=gone.decision) if (gone := left.pop(one.name, None)) else one for one in pairs]
        said += self._there([left[name] for name in sorted(left)])
        apart = [one for one in said if one.decision == DIFFERENT]
        rest = [one for one in said if one.decision != DIFFERENT]
        if self.options.one_to_one:
            a, b = (_numbered([getattr(one, side) for one in rest]) for side in ("a", "b"))
            scores = np.array([FORCED if one.decision == SAME else one.score for one in rest])
            rest = [one for one, kept in zip(rest, one_to_one(a, b, scores).tolist(), strict=True) if kept]
        order: dict[str, int] = {}
        for place, one in enumerate(said):
            order.setdefault(repr(one.a), place)
        return sorted([*rest, *apart], key=lambda one: (order[repr(one.a)], -one.score, repr(one.b)))

    def _there(self, decided: Sequence[Pair]) -> list[Pair]:
        """Those whose rows both are."""
        rows = [
            search.columns_of([getattr(one, side) for one in decided])
            for side, search in (("a", self.mine), ("b", self.other))
        ]
        return [one for one, *texts in zip(decided, *rows, strict=True) if None not in texts]

    # ── evidence ──
    def _links(self, pairs: Sequence[Pair], known: dict[tuple[str, str], Stored], asked: set[str]) -> Iterator[Link]:
        mine, theirs = self.mine.tables.key_names, self.other.tables.key_names
        new = [one for one in pairs if not _kept_as_it_is(one, known, asked)]
        made: dict[tuple[str, str], dict[str, Any]] = {}
        for start in range(0, len(new), BATCH):
            some = new[start : start + BATCH]
            made |= zip((one.name for one in some), evidence_of(self.mine, self.other, some), strict=True)
        for one in pairs:
            evidence = made[one.name] if one.name in made else json.loads(known[one.name].evidence)
            yield Link(public_key(mine, one.a), public_key(theirs, one.b), one.score, evidence, one.decision)

    # ── storing ──
    def _store(
        self,
        connection: Connection,
        kept: Kept,
        made: Memory,
        links: Sequence[tuple[Pair, Link]],
        changed: set[Key] | None,
    ) -> None:
        """Links and memory in one transaction; two runs of one link take turns, and the second begins again."""
        backend = self.mine.backend
        backend.change(connection, self.links.name)
        backend.share(connection, self.mine.options.name)
        catalogue.require_unchanged(connection, self.mine.tables.record)
        self._memory.create(connection, checkfirst=True)
        if remembered.token_of(connection, self._memory, self.links.name)[1] != kept.token:
            raise _Overtaken
        self.links.write(connection, links, changed)
        remembered.save(connection, self._memory, self.links.name, kept, made, self._between, secrets.token_hex(8))


def _kept_as_it_is(one: Pair, known: dict[tuple[str, str], Stored], asked: set[str]) -> bool:
    """Whether the table has this link already, and nothing that speaks for it can have changed."""
    stored = known.get(one.name)
    same = stored is not None and (stored.pair.score, stored.pair.decision) == (one.score, one.decision)
    return same and repr(one.a) not in asked


def _changed(chosen: Sequence[Pair], known: dict[tuple[str, str], Stored], asked: set[str]) -> set[Key]:
    """Rows of A whose links are to be written again."""
    wanted = {one.name for one in chosen}
    found = {one.a for one in chosen if not _kept_as_it_is(one, known, asked)}
    return found | {one.pair.a for name, one in known.items() if name not in wanted}


def _tuple(names: Sequence[str], key: Any) -> Key:
    return tuple(key[name] for name in names) if len(names) > 1 else (key,)


def _numbered(keys: Sequence[Key]) -> Any:
    """The same number for the same key, in the order in which they come."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(repr(key), len(numbers)) for key in keys], np.int64)

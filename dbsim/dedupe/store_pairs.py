"""Store all near-duplicate pairs of an index: signatures → dbsim_<index>_edges, resumable.

The application and the workers go on meanwhile. What they change is noted in dbsim_<index>_changes and worked in
afterwards (see `update`), so the pairs end as if they had been sought at the moment of that last step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, exists, insert, literal_column, not_, select

from dbsim.dedupe.contents import Edges
from dbsim.dedupe.kernels.buckets import Limits, affordable
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.decide import Decision, FieldScore
from dbsim.dedupe.kernels.pairs import Candidates, Found
from dbsim.dedupe.options import PairOptions
from dbsim.dedupe.verify import Verifier
from dbsim.engines.context import Stage
from dbsim.engines.evidence import learned_of
from dbsim.engines.pause import Pace
from dbsim.engines.signature_rows import json_numbers
from dbsim.engines.transactions import PATIENCE, persistently
from dbsim.hashing.family import ESTIMATED, Join
from dbsim.hashing.records.learning import Learned
from dbsim.hashing.signer import Signatures
from dbsim.progress import Progress, quiet
from dbsim.tables import catalogue, group_state
from dbsim.tables.group_state import State
from dbsim.tables.group_tables import GroupTables

BATCH = 8_000  # edges written or removed in one transaction: 5 µs of CPU each on SQLite, 6 µs to remove them


@dataclass
class Workplace(Stage):
    """What every step of deduplication needs."""

    progress: Progress = quiet
    token: str = field(default_factory=group_state.new_token)  # names the run in the state row
    groups: GroupTables = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.groups = GroupTables.of(self.tables)

    @cached_property
    def verifier(self) -> Verifier:
        return Verifier(self.context)

    @cached_property
    def fields(self) -> tuple[FieldScore, ...]:
        return tuple(
            FieldScore(field.bits, field.weight, field.sample, field.reading if field.filter else None)
            for field in self.context.options.fields
        )

    @cached_property
    def joins(self) -> list[Join]:
        options = self.context.options
        return self.signer.family.joins(options.plan, options.threshold, options.recall)

    def decision(self, options: PairOptions) -> Decision:
        estimated = self.signer.family.measure in ESTIMATED
        if options.verify and self.context.options.parted:  # whose error is not known
            estimated = False
        return Decision(self.fields, options.threshold, options.verify, estimated)

    def collection(self, total: int) -> Collection:
        """Every content of the index."""

        def blocks() -> Iterator[Signatures]:
            done = 0
            for block in self.backend.signature_blocks(self.context.engine, self.tables):
                yield block
                done += len(block)
                self.progress("reading signatures", done, max(done, total))

        def attempt() -> Collection:
            return self.collected(blocks())

        return persistently(self.backend, attempt, PATIENCE)

    def collected(self, blocks: Iterable[Signatures]) -> Collection:
        """The contents of these signatures, able to score pairs as a search does."""
        made = Collection.of(self.fields, self.joins, blocks)
        made.learned = self.learned
        return made

    def note_unread(self, connection: Connection, pairing: int) -> None:
        """Contents that could not be compared are compared again, once their rows are signed anew."""
        if not self.verifier.unread:
            return
        stored, names = self.tables.signatures, self.tables.names
        fingerprint = stored.c[names.fingerprint]
        listed = self.backend.json_rows("wanted", ["number"])
        values = (
            literal_column(str(pairing)),
            literal_column("0"),
            fingerprint,
            *(stored.c[key] for key in names.keys),
        )
        found = select(*values).join(listed, listed.c.number == fingerprint).distinct()
        wanted = json_numbers(np.array(sorted(self.verifier.unread), np.int64))
        into = insert(self.groups.changes).from_select(list(self.groups.changes.c), found)
        connection.execute(into, {"wanted": wanted})

    @cached_property
    def learned(self) -> Learned | None:
        """What was learned of the table's persons, if it is about persons."""
        return self.read(lambda c: learned_of(c, self.tables)) if self.signer.family.learns else None


@dataclass
class Pairing:
    """One run over the whole index."""

    place: Workplace
    options: PairOptions
    number: int  # of the pairing

    def run(self, rows: int) -> Collection:
        """Seek and store all pairs; a run with the same options that was stopped is continued."""
        state = self._write(self._begin)
        if state.reached is None:
            remove_in_steps(self.place, self._remove_some)
        collection = self.place.collection(rows)
        start = 0
        if state.reached is not None:
            start = int(np.searchsorted(collection.fingerprints, state.reached, side="right"))
        self.place.progress("comparing", start, len(collection))
        limits = limits_of(self.options, state)
        if not limits.bucket:
            limits = affordable(collection.columns, collection.key, limits, len(collection))
            self._write(partial(self._note, bucket=limits.bucket))
        candidates = Candidates(collection, limits)
        compared = lambda done, total: self.place.progress("comparing", done, total)  # noqa: E731
        for found in candidates.pairs(self.place.decision(self.options), start, compared):
            for edges, reached in self._batches(collection, found):
                self._write(partial(self._store, edges=edges, reached=reached))
                self.place.verifier.unread.clear()
        self._write(partial(self._note, limited=json.dumps(asdict(candidates.limited))))
        return collection

    def _write(self, work: Callable[[Connection], State]) -> State:
        return self.place.write(work)

    def _begin(self, connection: Connection) -> State:
        """From now on this run alone writes; it goes on where one that was stopped has come to."""
        groups, number = self.place.groups, self.number
        state = group_state.load(connection, groups, number, lock=True)
        catalogue.require_unchanged(connection, self.place.tables.record)
        goes_on = not state.paired and state.reached is not None
        anew: dict[str, Any] = {} if goes_on else {"reached": None, "bucket": 0, "limited": ""}
        group_state.save(connection, groups, number, token=self.place.token, paired=False, settled=False, **anew)
        return group_state.load(connection, groups, number)

    def _remove_some(self, connection: Connection, count: int) -> bool:
        """Of the pairs of a former run, with the last ones the changes: whatever changed before is read now."""
        groups = self.place.groups
        group_state.own(connection, groups, self.number, self.place.token)
        group_state.save(connection, groups, self.number)
        if group_state.remove_pairs(connection, groups, self.number, count):
            return True
        connection.execute(delete(groups.changes).where(groups.changes.c.pairing == self.number))
        return False

    def _batches(self, collection: Collection, found: Found) -> Iterator[tuple[Edges, int]]:
        """Pairs to store together, and the fingerprint up to which all are then stored."""
        estimated = Edges(
            collection.fingerprints[found.a], collection.fingerprints[found.b], found.scores, found.unsure
        )
        edges = self.place.verifier.decide(estimated, found.unsure, self.options.threshold)
        start = 0
        while len(edges) - start > BATCH:
            end = int(np.searchsorted(edges.a, edges.a[start + BATCH]))  # not in the middle of a content's pairs
            if end <= start:
                end = int(np.searchsorted(edges.a, edges.a[start], side="right"))
            yield edges.where(slice(start, end)), int(edges.a[end - 1])
            start = end
        reached = int(collection.fingerprints[found.upto - 1])
        yield edges.where(slice(start, None)), reached

    def _store(self, connection: Connection, edges: Edges, reached: int) -> State:
        state = group_state.own(connection, self.place.groups, self.number, self.place.token)
        self.place.backend.make_room(connection, writing=True)
        insert_edges(connection, self.place, self.number, edges)
        self.place.note_unread(connection, self.number)
        group_state.save(connection, self.place.groups, self.number, reached=reached)
        return state

    def _note(self, connection: Connection, **values: object) -> State:
        state = group_state.own(connection, self.place.groups, self.number, self.place.token)
        group_state.save(connection, self.place.groups, self.number, **values)
        return state


def limits_of(options: PairOptions, state: State) -> Limits:
    """With the bucket that the run found to be affordable."""
    return replace(options.limits, bucket=options.limits.bucket or state.bucket)


def insert_edges(connection: Connection, place: Workplace, pairing: int, edges: Edges) -> None:
    columns = (edges.a.tolist(), edges.b.tolist(), edges.scores.tolist(), edges.exact.tolist())
    rows = zip([pairing] * len(edges.a), *columns, strict=True)
    place.backend.insert_rows(connection, place.groups.edges, rows)


def remove_in_steps(place: Workplace, some: Callable[[Connection, int], bool]) -> None:
    """`some` removes so many pairs at most and says whether there are more: 330,000 at once take SQLite 2 s."""
    pace = Pace(BATCH, place.backend.writers_wait)
    while pace.write(place.write, lambda c: some(c, pace.size)):
        pass


def purge(connection: Connection, count: int, place: Workplace, pairing: int) -> bool:
    """Of a run that was stopped nothing may stay that a deleted row left behind; it begins anew when asked.

    As `remove_in_steps` has it; changes that wait go with the last pairs, so that one that is stopped is begun again.
    """
    groups = place.groups
    place.backend.lock_all(connection, place.tables)
    state = group_state.load(connection, groups, pairing, lock=True)
    if state.paired or state.running or not group_state.pending(connection, groups, pairing):
        return False
    group_state.save(connection, groups, pairing, reached=None, bucket=0, token="")
    if group_state.remove_pairs(connection, groups, pairing, count):
        return True
    connection.execute(groups.changes.delete().where(groups.changes.c.pairing == pairing))
    stored = place.tables.signatures.c[place.tables.names.fingerprint]
    there = select(stored).where(stored.is_not(None))
    contents, results = groups.contents, groups.results
    mine = select(results.c.generation).where(results.c.pairing == pairing)
    gone = contents.c.content.not_in(there) | (contents.c.group_id.not_in(there) & (contents.c.group_id >= 0))
    connection.execute(contents.delete().where(contents.c.generation.in_(mine), gone))
    _purge_apart(connection, place)
    return False


def _purge_apart(connection: Connection, place: Workplace) -> None:
    """Groups led by a row of its own go with it."""
    groups, stored = place.groups, place.tables.signatures
    apart, contents = groups.apart, groups.contents
    keys = zip(groups.apart_keys, place.tables.key_names, strict=True)
    row = exists(select(stored.c[place.tables.key_names[0]]).where(*(apart.c[a] == stored.c[b] for a, b in keys)))
    connection.execute(apart.delete().where(not_(row)))
    alone = select(apart.c.number)
    lost = (contents.c.group_id < 0) & contents.c.group_id.not_in(alone)
    connection.execute(
        contents.delete().where(lost | ((contents.c.fingerprint < 0) & contents.c.fingerprint.not_in(alone)))
    )

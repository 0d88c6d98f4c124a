"""Work noted changes into stored pairs and groups: dbsim_<index>_changes → only what they touch, equal to a full run.

A content that came or went is compared with all that share a bucket with it; contents whose treatment in a large
bucket may be another now are compared again as well. Groups are made again for the components of the graph that
changed contents belong to, or belonged to. All is computed first and then written in one transaction, provided that
nothing was noted in between; so afterwards pairs and groups are those of the index at that moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select

from dbsim.dedupe.contents import Edges, firsts, incident, touching
from dbsim.dedupe.kernels.buckets import levels, unsettled
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.pairs import Candidates
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.dedupe.regroup import NOTHING, Regroup, Regrouped
from dbsim.dedupe.store_pairs import Workplace, insert_edges, limits_of
from dbsim.engines.signature_rows import Numbers, json_numbers, sharing, sharing_prefix, signatures_of
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signatures
from dbsim.tables import catalogue, group_results, group_state
from dbsim.tables.group_state import State

ATTEMPTS = 3  # without keeping other workers waiting


@dataclass
class Update:
    """What is to be written, and the state it was computed for."""

    state: State
    noted: int
    compared: Numbers = field(default_factory=lambda: NOTHING)  # their stored pairs are replaced
    edges: Edges = field(default_factory=lambda: Edges.concatenate([]))
    results: list[Regrouped] = field(default_factory=list)


@dataclass
class Incremental:
    """Bring the pairs of one pairing, and their groups, up to date."""

    place: Workplace
    number: int

    def run(self) -> int:
        """The number of changes worked in."""
        for _ in range(ATTEMPTS):
            update = self.place.read(self.compute)
            if update is None or self.place.write(lambda c: self.apply(c, update)):  # noqa: B023
                return 0 if update is None else update.noted
        return self.place.write(self._at_once)

    def _at_once(self, connection: Connection) -> int:
        """While the application is busy: compute under the workers' locks, so that nothing is noted in between."""
        self.place.backend.lock_all(connection, self.place.tables)
        update = self.compute(connection)
        if update is None:
            return 0
        self.apply(connection, update)
        return update.noted

    # ── computing ──
    def compute(self, connection: Connection) -> Update | None:
        """None when there is nothing to do, or when a run over the whole index is under way and will do it."""
        groups = self.place.groups
        state = group_state.load(connection, groups, self.number)
        if not state.paired:
            return None
        mine = select(*list(groups.changes.c)[1:]).where(groups.changes.c.pairing == self.number)
        changes = [tuple(row) for row in connection.execute(mine)]
        update = Update(state, len(changes))
        self.place.verifier.unread.clear()
        if changes:
            self._pairs(connection, state, update, np.array(changes, np.int64))
            if state.settled and self._in_vain(changes):
                return None
        elif state.settled:
            return None
        return update

    def _in_vain(self, changes: list[tuple[int, ...]]) -> bool:
        """Nothing but contents that could not be read, and still cannot: their rows wait for a sync."""
        return all(gained == 0 and content in self.place.verifier.unread for gained, content, *_ in changes)

    def _pairs(self, connection: Connection, state: State, update: Update, changes: NDArray[np.int64]) -> None:
        options = PairOptions.from_json(state.pairing)
        options = replace(options, limits=limits_of(options, state))
        contents, first, inverse = np.unique(changes[:, 1], return_index=True, return_inverse=True)
        keys = changes[first, 2:]
        now = self._copies(connection, contents)
        before = now - np.bincount(inverse, changes[:, 0], minlength=len(contents)).astype(np.int64)
        # while pairs were sought a content may have been seen or not, whatever it was before and is now
        moved = (now == 0) | (before <= 0) | (not state.settled) | np.isin(contents, changes[changes[:, 0] == 0, 1])
        update.compared, update.edges = self._compare(connection, options, contents, keys, now > 0, moved)
        old = incident(connection, self.place.backend, self.place.groups, self.number, update.compared)
        seeds = np.unique(np.concatenate([contents, update.compared, old.a, old.b]))
        stored = group_results.of_pairing(connection, self.place.groups, self.number)
        for result in (one for one in stored if one.generation):
            made = Regroup(self.place, self.number, options, GroupOptions.from_json(result.grouping), update)
            again = made.run(connection, seeds, result.generation, self._collection)
            update.results.append(replace(again, contents=np.union1d(again.contents, update.compared)))

    def _copies(self, connection: Connection, contents: Numbers) -> Numbers:
        copies = np.zeros(len(contents), np.int64)
        for found in firsts(connection, self.place.backend, self.place.tables, contents):
            copies[np.searchsorted(contents, found.fingerprint)] = found.copies
        return copies

    def _compare(
        self,
        connection: Connection,
        options: PairOptions,
        contents: Numbers,
        keys: NDArray[np.int64],
        there: NDArray[np.bool_],
        moved: NDArray[np.bool_],
    ) -> tuple[Numbers, Edges]:
        """(contents whose pairs are replaced, their new pairs)"""
        if not moved.any():
            return NOTHING, Edges.concatenate([])
        mates = self._mates(connection, keys[moved])
        gone = _empty_signatures(contents[moved & ~there], keys[moved & ~there], self.place)
        around = self._collection(connection, mates, gone)
        changed = np.isin(around.fingerprints, contents[moved])
        doubtful = self._doubtful(around, changed, options)
        focus = np.union1d(contents[moved & there], doubtful)
        if len(doubtful):
            more = signatures_of(connection, self.place.backend, self.place.tables, doubtful)
            mates = np.union1d(mates, self._mates(connection, more.keys))
        edges = self._edges(connection, options, self._collection(connection, mates), focus)
        return np.union1d(focus, contents[moved]), edges

    def _mates(self, connection: Connection, keys: NDArray[np.int64]) -> Numbers:
        """All contents that share a bucket with one of these keys."""
        backend, tables, family = self.place.backend, self.place.tables, self.place.signer.family
        if not len(keys):
            return NOTHING
        if family.nearest:  # of which only the beginning of a key is compared
            masks = [mask for _, mask in self.place.joins]
            return sharing_prefix(connection, backend, tables, list(keys.T), masks)
        spread = family.spread(keys, self.place.context.options.plan)
        return sharing(connection, backend, tables, [spread[:, column].reshape(-1) for column in range(keys.shape[1])])

    def _collection(self, connection: Connection, contents: Numbers, gone: Signatures | None = None) -> Collection:
        blocks = [signatures_of(connection, self.place.backend, self.place.tables, contents)]
        if gone is not None and len(gone):
            blocks.append(gone)
        return self.place.collected(blocks)

    def _doubtful(self, around: Collection, changed: NDArray[np.bool_], options: PairOptions) -> Numbers:
        found: list[NDArray[np.int64]] = [NOTHING]
        for column in range(around.columns):
            for level in levels(column, around.columns, around.key, options.limits):
                found.append(unsettled(level, changed, options.limits).astype(np.int64))
        return around.fingerprints[np.unique(np.concatenate(found))]

    def _edges(self, connection: Connection, options: PairOptions, around: Collection, focus: Numbers) -> Edges:
        candidates = Candidates(around, options.limits, np.isin(around.fingerprints, focus))
        decision, numbers = self.place.decision(options), around.fingerprints
        parts = []
        for found in candidates.pairs(decision):
            edges = Edges(numbers[found.a], numbers[found.b], found.scores, found.unsure)
            parts.append(self.place.verifier.decide(edges, found.unsure, options.threshold, connection))
        return Edges.concatenate(parts)

    # ── writing ──
    def apply(self, connection: Connection, update: Update) -> bool:
        """False when something was noted since, or another run took over; then nothing is written."""
        self.place.backend.lock_all(connection, self.place.tables)
        groups = self.place.groups
        state = group_state.load(connection, groups, self.number, lock=True)
        catalogue.require_unchanged(connection, self.place.tables.record)
        if not state.paired:
            return True
        if state.version != update.state.version or self._noted(connection) != update.noted:
            return False
        edges, contents, changes, apart = groups.edges, groups.contents, groups.changes, groups.apart
        ends = touching(groups, self.place.backend)
        of_pairing = delete(edges).where(edges.c.pairing == self.number)
        _delete(connection, [of_pairing.where(end) for end in ends], update.compared)
        insert_edges(connection, self.place, self.number, update.edges)
        listed = self.place.backend.json_rows("wanted", ["number"])
        for again in update.results:
            some = select(listed.c.number)
            lone = select(apart.c.number).where(apart.c.generation == again.generation, apart.c.fingerprint.in_(some))
            grouped = delete(contents).where(contents.c.generation == again.generation)
            alone = delete(apart).where(apart.c.generation == again.generation, apart.c.fingerprint.in_(some))
            in_groups = [grouped.where(contents.c.fingerprint.in_(which)) for which in (lone, some)]
            _delete(connection, [*in_groups, alone], again.contents)
            self.place.backend.insert_rows(connection, contents, again.rows)
            self.place.backend.insert_rows(connection, apart, again.apart)
        connection.execute(delete(changes).where(changes.c.pairing == self.number))
        self.place.note_unread(connection, self.number)
        group_state.save(connection, groups, self.number, settled=True)
        return True

    def _noted(self, connection: Connection) -> int:
        return group_state.pending(connection, self.place.groups, self.number)


def _delete(connection: Connection, statements: Sequence[Any], wanted: Numbers) -> None:
    if len(wanted):
        asked = {"wanted": json_numbers(wanted)}
        for statement in statements:
            connection.execute(statement, asked)


def _empty_signatures(contents: Numbers, keys: NDArray[np.int64], place: Workplace) -> Signatures:
    """Contents that are no longer stored, of which only the keys are known."""
    filters = tuple(
        Filters(np.zeros((len(contents), field.bits // 8), np.uint8), np.zeros(len(contents), np.int64))
        for field in place.fields
    )
    rarities = tuple(np.zeros(len(contents), np.int64) for _ in place.fields if place.signer.family.rarity)
    return Signatures(np.ones(len(contents), bool), contents, keys, filters, rarities=rarities)

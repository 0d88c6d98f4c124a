"""Work noted changes into stored pairs and groups: dbsim_<index>_changes → only what they touch, equal to a full run.

A content that came or went is compared with all that share a bucket with it; contents whose treatment in a large
bucket may be another now are compared again as well. Groups are made again for the components of the graph that
changed contents belong to, or belonged to. All is computed first and then written in one transaction, provided that
nothing was noted in between; so afterwards pairs and groups are those of the index at that moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select

from dbsim.dedupe.contents import Edges, firsts, incident, touching
from dbsim.dedupe.kernels.assignment import assign
from dbsim.dedupe.kernels.buckets import levels, unsettled
from dbsim.dedupe.kernels.clustering import Graph
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.pairs import Candidates
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.dedupe.store_pairs import Workplace, insert_edges
from dbsim.dedupe.verify import MARGIN
from dbsim.engines.signature_rows import Numbers, json_numbers, sharing, signatures_of
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signatures
from dbsim.tables import group_state
from dbsim.tables.group_state import State

ATTEMPTS = 3  # without keeping other workers waiting
NOTHING = np.empty(0, np.int64)


@dataclass
class Update:
    """What is to be written, and the state it was computed for."""

    version: int
    noted: int
    compared: Numbers = field(default_factory=lambda: NOTHING)  # their stored pairs are replaced
    edges: Edges = field(default_factory=lambda: Edges.concatenate([]))
    regrouped: Numbers = field(default_factory=lambda: NOTHING)  # their stored groups are replaced
    rows: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass
class Incremental:
    """Bring pairs and groups up to date."""

    place: Workplace

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
        state = group_state.load(connection, self.place.groups)
        if not state.paired:
            return None
        changes = [tuple(row) for row in connection.execute(select(self.place.groups.changes))]
        update = Update(state.version, len(changes))
        if changes:
            self._pairs(connection, state, update, np.array(changes, np.int64))
        elif state.settled:
            return None
        return update

    def _pairs(self, connection: Connection, state: State, update: Update, changes: NDArray[np.int64]) -> None:
        options = PairOptions.from_json(state.pairing)
        contents, first, inverse = np.unique(changes[:, 1], return_index=True, return_inverse=True)
        keys = changes[first, 2:]
        now = self._copies(connection, contents)
        before = now - np.bincount(inverse, changes[:, 0], minlength=len(contents)).astype(np.int64)
        # while pairs were sought a content may have been seen or not, whatever it was before and is now
        moved = (now == 0) | (before <= 0) | (not state.settled)
        update.compared, update.edges = self._compare(connection, options, contents, keys, now > 0, moved)
        if state.generation:
            self._regroup(connection, state, options, update, contents)

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
        parts = [
            sharing(connection, self.place.backend, self.place.tables, column, keys[:, column])
            for column in range(keys.shape[1])
        ]
        return np.unique(np.concatenate(parts))

    def _collection(self, connection: Connection, contents: Numbers, gone: Signatures | None = None) -> Collection:
        blocks = [signatures_of(connection, self.place.backend, self.place.tables, contents)]
        if gone is not None and len(gone):
            blocks.append(gone)
        return self.place.collected(blocks)

    def _doubtful(self, around: Collection, changed: NDArray[np.bool_], options: PairOptions) -> Numbers:
        found = [np.empty(0, np.int32)]
        for column in range(around.columns):
            for level in levels(column, around.columns, around.key, options.limits):
                found.append(unsettled(level, changed, options.limits))
        return around.fingerprints[np.unique(np.concatenate(found))]

    def _edges(self, connection: Connection, options: PairOptions, around: Collection, focus: Numbers) -> Edges:
        candidates = Candidates(around, options.limits, np.isin(around.fingerprints, focus))
        lowest = max(options.threshold - MARGIN, 0.0) if options.verify else options.threshold
        parts = [
            Edges(around.fingerprints[found.a], around.fingerprints[found.b], found.scores)
            for found in candidates.pairs(lowest)
        ]
        edges = Edges.concatenate(parts)
        if not options.verify:
            return edges
        scores = self.place.verifier.scores(edges.a, edges.b, connection)
        return Edges(edges.a, edges.b, scores).where(scores >= options.threshold)

    # ── grouping ──
    def _regroup(
        self, connection: Connection, state: State, pairs: PairOptions, update: Update, contents: Numbers
    ) -> None:
        options = GroupOptions.from_json(state.grouping)
        old = incident(connection, self.place.backend, self.place.groups, update.compared)
        seeds = np.unique(np.concatenate([contents, update.compared, old.a, old.b]))
        nodes, edges = self._component(connection, seeds, update, options.threshold)
        around = self._collection(connection, nodes)
        found = [
            first
            for first in firsts(connection, self.place.backend, self.place.tables, nodes)
            if around.find(np.array([first.fingerprint]))[1]  # a row may go while this is computed; then it is in vain
        ]
        fingerprints = np.array([first.fingerprint for first in found], np.int64)
        copies = np.array([first.copies for first in found], np.int64)
        edges = edges.where(np.isin(edges.a, fingerprints) & np.isin(edges.b, fingerprints))
        numbers = np.argsort(fingerprints)
        a, b = (numbers[np.searchsorted(fingerprints[numbers], end)] for end in (edges.a, edges.b))
        graph = Graph(len(found), a, b, edges.scores)
        place, _ = around.find(fingerprints)

        def estimate(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            return around.scores(place[x].astype(np.int32), place[y].astype(np.int32))

        def exact(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            return self.place.verifier.scores(fingerprints[x], fingerprints[y], connection)

        score = exact if pairs.verify else estimate
        made = assign(fingerprints, copies, graph, options.by, options.threshold, score, estimate)
        keys = {first.fingerprint: first.key for first in found}
        update.regrouped = nodes
        update.rows = list(made.rows(state.generation, keys, slice(None)))

    def _component(
        self, connection: Connection, seeds: Numbers, update: Update, threshold: float
    ) -> tuple[Numbers, Edges]:
        """Everything that hangs together with the seeds once the update is done, and the pairs of it."""
        new = update.edges.where(update.edges.scores >= threshold)
        known, front, parts = NOTHING, seeds, [new]
        while len(front):
            known = np.union1d(known, front)
            stored = incident(connection, self.place.backend, self.place.groups, front)
            valid = ~np.isin(stored.a, update.compared) & ~np.isin(stored.b, update.compared)
            parts.append(stored.where(valid & (stored.scores >= threshold)))
            fresh = new.where(np.isin(new.a, front) | np.isin(new.b, front))
            reached = np.concatenate([parts[-1].a, parts[-1].b, fresh.a, fresh.b])
            front = np.setdiff1d(reached, known)
        edges = Edges.concatenate(parts)
        edges = edges.where(np.isin(edges.a, known) & np.isin(edges.b, known))
        _, once = np.unique(np.stack([edges.a, edges.b]), axis=1, return_index=True)
        return known, Edges(edges.a[once], edges.b[once], edges.scores[once])

    # ── writing ──
    def apply(self, connection: Connection, update: Update) -> bool:
        """False when something was noted since, or another run took over; then nothing is written."""
        self.place.backend.lock_all(connection, self.place.tables)
        groups = self.place.groups
        state = group_state.load(connection, groups, lock=True)
        if not state.paired:
            return True
        if state.version != update.version or group_state.pending(connection, groups) != update.noted:
            return False
        edges, contents = groups.edges, groups.contents
        self._delete(connection, delete(edges).where(touching(groups, self.place.backend)), update.compared)
        insert_edges(connection, self.place, update.edges)
        listed = self.place.backend.json_rows("wanted", ["number"], [])
        mine = contents.c.fingerprint.in_(select(listed.c.number))
        regrouped = np.union1d(update.regrouped, update.compared)
        self._delete(connection, delete(contents).where(contents.c.generation == state.generation, mine), regrouped)
        self.place.backend.insert_rows(connection, contents, update.rows)
        connection.execute(delete(groups.changes))
        group_state.save(connection, groups, settled=True)
        return True

    def _delete(self, connection: Connection, statement: Any, wanted: Numbers) -> None:
        if len(wanted):
            connection.execute(statement, {"wanted": json_numbers(wanted)})


def _empty_signatures(contents: Numbers, keys: NDArray[np.int64], place: Workplace) -> Signatures:
    """Contents that are no longer stored, of which only the keys are known."""
    filters = tuple(
        Filters(np.zeros((len(contents), field.bits // 8), np.uint8), np.zeros(len(contents), np.int64))
        for field in place.fields
    )
    return Signatures(np.ones(len(contents), bool), contents, keys, filters)

"""Store all near-duplicate pairs of an index: signatures → dbsim_<index>_edges, resumable.

The application and the workers go on meanwhile. What they change is noted in dbsim_<index>_changes and worked in
afterwards (see `incremental`), so the pairs end as if they had been sought at the moment of that last step.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial

import numpy as np
from sqlalchemy import Connection, delete

from dbsim.context import Stage
from dbsim.dedupe.contents import Edges
from dbsim.dedupe.kernels.collection import Collection, FieldScore
from dbsim.dedupe.kernels.pairs import Candidates, Found
from dbsim.dedupe.options import PairOptions
from dbsim.dedupe.verify import MARGIN, Verifier
from dbsim.engines.evidence import learned_of
from dbsim.engines.transactions import PATIENCE, persistently
from dbsim.hashing.records.learning import Learned
from dbsim.hashing.signer import Signatures
from dbsim.progress import Progress, quiet
from dbsim.tables import group_state
from dbsim.tables.group_state import State
from dbsim.tables.group_tables import GroupTables

BATCH = 20_000  # edges written in one transaction


@dataclass
class Workplace(Stage):
    """What every step of deduplication needs."""

    progress: Progress = quiet
    token: str = field(default_factory=lambda: secrets.token_hex(8))  # names the run in the state row
    groups: GroupTables = field(init=False)
    verifier: Verifier = field(init=False)

    def __post_init__(self) -> None:
        self.groups = GroupTables(self.tables)
        self.verifier = Verifier(self.context)

    @property
    def fields(self) -> list[FieldScore]:
        return [FieldScore(field.bits, field.weight) for field in self.tables.record.options.fields]

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
        made = Collection.of(self.fields, self.tables.record.options.keys, blocks)
        made.learned = self.learned
        return made

    @cached_property
    def learned(self) -> Learned | None:
        """What was learned of the table's persons, if it is about persons."""
        return self.context.read(lambda c: learned_of(c, self.tables))


@dataclass
class Pairing:
    """One run over the whole index."""

    place: Workplace
    options: PairOptions

    def run(self, rows: int) -> Collection:
        """Seek and store all pairs; a run with the same options that was stopped is continued."""
        state = self._write(self._begin)
        collection = self.place.collection(rows)
        start = 0
        if state.reached is not None:
            start = int(np.searchsorted(collection.fingerprints, state.reached, side="right"))
        self.place.progress("comparing", start, len(collection))
        candidates = Candidates(collection, self.options.limits)
        lowest = max(self.options.threshold - MARGIN, 0.0) if self.options.verify else self.options.threshold
        compared = lambda done, total: self.place.progress("comparing", done, total)  # noqa: E731
        for found in candidates.pairs(lowest, start, compared):
            for edges, reached in self._batches(collection, found):
                self._write(partial(self._store, edges=edges, reached=reached))
        self._write(partial(self._note, limited=json.dumps(asdict(candidates.limited))))
        return collection

    def _write(self, work: Callable[[Connection], State]) -> State:
        return self.place.write(work)

    def _begin(self, connection: Connection) -> State:
        groups, wanted = self.place.groups, self.options.to_json()
        state = group_state.load(connection, groups, lock=True)
        group_state.save(connection, groups, token=self.place.token, paired=False, settled=False)
        if state.pairing == wanted and not state.paired and state.reached is not None:
            return state
        connection.execute(delete(groups.edges))
        connection.execute(delete(groups.changes))  # whatever changed before is read now
        group_state.save(connection, groups, pairing=wanted, reached=None, limited="")
        return group_state.load(connection, groups)

    def _batches(self, collection: Collection, found: Found) -> Iterator[tuple[Edges, int]]:
        """Pairs to store together, and the fingerprint up to which all are then stored."""
        edges = Edges(collection.fingerprints[found.a], collection.fingerprints[found.b], found.scores)
        if self.options.verify:
            scores = self.place.verifier.scores(edges.a, edges.b)
            edges = Edges(edges.a, edges.b, scores).where(scores >= self.options.threshold)
        start = 0
        while len(edges) - start > BATCH:
            end = int(np.searchsorted(edges.a, edges.a[start + BATCH]))  # not in the middle of a content's pairs
            if end <= start:
                end = int(np.searchsorted(edges.a, edges.a[start], side="right"))
            yield Edges(edges.a[start:end], edges.b[start:end], edges.scores[start:end]), int(edges.a[end - 1])
            start = end
        reached = int(collection.fingerprints[found.upto - 1])
        yield Edges(edges.a[start:], edges.b[start:], edges.scores[start:]), reached

    def _store(self, connection: Connection, edges: Edges, reached: int) -> State:
        state = group_state.own(connection, self.place.groups, self.place.token)
        insert_edges(connection, self.place, edges)
        group_state.save(connection, self.place.groups, reached=reached)
        return state

    def _note(self, connection: Connection, limited: str) -> State:
        state = group_state.own(connection, self.place.groups, self.place.token)
        group_state.save(connection, self.place.groups, limited=limited)
        return state


def insert_edges(connection: Connection, place: Workplace, edges: Edges) -> None:
    rows = zip(edges.a.tolist(), edges.b.tolist(), edges.scores.tolist(), strict=True)
    place.backend.insert_rows(connection, place.groups.edges, rows)

"""Deduplicate a whole table: ask for pairs or groups, and only what is missing is computed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.pairs import Limited
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.dedupe.store_groups import Regrouping
from dbsim.dedupe.store_pairs import Pairing, Workplace
from dbsim.dedupe.update import Incremental
from dbsim.errors import DbsimError
from dbsim.lifecycle import groups as stored_groups
from dbsim.tables import catalogue, group_state
from dbsim.tables.group_state import State

FULL_FROM = 50_000  # changes: with more of them a run over the whole index is faster


@dataclass
class Deduplication:
    """The stored pairs and groups of one index."""

    place: Workplace

    def pairs(self, options: PairOptions) -> State:
        """Store all pairs, or work in what changed since they were; groups that are stored follow their pairs."""
        state = self._prepare()
        if self._outdated(state, options):
            if state.generation:
                grouping = GroupOptions.from_json(state.grouping)
                lower = replace(options, threshold=min(options.threshold, grouping.threshold))
                Regrouping(self.place, grouping, lower).run(Pairing(self.place, lower).run(self._rows()))
            else:
                Pairing(self.place, options).run(self._rows())
                self.place.write(self._paired)
        Incremental(self.place).run()
        return self.state()

    def groups(self, options: GroupOptions, pairs: PairOptions) -> State:
        """Store all groups, or work in what changed since they were."""
        state = self._prepare()
        collection: Collection | None = None
        if self._outdated(state, pairs):
            collection = Pairing(self.place, pairs).run(self._rows())
        if collection is not None or state.grouping != options.to_json() or not state.generation:
            if collection is None:
                self.place.write(self._claim)
                collection = self.place.collection(self._rows())
            Regrouping(self.place, options, pairs).run(collection)
        Incremental(self.place).run()
        return self.state()

    def stored(self) -> State | None:
        """What is stored and finished, if anything is."""
        return self.look()[0]

    def look(self) -> tuple[State | None, int]:
        """What is stored and finished, if anything is, and how many changes wait to be worked in."""

        def work(connection: Connection) -> tuple[State | None, int]:
            if not self._exist(connection):
                return None, 0
            state = group_state.load(connection, self.place.groups)
            return (state, group_state.pending(connection, self.place.groups)) if state.paired else (None, 0)

        return self.place.read(work)

    def keep_up(self) -> int:
        """After a sync: work its changes into what is stored, if anything is; returns how many."""
        state, noted = self.look()
        if state is None:
            return 0
        if noted <= FULL_FROM:
            return Incremental(self.place).run()
        self.anew(state)
        return noted

    def anew(self, before: State) -> None:
        """Pairs, and groups if there were any, of the whole index, made as they were made before."""
        pairs = PairOptions.from_json(before.pairing)
        if before.generation:
            self.groups(GroupOptions.from_json(before.grouping), pairs)
        else:
            self.pairs(pairs)

    def state(self) -> State:
        return self.place.read(lambda c: group_state.load(c, self.place.groups))

    # ── steps ──
    def _prepare(self) -> State:
        record = self.place.read(lambda c: catalogue.load(c, self.place.tables.record.name))
        if not record.ready:
            raise DbsimError(f"index {record.name!r} is not filled yet: run `dbsim sync` first")
        if not self.place.read(self._exist):
            self.place.write(self._create)
        return self.state()

    def _exist(self, connection: Connection) -> bool:
        return stored_groups.exist(connection, self.place.backend, self.place.groups)

    def _create(self, connection: Connection) -> None:
        stored_groups.create(connection, self.place.backend, self.place.groups, self.place.context.after_create_table)

    def _outdated(self, state: State, asked: PairOptions) -> bool:
        if not state.paired or not PairOptions.from_json(state.pairing).serves(asked):
            return True
        return self._pending() > FULL_FROM

    def _pending(self) -> int:
        return self.place.read(lambda c: group_state.pending(c, self.place.groups))

    def _claim(self, connection: Connection) -> None:
        """From now on this run alone writes, and nobody works in changes until its groups are shown."""
        group_state.load(connection, self.place.groups, lock=True)
        group_state.save(connection, self.place.groups, token=self.place.token, paired=False, settled=False)

    def _paired(self, connection: Connection) -> None:
        group_state.own(connection, self.place.groups, self.place.token)
        group_state.save(connection, self.place.groups, paired=True)

    def _rows(self) -> int:
        stored = self.place.tables.signatures
        count = select(func.count()).select_from(stored)
        return self.place.read(lambda c: c.scalar(count)) or 0


def limited(state: State) -> Limited:
    """What was not compared all with all when the pairs were sought."""
    return Limited(**json.loads(state.limited)) if state.limited else Limited()

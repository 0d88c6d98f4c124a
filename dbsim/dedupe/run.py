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
from dbsim.engines.execute import TableHook
from dbsim.engines.transactions import read, write
from dbsim.errors import DbsimError
from dbsim.lifecycle import groups as stored_groups
from dbsim.tables import catalogue, group_state
from dbsim.tables.group_state import State

FULL_FROM = 50_000  # changes: with more of them a run over the whole index is faster


@dataclass
class Deduplication:
    """The stored pairs and groups of one index."""

    place: Workplace
    after_create_table: TableHook | None = None

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
                write(self.place.engine, self.place.backend, self._paired)
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
                write(self.place.engine, self.place.backend, self._claim)
                collection = self.place.collection(self._rows())
            Regrouping(self.place, options, pairs).run(collection)
        Incremental(self.place).run()
        return self.state()

    def stored(self) -> State | None:
        """What is stored and finished, if anything is."""
        if not read(self.place.engine, self.place.backend, self._exist):
            return None
        state = self.state()
        return state if state.paired else None

    def keep_up(self) -> int:
        """After a sync: work its changes into what is stored, if anything is; returns how many."""
        state = self.stored()
        if state is None:
            return 0
        noted = self._pending()
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
        return read(self.place.engine, self.place.backend, lambda c: group_state.load(c, self.place.groups))

    # ── steps ──
    def _prepare(self) -> State:
        record = read(self.place.engine, self.place.backend, lambda c: catalogue.load(c, self.place.tables.record.name))
        if not record.ready:
            raise DbsimError(f"index {record.name!r} is not filled yet: run `dbsim sync` first")
        if not read(self.place.engine, self.place.backend, self._exist):
            write(self.place.engine, self.place.backend, self._create)
        return self.state()

    def _exist(self, connection: Connection) -> bool:
        return stored_groups.exist(connection, self.place.backend, self.place.groups)

    def _create(self, connection: Connection) -> None:
        stored_groups.create(connection, self.place.backend, self.place.groups, self.after_create_table)

    def _outdated(self, state: State, asked: PairOptions) -> bool:
        if not state.paired or not PairOptions.from_json(state.pairing).serves(asked):
            return True
        return self._pending() > FULL_FROM

    def _pending(self) -> int:
        return read(self.place.engine, self.place.backend, lambda c: group_state.pending(c, self.place.groups))

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
        return read(self.place.engine, self.place.backend, lambda c: c.scalar(count)) or 0


def limited(state: State) -> Limited:
    """What was not compared all with all when the pairs were sought."""
    return Limited(**json.loads(state.limited)) if state.limited else Limited()

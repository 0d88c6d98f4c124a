"""Deduplicate a whole table: ask for pairs or groups, and only what is missing is computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Self, TypeVar

from sqlalchemy import Connection, update

from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.dedupe.people import history
from dbsim.dedupe.store_groups import Regrouping, clear
from dbsim.dedupe.store_pairs import Pairing, purge, remove_in_steps
from dbsim.dedupe.stored import Stored
from dbsim.dedupe.update import Incremental
from dbsim.errors import DbsimError, IndexChanged, UnknownName
from dbsim.lifecycle import decisions
from dbsim.lifecycle import groups as stored_groups
from dbsim.tables import catalogue, group_results, group_state
from dbsim.tables.group_results import Result
from dbsim.tables.group_state import State, TakenOver
from dbsim.tables.group_tables import PUBLISHED

FULL_FROM = 50_000  # changes: with more of them a run over the whole index is faster
PAUSE = 0.1  # seconds between two looks at a run of another process
Done = TypeVar("Done")


class Deduplication(Stored):
    """Makes the stored pairs and groups of one index, or what is missing of them."""

    def pairs(self, options: PairOptions) -> State:
        """Store all pairs, or work in what changed since they were."""

        def work() -> State:
            state = self._prepare(options)
            if self._outdated(state):
                self._renew(state)
            Incremental(self.place, state.id).run()
            return self.state(state.id)

        return self._in_turn(work)

    def groups(self, options: GroupOptions, pairs: PairOptions, name: str, *, saved: bool) -> Result:
        """Store all groups under a name, or work in what changed since they were."""

        def work() -> Result:
            state = self._prepare(pairs)
            self.place.write(lambda c: self._ask(c, state, options, name, saved))
            if self._outdated(state):
                self._renew(state, {name: options})
            elif self._regroup_needed(options, state, name):
                self.place.write(lambda c: self._claim(c, state.id))
                self._regroup(state, self.place.collection(self.rows()), {name: options})
            Incremental(self.place, state.id).run()
            if name == PUBLISHED:
                history.note(self.place)
            return self.result(name)

        return self._in_turn(work)

    def attempt(self, work: Callable[[Self], Done]) -> Done:
        """An error may come from an index that was dropped or changed between two statements: then say that."""
        try:
            return work(self)
        except DbsimError as error:
            self._require_unchanged(error)
            raise

    def keep_up(self) -> int:
        """After a sync: work its changes into what is stored, if anything is; returns how many."""
        seen = self.place.read(self.standing)
        if seen.former is not None:
            self._take_over(*seen.former)
            seen = self.place.read(self.standing)
        if seen.work is not None and seen.work.outlived:
            self._remove_outlived()
            seen = self.place.read(self.standing)
        if seen.work is None:
            return 0
        done = sum(self._keep_up(state, seen.work.pending.get(state.id, 0)) for state in seen.work.states)
        if done:
            history.note(self.place)
        return done

    # ── keeping up ──
    def _keep_up(self, state: State, noted: int) -> int:
        try:
            return self._work_in(state, noted)
        except TakenOver as error:  # it was removed meanwhile as no longer needed, unless all of them were
            self._require_unchanged(error)
            return 0

    def _work_in(self, state: State, noted: int) -> int:
        if state.token == stored_groups.RENEW:
            self._seek_again(state.id)
            return Incremental(self.place, state.id).run()
        if not state.paired:
            if noted and not state.running:
                clear(self.place)  # groups of runs that were stopped one after the other, which no result names
                remove_in_steps(self.place, partial(purge, place=self.place, pairing=state.id))
            return 0
        if noted <= FULL_FROM:
            return Incremental(self.place, state.id).run()
        self._seek_again(state.id)
        Incremental(self.place, state.id).run()
        return noted

    def _seek_again(self, pairing: int) -> None:
        """All pairs of one pairing, but not when another process does: two would take it from each other for ever."""

        def work() -> None:
            known = self.place.read(lambda c: group_state.all_states(c, self.place.groups))
            for state in (one for one in known if one.id == pairing):
                if state.token == stored_groups.RENEW or (state.paired and self._outdated(state)):
                    self._renew(state)

        self._in_turn(work)

    def _remove_outlived(self) -> None:
        groups = self.place.groups
        for pairing in self.place.write(partial(group_results.remove_outlived, groups=groups)):
            some = partial(group_results.remove_pairing, groups=groups)
            remove_in_steps(self.place, lambda c, count: some(c, pairing=pairing, count=count))  # noqa: B023
        clear(self.place)

    def _take_over(self, pairing: str, grouping: str) -> None:
        """Make what version 0002 stored again, in the new tables."""
        pairs = PairOptions.from_json(pairing)
        self.place.write(self._create)
        if grouping:
            self.groups(GroupOptions.from_json(grouping), pairs, PUBLISHED, saved=True)

    # ── runs ──
    def _in_turn(self, work: Callable[[], Done]) -> Done:
        """When another run went on with the same pairs, use what it has made; an error leaves them to the next run."""
        while True:
            try:
                return work()
            except TakenOver:
                time.sleep(PAUSE)
            except BaseException as error:
                with suppress(Exception):
                    self.place.write(self._let_go)
                if isinstance(error, Exception):  # the reason may be that the index was dropped or changed meanwhile
                    self._require_unchanged(error)
                raise

    def _require_unchanged(self, error: Exception) -> None:
        try:
            self.place.read(lambda c: catalogue.require_unchanged(c, self.place.tables.record))
        except (UnknownName, IndexChanged) as changed:
            raise changed from error

    def _let_go(self, connection: Connection) -> None:
        state = self.place.groups.state
        connection.execute(update(state).where(state.c.token == self.place.token).values(token=""))

    def _prepare(self, options: PairOptions) -> State:
        """The pairing's state, once no other run works on it."""
        record = self.place.read(lambda c: catalogue.load(c, self.place.tables.record.name))
        if not record.ready:
            raise DbsimError(f"index {record.name!r} is not filled yet: run `dbsim sync` first")
        if not self.place.read(self.exist):
            self.place.write(self._create)
        tables, backend = self.place.tables, self.place.backend
        if self.place.read(lambda c: decisions.incomplete(c, backend, tables)):
            self.place.write(lambda c: decisions.complete(c, backend, tables))
        state = self.place.write(lambda c: self._pairing(c, options.to_json()))
        since, version = time.monotonic(), state.version
        while state.running and state.token != self.place.token:
            if state.version != version:
                since, version = time.monotonic(), state.version
            if time.monotonic() - since > group_state.STALLED:
                break
            self.place.progress("waiting for another run", 0, 1)
            time.sleep(PAUSE)
            state = self.state(state.id)
        return state

    def _pairing(self, connection: Connection, options: str) -> State:
        groups = self.place.groups
        catalogue.require_unchanged(connection, self.place.tables.record)
        asked = update(groups.state).where(groups.state.c.pairing == options).values(seen=int(time.time()))
        connection.execute(asked)  # before it is read: another process may just be removing it
        found = group_state.find(connection, groups, options)
        if found is None:
            self.place.backend.lock_all(connection, self.place.tables)  # a worker must see it, or be seen by the run
            found = group_state.add(connection, groups, options)
            connection.execute(asked)
        return found

    def _ask(self, connection: Connection, state: State, options: GroupOptions, name: str, saved: bool) -> None:
        """Write down what is wanted, so that it is made whoever makes these pairs; one run after another."""
        group_state.load(connection, self.place.groups, state.id, lock=True)
        known = group_results.find(connection, self.place.groups, name)
        if known is None:
            wanted = {"pairing": state.id, "grouping": options.to_json(), "saved": saved}
            group_results.put(connection, self.place.groups, name, **wanted)
        else:
            group_results.put(connection, self.place.groups, name, saved=saved or known.saved)

    def _regroup_needed(self, options: GroupOptions, state: State, name: str) -> bool:
        found = self.result(name)
        return not found.generation or (found.pairing, found.grouping) != (state.id, options.to_json())

    def _renew(self, state: State, wanted: dict[str, GroupOptions] | None = None) -> None:
        """All pairs of a pairing, and all its groups; `wanted` are results that may have been made otherwise."""
        collection = Pairing(self.place, PairOptions.from_json(state.pairing), state.id).run(self.rows())
        known = self.place.read(lambda c: group_results.of_pairing(c, self.place.groups, state.id))
        named = {result.name: GroupOptions.from_json(result.grouping) for result in known}
        self._regroup(state, collection, named | (wanted or {}))

    def _regroup(self, state: State, collection: Collection, named: dict[str, GroupOptions]) -> None:
        pairs = PairOptions.from_json(state.pairing)
        for name, options in named.items():
            Regrouping(self.place, options, pairs, state.id, name).run(collection)
        self.place.write(lambda c: self._paired(c, state.id))

    def _create(self, connection: Connection) -> None:
        self.place.backend.share(connection, self.place.context.name)
        catalogue.require_unchanged(connection, self.place.tables.record)
        stored_groups.create(connection, self.place.backend, self.place.groups, self.place.context.after_create_table)

    def _outdated(self, state: State) -> bool:
        return not state.paired or self.pending(state.id) > FULL_FROM

    def _claim(self, connection: Connection, pairing: int) -> None:
        """From now on this run alone writes, and nobody works in changes until its groups are shown."""
        groups, token = self.place.groups, self.place.token
        state = group_state.load(connection, groups, pairing, lock=True)
        catalogue.require_unchanged(connection, self.place.tables.record)
        if not state.paired:  # another run was quicker
            raise TakenOver(str(TakenOver.__doc__))
        group_state.save(connection, groups, pairing, token=token, paired=False, settled=False)

    def _paired(self, connection: Connection, pairing: int) -> None:
        group_state.own(connection, self.place.groups, pairing, self.place.token)
        group_state.save(connection, self.place.groups, pairing, paired=True, token="")

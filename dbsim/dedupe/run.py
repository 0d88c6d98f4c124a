"""Deduplicate a whole table: ask for pairs or groups, and only what is missing is computed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, func, select, update

from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.missing import Limited
from dbsim.dedupe.options import GroupOptions, PairOptions, described
from dbsim.dedupe.people import history
from dbsim.dedupe.store_groups import BEING_MADE, Regrouping
from dbsim.dedupe.store_pairs import Pairing, Workplace, purge
from dbsim.dedupe.update import Incremental
from dbsim.errors import DbsimError, IndexChanged, InvalidOption, UnknownName
from dbsim.lifecycle import decisions
from dbsim.lifecycle import groups as stored_groups
from dbsim.tables import catalogue, group_results, group_state
from dbsim.tables.group_results import Result
from dbsim.tables.group_state import State, TakenOver
from dbsim.tables.group_tables import PUBLISHED

FULL_FROM = 50_000  # changes: with more of them a run over the whole index is faster
PAUSE = 0.1  # seconds between two looks at a run of another process
Done = TypeVar("Done")


@dataclass
class Deduplication:
    """The stored pairs and groups of one index."""

    place: Workplace

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
                self._regroup(state, self.place.collection(self._rows()), {name: options})
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

    def look(self) -> int:
        """How much waits to be done by `keep_up`."""

        def work(connection: Connection) -> int:
            if not self._exist(connection):
                return int(stored_groups.former(connection, self.place.backend, self.place.groups) is not None)
            states = group_state.all_states(connection, self.place.groups)
            open_ = sum(state.token == stored_groups.RENEW for state in states)
            return (
                group_state.pending(connection, self.place.groups)
                + open_
                + len(group_results.expired(connection, self.place.groups))
            )

        return self.place.read(work)

    def keep_up(self) -> int:
        """After a sync: work its changes into what is stored, if anything is; returns how many."""
        if not self.place.read(self._exist) and not self._take_over_former():
            return 0
        self.place.write(lambda c: group_results.remove_expired(c, self.place.groups))
        done = sum(self._keep_up(state) for state in self.place.read(self._states))
        if done:
            history.note(self.place)
        return done

    def state(self, pairing: int) -> State:
        return self.place.read(lambda c: group_state.load(c, self.place.groups, pairing))

    def result(self, name: str) -> Result:
        found = self.place.read(lambda c: group_results.find(c, self.place.groups, name))
        if found is None:
            raise TakenOver(str(TakenOver.__doc__))
        return found

    def results(self) -> list[Result]:
        """Those that are complete."""

        def work(connection: Connection) -> list[Result]:
            if not self._exist(connection):
                return []
            return [found for found in group_results.complete(connection, self.place.groups) if found.generation]

        return self.place.read(work)

    def name_for(self, groups: GroupOptions, pairs: PairOptions, save: str | None, publish: bool) -> str:
        """Where groups go: an index without published ones publishes, other options than theirs explore."""
        if publish and save:
            raise InvalidOption("groups are published or saved under a name, not both")
        if save is not None:
            return _checked(save)
        known = self.place.read(self._published)
        if publish or known is None or known == (groups.to_json(), pairs.to_json()):
            return PUBLISHED
        return described(groups, pairs)

    def published(self) -> str:
        """How the published groups were made, in a few words."""
        known = self.place.read(self._published)
        if known is None or not known[1]:  # pairs that were never sought to the end
            return "none"
        return described(GroupOptions.from_json(known[0]), PairOptions.from_json(known[1]))

    def described(self) -> list[dict[str, Any]]:
        """The results for users."""
        return [
            {
                "name": result.name,
                **json.loads(result.grouping),
                "verify": json.loads(self.state(result.pairing).pairing)["verify"],
                "saved": result.saved or result.published,
            }
            for result in self.results()
        ]

    def _published(self, connection: Connection) -> tuple[str, str] | None:
        groups = self.place.groups
        result = group_results.find(connection, groups, PUBLISHED) if self._exist(connection) else None
        if result is None:
            return None
        return result.grouping, group_state.load(connection, groups, result.pairing).pairing

    def remove(self, name: str) -> None:
        """Forget a result; its pairs go with the next sync."""
        self.place.write(lambda c: group_results.remove(c, self.place.groups, name))

    # ── keeping up ──
    def _keep_up(self, state: State) -> int:
        if state.token == stored_groups.RENEW:
            self._in_turn(lambda: self._renew(self.state(state.id)))
            return Incremental(self.place, state.id).run()
        if not state.paired:
            if not state.running:
                self.place.write(lambda c: purge(c, self.place, state.id))
            return 0
        noted = self._pending(state.id)
        if noted <= FULL_FROM:
            return Incremental(self.place, state.id).run()
        self._in_turn(lambda: self._renew(self.state(state.id)))
        Incremental(self.place, state.id).run()
        return noted

    def _states(self, connection: Connection) -> list[State]:
        return group_state.all_states(connection, self.place.groups)

    def _take_over_former(self) -> bool:
        """Make what version 0002 stored again, in the new tables."""
        former = self.place.read(lambda c: stored_groups.former(c, self.place.backend, self.place.groups))
        if former is None:
            return False
        pairs = PairOptions.from_json(former[0])
        self.place.write(self._create)
        if former[1]:
            self.groups(GroupOptions.from_json(former[1]), pairs, PUBLISHED, saved=True)
        return True

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
        if not self.place.read(self._exist):
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
        found = group_state.find(connection, groups, options)
        if found is None:
            self.place.backend.lock_all(connection, self.place.tables)  # a worker must see it, or be seen by the run
            found = group_state.add(connection, groups, options)
        state = groups.state
        connection.execute(update(state).where(state.c.id == found.id).values(seen=int(time.time())))
        return found

    def _ask(self, connection: Connection, state: State, options: GroupOptions, name: str, saved: bool) -> None:
        """Write down what is wanted, so that it is made whoever makes these pairs."""
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
        collection = Pairing(self.place, PairOptions.from_json(state.pairing), state.id).run(self._rows())
        known = self.place.read(lambda c: group_results.of_pairing(c, self.place.groups, state.id))
        named = {result.name: GroupOptions.from_json(result.grouping) for result in known}
        self._regroup(state, collection, named | (wanted or {}))

    def _regroup(self, state: State, collection: Collection, named: dict[str, GroupOptions]) -> None:
        pairs = PairOptions.from_json(state.pairing)
        for name, options in named.items():
            Regrouping(self.place, options, pairs, state.id, name).run(collection)
        self.place.write(lambda c: self._paired(c, state.id))

    def _exist(self, connection: Connection) -> bool:
        return stored_groups.exist(connection, self.place.backend, self.place.groups)

    def _create(self, connection: Connection) -> None:
        self.place.backend.share(connection, self.place.context.name)
        catalogue.require_unchanged(connection, self.place.tables.record)
        stored_groups.create(connection, self.place.backend, self.place.groups, self.place.context.after_create_table)

    def _outdated(self, state: State) -> bool:
        return not state.paired or self._pending(state.id) > FULL_FROM

    def _pending(self, pairing: int) -> int:
        return self.place.read(lambda c: group_state.pending(c, self.place.groups, pairing))

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

    def _rows(self) -> int:
        stored = self.place.tables.signatures
        count = select(func.count()).select_from(stored)
        return self.place.read(lambda c: c.scalar(count)) or 0


def _checked(name: str) -> str:
    if not name.strip() or len(name) > 100 or name == PUBLISHED or name.endswith(BEING_MADE):
        raise InvalidOption(f"{name!r} cannot name a result: use 1 to 100 characters, but not {PUBLISHED!r}")
    return name


def limited(state: State) -> Limited:
    """What was not compared all with all when the pairs were sought."""
    return Limited(**json.loads(state.limited)) if state.limited else Limited()

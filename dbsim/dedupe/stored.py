"""What is stored of an index's pairs and groups, and under which names: → State, Result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from dbsim.dedupe.kernels.missing import Limited
from dbsim.dedupe.options import GroupOptions, PairOptions, described
from dbsim.dedupe.store_groups import BEING_MADE, clear
from dbsim.dedupe.store_pairs import Workplace
from dbsim.errors import InvalidOption
from dbsim.lifecycle import groups as stored_groups
from dbsim.tables import group_results, group_state
from dbsim.tables.group_results import Result
from dbsim.tables.group_state import State, TakenOver
from dbsim.tables.group_tables import PUBLISHED


@dataclass
class Stored:
    """The stored pairs and groups of one index."""

    place: Workplace

    def look(self) -> int:
        """How much waits to be done by `keep_up`."""
        seen = self.place.read(self.standing)
        if seen.work is None:
            return int(seen.former is not None)
        renewed = sum(state.token == stored_groups.RENEW for state in seen.work.states)
        return sum(seen.work.pending.values()) + renewed + seen.work.outlived

    def standing(self, connection: Connection) -> stored_groups.Standing:
        return stored_groups.standing(connection, self.place.backend, self.place.groups)

    def exist(self, connection: Connection) -> bool:
        return stored_groups.exist(connection, self.place.backend, self.place.groups)

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
            if not self.exist(connection):
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
        result = group_results.find(connection, groups, PUBLISHED) if self.exist(connection) else None
        if result is None:
            return None
        return result.grouping, group_state.load(connection, groups, result.pairing).pairing

    def remove(self, name: str) -> None:
        """Forget a result; its pairs go with the next sync."""
        self.place.write(lambda c: group_results.remove(c, self.place.groups, name))
        clear(self.place)

    def pending(self, pairing: int) -> int:
        return self.place.read(lambda c: group_state.pending(c, self.place.groups, pairing))

    def rows(self) -> int:
        stored = self.place.tables.signatures
        count = select(func.count()).select_from(stored)
        return self.place.read(lambda c: c.scalar(count)) or 0


def _checked(name: str) -> str:
    if not name.strip() or len(name) > 100 or name == PUBLISHED or name.endswith((BEING_MADE, " …")):
        raise InvalidOption(f"{name!r} cannot name a result: use 1 to 100 characters, but not {PUBLISHED!r}")
    return name


def limited(state: State) -> Limited:
    """What was not compared all with all when the pairs were sought."""
    return Limited(**json.loads(state.limited)) if state.limited else Limited()

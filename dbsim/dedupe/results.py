"""What deduplication returns: pairs and groups read from the stored tables, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from dbsim.dedupe.contents import Edges, edge_pages, firsts
from dbsim.dedupe.kernels.pairs import Limited
from dbsim.dedupe.store_pairs import Workplace
from dbsim.search.results import Hit
from dbsim.tables import group_state
from dbsim.tables.key_conditions import after, key_columns
from dbsim.tables.source import Key, public_key

PAGE = 5_000  # rows of the index, or groups, read at once
GROUPS = 200


@dataclass(frozen=True)
class Pair:
    """Two rows of the source table, by their primary keys, and their score."""

    a: Any
    b: Any
    score: float

    def to_json(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "score": self.score}


@dataclass(frozen=True)
class Group:
    """Near-duplicates: the representative is the first row; every member has its score to it."""

    id: int
    representative: Any
    diameter: float
    members: list[Hit]

    def to_json(self) -> dict[str, Any]:
        members = [{"key": hit.key, "score": hit.score} for hit in self.members]
        return {
            "group": str(self.id),  # beyond what JavaScript holds exactly
            "representative": self.representative,
            "diameter": self.diameter,
            "members": members,
        }


@dataclass(frozen=True)
class Pairs:
    """All pairs that reach the threshold, streamed anew by every loop.

    Rows with equal content appear as pairs of the first of them with each other one; a pair of two different contents
    appears once, between their first rows. `limited` says what was too large to compare all with all.
    """

    place: Workplace
    threshold: float
    limited: Limited

    def __iter__(self) -> Iterator[Pair]:
        yield from self._copies()
        for page in edge_pages(self.place.context, self.place.groups, self.threshold):
            yield from self._near(page)

    def _key(self, key: Key) -> Any:
        return public_key(self.place.tables.key_names, key)

    def _near(self, page: Edges) -> Iterator[Pair]:
        wanted = np.unique(np.concatenate([page.a, page.b]))
        found = self.place.read(
            lambda c: firsts(c, self.place.backend, self.place.tables, wanted),
        )
        places = {first.fingerprint: place for place, first in enumerate(found)}
        for a, b, score in zip(page.a.tolist(), page.b.tolist(), page.scores.tolist(), strict=True):
            if a in places and b in places:  # else it was deleted this moment
                first, second = sorted((places[a], places[b]))
                yield Pair(self._key(found[first].key), self._key(found[second].key), score)

    def _copies(self) -> Iterator[Pair]:
        """One walk in key order that remembers the first row of every content that has several."""
        several = set(self.place.read(self._several))
        seen: dict[int, Key] = {}
        last: Key | None = None
        while several:
            page = self.place.read(partial(self._page, last=last))
            if not page:
                return
            for fingerprint, *values in page:
                last = tuple(values)
                if fingerprint in several and seen.setdefault(fingerprint, last) != last:
                    yield Pair(self._key(seen[fingerprint]), self._key(last), 1.0)

    def _several(self, connection: Connection) -> list[int]:
        fingerprint = self.place.tables.signatures.c[self.place.tables.names.fingerprint]
        query = select(fingerprint).where(fingerprint.is_not(None)).group_by(fingerprint).having(func.count() > 1)
        return list(connection.execute(query).scalars())

    def _page(self, connection: Connection, last: Key | None) -> list[tuple[Any, ...]]:
        stored, tables = self.place.tables.signatures, self.place.tables
        keys = key_columns(stored, tables)
        query = select(stored.c[tables.names.fingerprint], *keys).order_by(*keys).limit(PAGE)
        if last is not None:
            query = query.where(after(keys, last))
        return [tuple(row) for row in connection.execute(query)]


class Duplicates:
    """The stored groups, in the order of their representatives, streamed anew by every loop.

    len() is the number of groups, `rows` that of rows in them; `limited` says what was too large to compare all with
    all, so that pairs may be missing.
    """

    def __init__(self, place: Workplace, limited: Limited) -> None:
        self._place = place
        self.limited = limited
        self._ids, self.rows = place.read(self._overview)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Group]:
        for start in range(0, len(self._ids), GROUPS):
            ids = self._ids[start : start + GROUPS]
            found = self._place.read(partial(self._groups, ids=ids))
            for number in ids:
                if number in found:
                    yield found[number]

    def to_json(self) -> list[dict[str, Any]]:
        return [group.to_json() for group in self]

    def _overview(self, connection: Connection) -> tuple[list[int], int]:
        groups, state = self._place.groups, group_state.load(connection, self._place.groups)
        contents = groups.contents
        leading = (
            select(contents.c.group_id)
            .where(contents.c.generation == state.generation, contents.c.fingerprint == contents.c.group_id)
            .order_by(*(contents.c[name] for name in groups.representative))
        )
        rows = connection.scalar(select(func.count()).select_from(groups.groups)) or 0
        return list(connection.execute(leading).scalars()), rows

    def _groups(self, connection: Connection, ids: list[int]) -> dict[int, Group]:
        view, tables = self._place.groups.groups, self._place.tables
        width = len(tables.key_names)
        keys = [view.c[name] for name in tables.key_names]
        number, *rest = (view.c[name] for name in self._place.groups.shown)
        query = select(*keys, number, *rest).where(number.in_(ids)).order_by(*keys)
        found: dict[int, Group] = {}
        for row in connection.execute(query):
            values = tuple(row)
            group_id, score, diameter = values[width : width + 3]
            if group_id not in found:
                representative = public_key(tables.key_names, values[width + 3 :])
                found[group_id] = Group(group_id, representative, diameter, [])
            found[group_id].members.append(Hit(public_key(tables.key_names, values[:width]), score))
        return found

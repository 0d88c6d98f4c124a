"""What deduplication returns: pairs and groups read from the stored tables, a page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from dbsim.dedupe.contents import Edges, edge_pages, firsts
from dbsim.dedupe.copies import copies, scores_of
from dbsim.dedupe.kernels.missing import Limited
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.signature_rows import Numbers, json_numbers
from dbsim.lifecycle.decisions import in_force
from dbsim.search.results import Hit
from dbsim.tables.decision_tables import DIFFERENT, SAME
from dbsim.tables.group_results import Result
from dbsim.tables.key_conditions import key_columns
from dbsim.tables.source import Key, public_key

GROUPS = 200
FULL_LIST = 1_000_000  # pairs: a longer list names copies through the first of them only, unless asked otherwise
COPIES = ("all", "first")


@dataclass(frozen=True)
class Pair:
    """Two rows of the source table, by their primary keys, and their score; `exact` if it comes from the texts.

    `decided` is "same" when people said so.
    """

    a: Any
    b: Any
    score: float
    exact: bool = False
    decided: str | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        found = {"a": self.a, "b": self.b, "score": self.score, "exact": self.exact}
        return found | ({"decided": self.decided} if self.decided else {})


@dataclass(frozen=True)
class Group:
    """Near-duplicates: the representative is the first row; every member has its score to it.

    `diameter` is one minus the smallest similarity of two members.
    """

    id: int
    representative: Any
    diameter: float
    members: list[Hit]

    @property
    def smallest(self) -> float:
        """The smallest similarity of two members."""
        return 1 - self.diameter

    def to_json(self) -> dict[str, Any]:
        members = [{"key": hit.key, "score": hit.score} for hit in self.members]
        return {
            "group": str(self.id),  # beyond what JavaScript holds exactly
            "representative": self.representative,
            "diameter": self.diameter,
            "smallest": self.smallest,
            "members": members,
        }


@dataclass(frozen=True)
class Pairs:
    """All pairs that reach the threshold, streamed anew by every loop.

    With copies="all" every pair of rows is listed, as the view dbsim_<index>_pairs does. With copies="first" a pair of
    two different contents appears once, between their first rows, and every other row of a content as a pair with the
    first of it. `limited` says what was too large to compare all with all, `warnings` are sentences about the list.
    Pairs that were decided to be different are not listed and the same ones always are, if `decided`.
    """

    _place: Workplace
    pairing: int
    threshold: float
    limited: Limited
    copies: str = "all"
    warnings: tuple[str, ...] = ()
    decided: bool = True

    def __iter__(self) -> Iterator[Pair]:
        yield from respected(self._place, self._found()) if self.decided else self._found()

    def _found(self) -> Iterator[Pair]:
        """What the texts say."""
        for one, two, score in copies(self._place, self.threshold, self._rows, every=self.copies == "all"):
            yield Pair(self._key(one), self._key(two), score, exact=not self._place.signer.family.rarity)
        for page in edge_pages(self._place.context, self._place.groups, self.pairing, self.threshold):
            yield from self._near(page)

    def _key(self, key: Key) -> Any:
        return public_key(self._place.tables.key_names, key)

    def _near(self, page: Edges) -> Iterator[Pair]:
        rows = self._rows(np.unique(np.concatenate([page.a, page.b])))
        columns = (page.a, page.b, page.scores, page.exact)
        for a, b, score, exact in zip(*(column.tolist() for column in columns), strict=True):
            for one in rows.get(a, ()):  # else it was deleted this moment
                for two in rows.get(b, ()):
                    first, second = sorted((one, two))
                    yield Pair(self._key(first[1]), self._key(second[1]), score, exact)

    def _rows(self, wanted: Numbers) -> dict[int, list[tuple[int, Key]]]:
        """The rows of each content, all or the first, numbered in key order."""
        if self.copies == "first":
            found = self._place.read(lambda c: firsts(c, self._place.backend, self._place.tables, wanted))
            return {first.fingerprint: [(place, first.key)] for place, first in enumerate(found)}
        rows: dict[int, list[tuple[int, Key]]] = {}
        for place, (fingerprint, *key) in enumerate(self._place.read(partial(self._every, wanted=wanted))):
            rows.setdefault(fingerprint, []).append((place, tuple(key)))
        return rows

    def _every(self, connection: Connection, wanted: Numbers) -> list[tuple[Any, ...]]:
        stored, tables = self._place.tables.signatures, self._place.tables
        keys = key_columns(stored, tables)
        fingerprint = stored.c[tables.names.fingerprint]
        listed = self._place.backend.json_rows("wanted", ["number"])
        query = select(fingerprint, *keys).join(listed, listed.c.number == fingerprint).order_by(*keys)
        return [tuple(row) for row in connection.execute(query, {"wanted": json_numbers(wanted)})]


def respected(place: Workplace, pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Without those decided to be different, and with all those decided to be the same."""
    names, width = place.tables.key_names, len(place.tables.key_names)
    said: dict[frozenset[str], str] = {}
    same: dict[frozenset[str], tuple[Any, ...]] = {}
    for row in place.read(lambda c: in_force(c, place.backend, place.tables)):
        pair = frozenset((repr(row[:width]), repr(row[width : 2 * width])))
        said[pair] = row[2 * width]
        if row[2 * width] == SAME:
            same[pair] = row
    if not said:
        yield from pairs
        return
    for found in pairs:
        pair = frozenset((repr(_tuple(names, found.a)), repr(_tuple(names, found.b))))
        verdict = said.get(pair)
        same.pop(pair, None)
        if verdict != DIFFERENT:
            yield found if verdict is None else replace(found, decided=verdict)
    rows = list(same.values())
    one, two = (np.array([row[2 * width + side] for row in rows], np.int64) for side in (1, 2))
    for row, score in zip(rows, scores_of(place, one, two).tolist(), strict=True):
        a, b = (public_key(names, row[start : start + width]) for start in (0, width))
        yield Pair(a, b, score, exact=not place.signer.family.rarity, decided=SAME)


def _tuple(names: Sequence[str], key: Any) -> Key:
    return tuple(key[name] for name in names) if len(names) > 1 else (key,)


def full_length(place: Workplace, pairing: int, threshold: float) -> int:
    """How many pairs of rows there are, copies included."""
    fingerprint = place.tables.signatures.c[place.tables.names.fingerprint]
    counted = select(fingerprint.label("content"), func.count().label("n")).where(fingerprint.is_not(None))
    counts = counted.group_by(fingerprint).cte("counts")
    edges, other = place.groups.edges, counts.alias("other")

    def work(connection: Connection) -> int:
        copies = connection.scalar(select(func.sum(counts.c.n * (counts.c.n - 1) / 2))) or 0
        near = (
            select(func.sum(counts.c.n * other.c.n))
            .select_from(edges.join(counts, counts.c.content == edges.c.a).join(other, other.c.content == edges.c.b))
            .where(edges.c.pairing == pairing, edges.c.score >= threshold)
        )
        return int(copies) + int(connection.scalar(near) or 0)

    return place.read(work)


class Duplicates:
    """The groups of one stored result, in the order of their representatives, streamed anew by every loop.

    len() is the number of groups, `rows` that of rows in them; `result` is the name they are stored under (`published`:
    the view dbsim_<index>_groups shows them); `limited` says what was too large to compare all with all, so that pairs
    may be missing, `warnings` are sentences about the groups.
    """

    def __init__(self, place: Workplace, result: Result, limited: Limited, warnings: tuple[str, ...] = ()) -> None:
        self._place = place
        self.result = result.name
        self.published = result.published
        self.limited = limited
        self.warnings = warnings
        self._ids, self.rows = place.read(partial(self._overview, generation=result.generation))

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Group]:
        for start in range(0, len(self._ids), GROUPS):
            ids = self._ids[start : start + GROUPS]
            found = self._place.read(partial(self._groups, ids=ids))
            for number in ids:
                if number in found:
                    yield found[number]

    def to_list(self) -> list[dict[str, Any]]:
        """For `json.dumps`."""
        return [group.to_json() for group in self]

    def _mine(self) -> Any:
        view = self._place.groups.saved_groups
        return view.c[self._place.groups.result_name] == self.result

    def _overview(self, connection: Connection, generation: int) -> tuple[list[int], int]:
        groups = self._place.groups
        contents = groups.contents
        leading = (
            select(contents.c.group_id)
            .where(contents.c.generation == generation, contents.c.fingerprint == contents.c.group_id)
            .order_by(*(contents.c[name] for name in groups.representative))
        )
        rows = connection.scalar(select(func.count()).select_from(groups.saved_groups).where(self._mine())) or 0
        return list(connection.execute(leading).scalars()), rows

    def _groups(self, connection: Connection, ids: list[int]) -> dict[int, Group]:
        view, tables = self._place.groups.saved_groups, self._place.tables
        width = len(tables.key_names)
        keys = [view.c[name] for name in tables.key_names]
        number, *rest = (view.c[name] for name in self._place.groups.shown)
        query = select(*keys, number, *rest).where(self._mine(), number.in_(ids)).order_by(*keys)
        found: dict[int, Group] = {}
        for row in connection.execute(query):
            values = tuple(row)
            group_id, score, diameter = values[width : width + 3]
            if group_id not in found:
                representative = public_key(tables.key_names, values[width + 3 : -1])
                found[group_id] = Group(group_id, representative, diameter, [])
            found[group_id].members.append(
                Hit(public_key(tables.key_names, values[:width]), score, exact=bool(values[-1]))
            )
        return found

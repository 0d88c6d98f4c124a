"""Pairs of rows with equal content, and what they score: 1 of texts, of persons the probability that they are one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.signature_rows import Numbers, signatures_of
from dbsim.tables.key_conditions import after, key_columns
from dbsim.tables.source import Key

PAGE = 5_000  # rows of the index, or contents, read at once
CONTENTS = 200  # of which the rows are read at once
Copy = tuple[Key, Key, float]
Members = dict[int, list[tuple[int, Key]]]  # the rows of each content, numbered in key order


def copies(place: Workplace, threshold: float, rows: Callable[[Numbers], Members], *, every: bool) -> Iterator[Copy]:
    """Those that reach the threshold: every pair, or each row with the first of its content."""
    several = place.read(partial(_several, place=place))
    if not every:
        yield from _of_first(place, _alike(place, several, threshold))
        return
    for start in range(0, len(several), CONTENTS):
        alike = _alike(place, several[start : start + CONTENTS], threshold)
        found = rows(np.array(list(alike), np.int64)) if alike else {}
        for members, fingerprint in sorted((members, fingerprint) for fingerprint, members in found.items()):
            for (_, one), (_, two) in combinations(members, 2):
                yield one, two, alike[fingerprint]


def scores_of(place: Workplace, a: Numbers, b: Numbers) -> NDArray[np.float64]:
    """Of pairs that nobody sought: the probability of persons, else that of the texts."""
    if not place.signer.family.rarity:
        return place.verifier.scores(a, b)
    wanted = np.unique(np.concatenate([a, b]))
    found = place.collected([place.read(lambda c: signatures_of(c, place.backend, place.tables, wanted))])
    (one, there), (two, too) = found.find(a), found.find(b)
    scores, there = np.zeros(len(a)), there & too  # else it was deleted this moment
    scores[there] = found.scores(one[there], two[there])
    return scores


def _alike(place: Workplace, several: Numbers, threshold: float) -> dict[int, float]:
    """What rows of each of these contents score with each other, where that is enough."""
    if not place.signer.family.rarity:
        return dict.fromkeys(several.tolist(), 1.0)
    parts = [several[start : start + PAGE] for start in range(0, len(several), PAGE)]
    scored = ((part, scores_of(place, part, part)) for part in parts)
    found = ((one, score) for part, scores in scored for one, score in zip(part.tolist(), scores.tolist(), strict=True))
    return {one: score for one, score in found if score >= threshold}


def _of_first(place: Workplace, alike: dict[int, float]) -> Iterator[Copy]:
    """One walk in key order that remembers the first row of every content that has several."""
    seen: dict[int, Key] = {}
    last: Key | None = None
    while alike:
        page = place.read(partial(_page, place=place, last=last))
        if not page:
            return
        for fingerprint, *values in page:
            last = tuple(values)
            if fingerprint in alike and seen.setdefault(fingerprint, last) != last:
                yield seen[fingerprint], last, alike[fingerprint]


def _several(connection: Connection, place: Workplace) -> Numbers:
    fingerprint = place.tables.signatures.c[place.tables.names.fingerprint]
    query = select(fingerprint).where(fingerprint.is_not(None)).group_by(fingerprint).having(func.count() > 1)
    first = key_columns(place.tables.signatures, place.tables)[0]
    return np.array(connection.execute(query.order_by(func.min(first))).scalars().all(), np.int64)


def _page(connection: Connection, place: Workplace, last: Key | None) -> Sequence[Sequence[Any]]:
    stored, tables = place.tables.signatures, place.tables
    keys = key_columns(stored, tables)
    query = select(stored.c[tables.names.fingerprint], *keys).order_by(*keys).limit(PAGE)
    if last is not None:
        query = query.where(after(keys, last))
    return [tuple(row) for row in connection.execute(query)]

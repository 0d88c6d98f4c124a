"""Overlap and relative size of two indexed collections, from samples of both: two SearchEngines → Overlap."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection, func, select

from dbsim.errors import InvalidOption
from dbsim.evaluate.sampling.overlap import Overlap, overlap
from dbsim.evaluate.sampling.sample import chance, draw
from dbsim.progress import Progress
from dbsim.search.limits import Search
from dbsim.search.searcher import SearchEngine
from dbsim.sync import models

BATCH = 200  # texts signed and asked at once


def compare_collections(
    a: SearchEngine, b: SearchEngine, sample: int, seed: int, *, distinct: bool, progress: Progress
) -> Overlap:
    """Draw from each, ask the other; a row counts as contained when a search at the threshold finds any row."""
    if sample < 1:
        raise InvalidOption(f"a sample of {sample} rows is not possible: use 1 or more")
    _require_alike(a, b)
    for one in (a, b):
        one.read(lambda c, one=one: models.require(c, one.tables, one.signer))  # type: ignore[misc]
    rng = chance(seed)
    counts = []
    for number, (mine, other) in enumerate(((a, b), (b, a))):
        keys = mine.read(
            lambda c, mine=mine: draw(c, mine.backend, mine.tables, sample, rng, distinct=distinct),  # type: ignore[misc]
        )
        counts.append(_contained(mine, other, keys, number, progress))
    found = overlap(*counts[0], *counts[1])
    sizes = [one.read(lambda c, one=one: _size(c, one, distinct)) for one in (a, b)]  # type: ignore[misc]
    return replace(found, counted=sizes[0] / sizes[1] if sizes[1] else None)


def _contained(
    mine: SearchEngine, other: SearchEngine, keys: list[tuple[object, ...]], number: int, progress: Progress
) -> tuple[int, int]:
    """(rows asked with, those found): rows without any word are not asked with."""
    stage, asked, found = f"asking with rows of {'AB'[number]}", 0, 0
    bounds = Search(limit=1).bounds(other.options)
    for start in range(0, len(keys), BATCH):
        progress(stage, start, len(keys))
        texts = [list(row) for row in mine.columns_of(keys[start : start + BATCH]) if row is not None]
        queries = [query for query in other.sign(texts) if query is not None] if texts else []
        asked += len(queries)
        found += sum(bool(hits) for hits in other.search_many(queries, bounds, None, None)) if queries else 0
    progress(stage, len(keys), len(keys))
    return asked, found


def _require_alike(a: SearchEngine, b: SearchEngine) -> None:
    """Else being contained would mean one thing in one direction and another in the other."""
    mine, theirs = a.options, b.options
    for name in ("family", "threshold"):
        if getattr(mine, name) != getattr(theirs, name):
            raise InvalidOption(
                f"the indexes must have the same {name}: {mine.name!r} has {getattr(mine, name)}, {theirs.name!r} "
                f"{getattr(theirs, name)}; change one with `dbsim alter`"
            )
    if [field.analyser() for field in mine.fields] != [field.analyser() for field in theirs.fields]:
        raise InvalidOption("the indexes must read their texts alike: give both the same fields, words and normaliser")


def _size(connection: Connection, search: SearchEngine, distinct: bool) -> int:
    fingerprint = search.tables.signatures.c[search.tables.names.fingerprint]
    counted = func.count(fingerprint.distinct()) if distinct else func.count(fingerprint)
    return connection.scalar(select(counted)) or 0

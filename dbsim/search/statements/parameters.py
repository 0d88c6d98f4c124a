"""What a search statement is executed with: a signed question → values by the names of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from dbsim.engines.backend import Asked, Backend
from dbsim.options import IndexOptions
from dbsim.options.asking import POOL
from dbsim.search.deciding.texts import Cut
from dbsim.search.query import Query
from dbsim.tables.source import Key

HIGHEST = 2.0  # no estimate is above one, and JSON has no infinity


def many_parameters(
    backend: Backend, options: IndexOptions, asked: Asked, queries: Sequence[Query], cuts: Sequence[Cut]
) -> dict[str, Any]:
    """What `search_many` reads of its questions."""
    looked_up = [chain.from_iterable(query.lookups) if query.lookups else query.keys for query in queries]
    values: dict[str, Sequence[Any]] = dict(zip(chain.from_iterable(asked.keys), columns_of(looked_up), strict=True))
    ranges = [query.count_range(options, cut.lowest) for query, cut in zip(queries, cuts, strict=True)]
    numbers = (chain(some, query.counts, query.rarities) for some, query in zip(ranges, queries, strict=True))
    values |= zip(asked.integers, columns_of(numbers), strict=True)
    values |= zip(asked.reals, columns_of((cut.lowest, min(cut.highest, HIGHEST)) for cut in cuts), strict=True)
    values |= zip(asked.filters, columns_of(query.bits for query in queries), strict=True)
    return backend.asked_values(asked, values)


def columns_of(rows: Iterable[Iterable[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def parameters(
    backend: Backend, options: IndexOptions, query: Query, cut: Cut, *, hits: int, max_candidates: int
) -> dict[str, Any]:
    """The statement's parameters for one query; the names have a prefix, as a condition may have its own."""
    values: dict[str, Any] = {**query.key_parameters(), **cut_parameters(options, query, cut)}
    for number, (bits, count) in enumerate(zip(query.bits, query.counts, strict=True)):
        values[f"dbsim_bits{number}"] = None if bits is None else backend.stored_bits(bits)
        values[f"dbsim_count{number}"] = count
    values |= {f"dbsim_rarity{number}": rarity for number, rarity in enumerate(query.rarities)}
    if options.hashing.nearest:
        values["dbsim_near"] = -(-max_candidates // (2 * options.keys))
    return values | {
        "dbsim_hits": hits,
        "dbsim_ranked": max_candidates,
        "dbsim_pool": max(POOL, 10 * max_candidates),
        "dbsim_fingerprint": query.fingerprint,
    }


def cut_parameters(options: IndexOptions, query: Query, cut: Cut) -> dict[str, Any]:
    low, high = query.count_range(options, cut.lowest)
    highest = min(cut.highest, HIGHEST)
    return {"dbsim_low": low, "dbsim_high": high, "dbsim_lowest": cut.lowest, "dbsim_highest": highest}


def self_parameters(key: Key) -> dict[str, Any]:
    return {f"dbsim_self{i}": value for i, value in enumerate(key)}

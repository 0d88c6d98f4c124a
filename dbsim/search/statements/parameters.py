"""What a search statement is executed with: a signed question → values by the names of its parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dbsim.engines.backend import Backend
from dbsim.options import IndexOptions
from dbsim.options.asking import POOL
from dbsim.search.deciding.texts import Cut
from dbsim.search.query import Query
from dbsim.tables.source import Key


def many_parameters(options: IndexOptions, queries: Sequence[Query | None], cuts: Sequence[Cut | None]) -> str:
    """The JSON array `search_many` reads."""
    rows = []
    for number, (query, cut) in enumerate(zip(queries, cuts, strict=True)):
        if query is not None and cut is not None:
            row: dict[str, Any] = {"dbsim_number": number, **cut_parameters(options, query, cut)}
            row.update(query.key_parameters())
            row.update({f"dbsim_count{i}": count for i, count in enumerate(query.counts)})
            row.update({f"dbsim_rarity{i}": rarity for i, rarity in enumerate(query.rarities)})
            row.update({f"dbsim_bits{i}": "X" + bits.hex() for i, bits in enumerate(query.bits) if bits is not None})
            rows.append(row)
    return json.dumps(rows)


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
    # no estimate is above one, and JSON has no infinity
    return {"dbsim_low": low, "dbsim_high": high, "dbsim_lowest": cut.lowest, "dbsim_highest": min(cut.highest, 2.0)}


def self_parameters(key: Key) -> dict[str, Any]:
    return {f"dbsim_self{i}": value for i, value in enumerate(key)}

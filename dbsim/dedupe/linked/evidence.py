"""What speaks for links, field by field: pairs → JSON, by the model of the index that was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from dbsim.dedupe.linked.results import Pair
from dbsim.engines.signature_rows import as_signatures
from dbsim.hashing.records.waterfall import waterfalls
from dbsim.hashing.signer import Signatures
from dbsim.search.searcher import SearchEngine
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.source import Key


def evidence_of(mine: SearchEngine, other: SearchEngine, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Of texts the score is all there is."""
    learned = other.learned
    if learned is None:
        return [{"score": one.score} for one in pairs]
    nothing = ("",) * len(other.options.fields)
    texts = [row or nothing for row in mine.columns_of([one.a for one in pairs])]
    signed = other.signer.sign([list(column) for column in zip(*texts, strict=True)])
    stored = other.read(lambda c: _stored(c, other, [one.b for one in pairs]))
    names = [field.name for field in other.options.fields]
    found = []
    for place, one in enumerate(pairs):
        row = stored.get(repr(one.b))
        made = None if row is None else waterfalls(learned, names, signed.part(slice(place, place + 1)), row)[0]
        found.append({} if made is None else json.loads(json.dumps(made.to_json())))  # as it is read back
    return found


def _stored(connection: Connection, search: SearchEngine, keys: Sequence[Key]) -> dict[str, Signatures]:
    tables, width = search.tables, len(search.tables.key_names)
    found: dict[str, Signatures] = {}
    for some in chunks(keys, search.backend.key_batch):
        query = select(tables.signatures).where(among(key_columns(tables.signatures, tables), some))
        for values in connection.execute(query):
            row = tuple(values)
            found[repr(row[:width])] = as_signatures(search.backend, tables, [row], skip=width)
    return found

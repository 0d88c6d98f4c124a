"""What the trigger of `on_duplicate="flag"` noted: dbsim_<index>_flagged → Flagged, with the evidence."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, column, extract, inspect, select, table

from dbsim.engines.signature_rows import as_signatures
from dbsim.errors import InvalidOption
from dbsim.hashing.records.waterfall import Waterfall, waterfalls
from dbsim.hashing.signer import Signatures
from dbsim.search.searcher import SearchEngine
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.names import identifier
from dbsim.tables.source import Key, public_key


@dataclass(frozen=True)
class Flagged:
    """A row that came in although this person was there as another row; no evidence when one of them is gone."""

    new: Any
    old: Any
    probability: float
    at: datetime.datetime
    evidence: Waterfall | None

    def to_json(self) -> dict[str, Any]:
        evidence = None if self.evidence is None else self.evidence.to_json()
        shown = {"new": self.new, "old": self.old, "probability": self.probability, "at": self.at.isoformat()}
        return {**shown, "evidence": evidence}


def flagged(search: SearchEngine, connection: Connection, limit: int) -> list[Flagged]:
    """The latest first."""
    tables = search.tables
    noted = _noted(connection, tables, limit)
    width = len(tables.key_names)
    pairs = [(tuple(row[:width]), tuple(row[width : 2 * width]), *row[2 * width :]) for row in noted]
    stored = _stored(search, connection, [key for new, old, *_ in pairs for key in (new, old)])
    names = [field.name for field in search.options.fields]
    found = []
    for new, old, probability, seconds in pairs:
        one, two = stored.get(repr(new)), stored.get(repr(old))
        known = search.learned is not None and one is not None and two is not None
        why = waterfalls(search.learned, names, one, two)[0] if known else None  # type: ignore[arg-type]
        a, b = (public_key(tables.key_names, key) for key in (new, old))
        at = datetime.datetime.fromtimestamp(float(seconds), datetime.UTC)
        found.append(Flagged(a, b, float(probability), at, why))
    return found


def _noted(connection: Connection, tables: IndexTables, limit: int) -> list[Any]:
    name, keys = identifier("dbsim", tables.record.name, "flagged"), tables.key_names
    if tables.record.options.on_duplicate != "flag" or not inspect(connection).has_table(name):
        raise InvalidOption(
            f'index {tables.record.name!r} flags nothing: create one with on_duplicate="flag" (--on-duplicate flag)'
        )
    single = len(keys) == 1
    pair = [side if single else identifier(side, key) for side in "ab" for key in keys]
    noted = table(name, *(column(one) for one in (*pair, "probability", "flagged_at")))
    order = (noted.c.flagged_at.desc(), *(noted.c[one] for one in pair))
    seconds = extract("epoch", noted.c.flagged_at)  # the driver reads no date in the session's own style
    wanted = select(*(noted.c[one] for one in pair), noted.c.probability, seconds)
    return list(connection.execute(wanted.order_by(*order).limit(limit)))


def _stored(search: SearchEngine, connection: Connection, keys: Sequence[Key]) -> dict[str, Signatures]:
    tables, width = search.tables, len(search.tables.key_names)
    found: dict[str, Signatures] = {}
    for some in chunks(list(dict.fromkeys(keys)), search.backend.key_batch):
        query = select(tables.signatures).where(among(key_columns(tables.signatures, tables), some))
        for values in connection.execute(query):
            row = tuple(values)
            found[repr(row[:width])] = as_signatures(search.backend, tables, [row], skip=width)
    return found

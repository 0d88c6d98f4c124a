"""What people decided, for families that learn from it: Connection → Decided or None.

Decisions count about the texts they were made on: they are those of the generation that is searched, in force, of rows
that have not changed since they were signed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection

from dbsim.engines.backend import Backend
from dbsim.engines.source_sample import texts_of
from dbsim.hashing.family import Decided
from dbsim.hashing.signer import Signer
from dbsim.lifecycle.decisions import in_force
from dbsim.tables import catalogue
from dbsim.tables.decision_tables import SAME
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key

MOST = 20_000  # decisions; of more, every n-th in key order


def decided(connection: Connection, backend: Backend, tables: IndexTables, signer: Signer) -> Decided | None:
    """As this signer sees them; None where nothing is decided, or always the same way, from which nothing follows."""
    searched = IndexTables(catalogue.load(connection, tables.record.name))
    pairs = _still_true(connection, backend, searched)
    texts = texts_of(connection, backend, tables, (key for one, two, _ in pairs for key in (one, two)))
    pairs = [pair for pair in pairs if pair[0] in texts and pair[1] in texts]
    if len({same for *_, same in pairs}) < 2:
        return None
    one, two, same = zip(*pairs, strict=True)
    left, right = (signer.documents(_columns([texts[key] for key in keys])) for keys in (one, two))
    return Decided(left, right, np.array(same))


def _still_true(connection: Connection, backend: Backend, searched: IndexTables) -> list[tuple[Key, Key, bool]]:
    """Both keys, and whether they are the same; in the same order for the same decisions."""
    width, record = len(searched.key_names), searched.record
    rows = sorted(in_force(connection, backend, searched), key=repr)
    rows = rows[:: max(-(-len(rows) // MOST), 1)]
    pairs = [(row[:width], row[width : 2 * width], row[2 * width] == SAME) for row in rows]
    signed = {
        key: number
        for pair, row in zip(pairs, rows, strict=True)
        for key, number in zip(pair[:2], row[-2:], strict=True)
    }
    texts = texts_of(connection, backend, searched, signed)
    if not texts:
        return []
    signer = record.options.signer(record.secret)
    now = dict(zip(texts, signer.fingerprints(signer.documents(_columns(list(texts.values())))).tolist(), strict=True))
    return [pair for pair in pairs if all(key in now and now[key] == signed[key] for key in pair[:2])]


def _columns(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [list(column) for column in zip(*rows, strict=True)]

"""How often word filters let a row pass that lacks the word: Connection → rate of each field, by its set bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, column, select

from dbsim.options.fields import MOST_WORD_BITS
from dbsim.tables.index_tables import IndexTables

SAMPLE = 4000  # rows
MOST_NUMBERS = 400_000  # of signatures read at once
FULL = 0.9  # of the bits that there is room for
TOLERATED = 1.25  # times the rate asked for, before anybody is told: a sample has its chance


def false_drops(connection: Connection, tables: IndexTables) -> dict[str, float]:
    """Field with a word filter → mean over a sample of its rows, or over all of a small table."""
    fields = [field for field in tables.record.options.fields if field.signature is not None]
    if not fields or tables.shown:  # the view of the signatures has no words
        return {}
    rows, found, first = _signatures(connection, tables), {}, 0
    for field in fields:
        assert field.signature is not None
        words = rows[:, first : first + field.word_bits // 64]
        there = words.any(axis=1)  # a row without a word drops nothing
        rate = field.signature.realised(np.ascontiguousarray(words[there])).mean() if there.any() else 0.0
        found[field.name] = float(rate)
        first += field.word_bits // 64
    return found


def problems(tables: IndexTables, rates: dict[str, float]) -> list[str]:
    """What to say of fields whose texts have become too long for their filters, while there is room for longer ones."""
    fields = tables.record.options.fields
    if sum(field.word_bits for field in fields) > FULL * MOST_WORD_BITS:
        return []
    asked = {field.name: field.false_drops for field in fields}
    return [
        f"questions for a word of {name!r} read {rate:.2%} of the rows in vain, {asked[name]:.2%} were asked for: "
        f"`dbsim alter DB {tables.record.name} --signature --false-drops {asked[name]:g}` fits the filters anew"
        for name, rate in rates.items()
        if rate > TOLERATED * asked[name]
    ]


def _signatures(connection: Connection, tables: IndexTables) -> NDArray[np.int64]:
    """rows × 64-bit words of all fields; in the order of fingerprints, which is no order of texts."""
    columns = list(tables.words.c)[len(tables.key_names) :]
    # of the same table, most of whose columns questions for words leave out
    fingerprint: ColumnElement[int] = column(tables.names.fingerprint)
    size = max(min(SAMPLE, MOST_NUMBERS // len(columns)), 1)
    query = select(*columns).where(fingerprint.is_not(None)).order_by(fingerprint).limit(size)
    return np.array([tuple(row) for row in connection.execute(query)], np.int64).reshape(-1, len(columns))

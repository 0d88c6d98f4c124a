"""Long signatures of long texts, made from the texts: Connection, keys → keys, signatures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from dbsim.engines.context import IndexContext
from dbsim.engines.source_sample import texts_of
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.slice_tables import SliceTables
from dbsim.tables.source import Key

Signed = tuple[list[Key], NDArray[np.int64]]
AT_ONCE = 200  # texts


def wide_signatures(context: IndexContext, connection: Connection, keys: Sequence[Key]) -> Signed:
    """Of those rows whose text is the one that was signed: whoever changes it afterwards notes the row in the tail."""
    tables, wider = context.tables, SliceTables.of(context.tables).wider
    found: list[Key] = []
    signed = [np.zeros((0, (SliceTables.of(tables).bits << wider) // 64), np.int64)]
    for some in chunks(keys, min(AT_ONCE, context.backend.key_batch)):
        known = _fingerprints(context, connection, some)
        texts = {k: v for k, v in texts_of(connection, context.backend, tables, some).items() if k in known}
        if texts:
            prints, bits = context.signer.widened([list(column) for column in zip(*texts.values(), strict=True)], wider)
            same = [known[key] == now for key, now in zip(texts, prints.tolist(), strict=True)]
            found += [key for key, there in zip(texts, same, strict=True) if there]
            signed.append(bits[np.array(same, bool)])
    return found, np.concatenate(signed)


def _fingerprints(context: IndexContext, connection: Connection, keys: Sequence[Key]) -> dict[Key, int]:
    stored, columns = context.tables.signatures, key_columns(context.tables.signatures, context.tables)
    query = select(*columns, stored.c[context.tables.names.fingerprint]).where(among(columns, keys))
    return {tuple(row[:-1]): row[-1] for row in connection.execute(query) if row[-1] is not None}

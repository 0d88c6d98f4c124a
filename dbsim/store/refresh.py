"""Bring the signatures of given rows in line with the host's table: keys → rows of dbsim_<index>."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert

from dbsim.hashing.signer import Signatures, Signer
from dbsim.store import models
from dbsim.store.backend import Backend
from dbsim.store.catalogue import quarantine_table
from dbsim.store.reading import among, chunks, key_columns, source_rows, texts
from dbsim.store.source import Key, key_json
from dbsim.store.tables import IndexTables


def refresh(connection: Connection, backend: Backend, tables: IndexTables, signer: Signer, keys: Iterable[Key]) -> int:
    """Lock the documents, read the truth, replace what is stored; a key without a row loses its signature."""
    done = 0
    wanted = list(keys)
    models.current(connection, tables, signer, lock=True)
    backend.lock_keys(connection, tables, wanted)
    for some in chunks(wanted, backend.key_batch):
        query = source_rows(backend, tables).where(among(key_columns(tables.source, tables), some))
        forget(connection, tables, some)
        for batch in texts(connection, backend, tables, query):
            store(connection, backend, tables, batch.keys, signer.sign(batch.columns), batch.failures)
        done += len(some)
    return done


def forget(connection: Connection, tables: IndexTables, keys: list[Key]) -> None:
    """Remove every trace of these rows."""
    stored = tables.signatures
    connection.execute(delete(stored).where(among(key_columns(stored, tables), keys)))
    connection.execute(
        delete(quarantine_table).where(
            quarantine_table.c.index_name == tables.record.name,
            quarantine_table.c.source_key.in_([key_json(key) for key in keys]),
        )
    )


def store(
    connection: Connection,
    backend: Backend,
    tables: IndexTables,
    keys: list[Key],
    signatures: Signatures,
    failures: dict[Key, str],
) -> None:
    """Write new rows; one that could not be read is stored as an empty document and named in the quarantine."""
    backend.insert(connection, tables, keys, signatures)
    if failures:
        connection.execute(
            insert(quarantine_table),
            [
                {"index_name": tables.record.name, "source_key": key_json(key), "reason": reason}
                for key, reason in failures.items()
            ],
        )

"""Bring the signatures of given rows in line with the host's table: keys → rows of dbsim_<index>."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from sqlalchemy import Connection, delete, insert

from dbsim.hashing.signer import Signatures, Signer
from dbsim.store import group_tables, models
from dbsim.store.backend import Backend
from dbsim.store.catalogue import quarantine_table
from dbsim.store.group_tables import GroupTables
from dbsim.store.reading import among, chunks, key_columns, source_rows, texts
from dbsim.store.rehearsal import Rehearsal
from dbsim.store.source import Key, Texts, key_json
from dbsim.store.tables import IndexTables


def refresh(
    connection: Connection, backend: Backend, tables: IndexTables, signer: Rehearsal, keys: Sequence[Key]
) -> int:
    """Lock the documents, read the truth, replace what is stored; a key without a row loses its signature."""
    done = 0
    models.require(connection, tables, signer.signer, lock=True)
    backend.lock_keys(connection, tables, keys)
    grouped = group_tables.exist(connection, backend, GroupTables(tables))
    for some in chunks(keys, backend.key_batch):
        if grouped:
            group_tables.note_changes(connection, tables, some, -1)
        forget(connection, tables, some)
        for batch in source_texts(connection, backend, tables, some):
            store(connection, backend, tables, batch, signer.sign(batch))
        if grouped:
            group_tables.note_changes(connection, tables, some, 1)
        done += len(some)
    return done


def rehearse(
    connection: Connection, backend: Backend, tables: IndexTables, signer: Signer, keys: Sequence[Key]
) -> Rehearsal:
    """Sign in advance what `refresh` will find."""
    found = (source_texts(connection, backend, tables, some) for some in chunks(keys, backend.key_batch))
    return Rehearsal(signer, chain.from_iterable(found))


def source_texts(connection: Connection, backend: Backend, tables: IndexTables, keys: Sequence[Key]) -> Iterator[Texts]:
    query = source_rows(backend, tables).where(among(key_columns(tables.source, tables), keys))
    return texts(connection, backend, tables, query)


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


def store(connection: Connection, backend: Backend, tables: IndexTables, batch: Texts, signatures: Signatures) -> None:
    """Write new rows; one that could not be read is stored as an empty document and named in the quarantine."""
    backend.insert(connection, tables, batch.keys, signatures)
    if batch.failures:
        connection.execute(
            insert(quarantine_table),
            [
                {"index_name": tables.record.name, "source_key": key_json(key), "reason": reason}
                for key, reason in batch.failures.items()
            ],
        )

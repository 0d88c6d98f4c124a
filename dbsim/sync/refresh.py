"""Bring the signatures of given rows in line with the host's table: keys → rows of dbsim_<index>."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain

from sqlalchemy import ColumnElement, Connection, delete, false, insert, select

from dbsim.engines.backend import Backend
from dbsim.engines.source_rows import source_rows, texts
from dbsim.hashing.signer import Signatures, Signer
from dbsim.lifecycle import decisions
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.words import slices
from dbsim.sync import models
from dbsim.sync.filling.parts import Parts
from dbsim.sync.presign import SignedAhead
from dbsim.tables.catalogue import generations, quarantine_table
from dbsim.tables.group_tables import GroupTables, note_changes
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import among, chunks, up_to
from dbsim.tables.source import Key, Texts, key_json

UNREADABLE = "a key that is not valid UTF-8"


def refresh(
    connection: Connection, backend: Backend, tables: IndexTables, signer: SignedAhead, keys: Sequence[Key]
) -> int:
    """Lock the documents, read the truth, replace what is stored; a key without a row loses its signature."""
    done = 0
    models.require(connection, tables, signer.signer)
    backend.lock_keys(connection, tables, keys)
    reached = filled(connection, backend, tables)
    decided = tables.record.searched and not reached and decisions.exist(connection, backend, tables)
    grouped = tables.record.searched and stored_groups.exist(connection, backend, GroupTables.of(tables))
    for some in chunks(keys, backend.key_batch):
        if grouped:
            note_changes(connection, tables, some, -1)
        forget(connection, backend, tables, some)
        for batch in source_texts(connection, backend, tables, some, *reached):
            store(connection, backend, tables, batch, signer.sign(batch))
        if grouped:
            note_changes(connection, tables, some, 1)
        if decided:
            decisions.forget(connection, tables, some)
        done += len(some)
    return done


def filled(connection: Connection, backend: Backend, tables: IndexTables) -> list[ColumnElement[bool]]:
    """A condition for rows that a generation still being filled has reached; it will read the others in their turn.

    The filling goes on from the last row stored, or from those of its parts, so nothing may be stored beyond; the lock
    keeps it from moving.
    """
    if tables.record.ready:
        return []
    found = generations(connection, tables.record.name, lock=True)
    if any(other.generation == tables.record.generation and other.ready for other in found):
        return []
    parts = Parts(tables)
    if backend.has_table(connection, parts.table.name):
        return [parts.covered(connection)]
    last = last_stored(connection, tables)
    return [up_to(tables.source_key, last) if last else false()]


def last_stored(connection: Connection, tables: IndexTables) -> Key | None:
    columns = tables.stored_key
    row = connection.execute(select(*columns).order_by(*(column.desc() for column in columns)).limit(1)).first()
    return None if row is None else tuple(row)


def sign_ahead(
    connection: Connection, backend: Backend, tables: IndexTables, signer: Signer, keys: Sequence[Key]
) -> SignedAhead:
    """Sign in advance what `refresh` will find."""
    found = (source_texts(connection, backend, tables, some) for some in chunks(keys, backend.key_batch))
    return SignedAhead(signer, chain.from_iterable(found))


def source_texts(
    connection: Connection,
    backend: Backend,
    tables: IndexTables,
    keys: Sequence[Key],
    *conditions: ColumnElement[bool],
) -> Iterator[Texts]:
    query = source_rows(backend, tables).where(among(tables.source_key, keys), *conditions)
    return texts(connection, backend, tables, query)


def forget(connection: Connection, backend: Backend, tables: IndexTables, keys: list[Key]) -> None:
    """Remove every trace of these rows."""
    stored = tables.signatures
    connection.execute(delete(stored).where(among(tables.stored_key, keys)))
    if tables.names.words:
        slices.forget(connection, backend, tables, keys)
    connection.execute(
        delete(quarantine_table).where(
            quarantine_table.c.index_name == tables.record.name,
            quarantine_table.c.generation == tables.record.generation,
            quarantine_table.c.source_key.in_([key_json(key) for key in keys]),
        )
    )


def store(connection: Connection, backend: Backend, tables: IndexTables, batch: Texts, signatures: Signatures) -> None:
    """Write new rows; one that could not be read is stored as an empty document and named in the quarantine."""
    backend.insert(connection, tables, batch.keys, signatures)
    if tables.names.words:
        slices.note(connection, backend, tables, batch.keys)
    if batch.failures:
        connection.execute(
            insert(quarantine_table),
            [
                {
                    "index_name": tables.record.name,
                    "generation": tables.record.generation,
                    "source_key": key_json(key),
                    "reason": reason,
                }
                for key, reason in batch.failures.items()
            ],
        )


def quarantine_unreadable(connection: Connection, tables: IndexTables, keys: Sequence[str]) -> None:
    """Name the rows whose keys, given as hexadecimal digits, no driver can read; those named before are forgotten."""
    mine = {"index_name": tables.record.name, "generation": tables.record.generation, "reason": UNREADABLE}
    connection.execute(delete(quarantine_table).where(*(quarantine_table.c[name] == mine[name] for name in mine)))
    if keys:
        rows = [{**mine, "source_key": json.dumps({"hex": key})} for key in keys]
        connection.execute(insert(quarantine_table), rows)

"""What an index is, as its rows in dbsim's own tables say: Connection → IndexRecord."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, Row, bindparam, select

from dbsim.errors import IndexChanged, InvalidOption, SecretMissing, UnknownName
from dbsim.options import IndexOptions
from dbsim.outside import key_of
from dbsim.tables.catalogue.tables import SHOWN, generation_table, index_table

FILLING, READY = "filling", "ready"
_STATES = (
    select(*(index_table.c[name] for name in ("generation", "state", "wanted")))
    .add_columns(generation_table.c.generation.label("beside"), generation_table.c.state.label("beside_state"))
    .outerjoin_from(index_table, generation_table, generation_table.c.index_name == index_table.c.name)
    .where(index_table.c.name == bindparam("index_name"))
)


@dataclass(frozen=True)
class IndexRecord:
    """One generation of an index: a row of dbsim_index, or one of dbsim_generation with the rest from there."""

    options: IndexOptions
    primary_key: tuple[tuple[str, str], ...]
    secret: bytes
    unicode_version: str
    generation: int = 1
    state: str = FILLING
    stamp: str = ""
    wanted: int | None = None
    retired_at: int | None = None
    searched: bool = True  # whether it is the one in dbsim_index
    name: str = field(init=False, repr=False, compare=False)
    ready: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        vars(self).update(name=self.options.name, ready=self.state == READY)


def load(connection: Connection, name: str, *, secret: bool = True) -> IndexRecord:
    """The generation that is searched; without its secret for a role that may not read it."""
    columns = index_table.c if secret else [index_table.c[column] for column in SHOWN]
    row = connection.execute(select(*columns).where(index_table.c.name == name)).first()
    if row is None:
        raise unknown(connection, name)
    return _record(row)


def unknown(connection: Connection, name: str) -> UnknownName | IndexChanged:
    """The error that names what there is instead; the index itself may be there again by now."""
    there = names(connection)
    return IndexChanged(name) if name in there else UnknownName("index", name, there)


def require_unchanged(connection: Connection, record: IndexRecord) -> None:
    """Before something is made for an index that was looked up a while ago: it may be gone, or another one."""
    stamp = _stamp(connection, record.name)
    if stamp is None:
        raise unknown(connection, record.name)
    if stamp != record.stamp:
        raise IndexChanged(record.name)


def is_unchanged(connection: Connection, record: IndexRecord) -> bool:
    """Whether it is still the index that was looked up a while ago."""
    return _stamp(connection, record.name) == record.stamp


def _stamp(connection: Connection, name: str) -> str | None:
    return connection.scalar(select(index_table.c.stamp).where(index_table.c.name == name))


def generations(connection: Connection, name: str, *, lock: bool = False, share: bool = False) -> list[IndexRecord]:
    """Every generation that has a table, the one that is searched first; none when the index is gone.

    With `lock` others that also lock the index wait for this transaction, but for those who all `share` it. All is
    read by one statement: between two a switch could hide a generation.
    """
    if lock:
        _lock(connection, name, share=share)
    beside = generation_table.alias("beside")
    rows = connection.execute(
        select(index_table, *(column.label(f"beside_{column.name}") for column in beside.c))
        .outerjoin_from(index_table, beside, beside.c.index_name == index_table.c.name)
        .where(index_table.c.name == name)
        .order_by(beside.c.generation)
    ).all()
    if not rows:
        return []
    current = _record(rows[0])
    return [current, *(_beside(current, row) for row in rows if row.beside_generation is not None)]


def _lock(connection: Connection, name: str, *, share: bool) -> None:
    locked = select(index_table.c.name).where(index_table.c.name == name)
    connection.execute(locked.with_for_update(read=share))


def is_ready(connection: Connection, name: str) -> bool:
    return connection.scalar(select(index_table.c.state).where(index_table.c.name == name)) == READY


def target(found: list[IndexRecord]) -> IndexRecord | None:
    """Which of an index's generations is to be filled and searched: the one asked for, or else the current one."""
    for record in found[1:]:
        if record.generation == found[0].wanted:
            return record
    return found[0] if found else None


def is_unfinished(connection: Connection, record: IndexRecord, *, lock: bool = False, share: bool = False) -> bool:
    """Whether this generation is still to be filled: not done by another worker, nor given up for another one.

    What `target` of all generations says, without reading their options: a filling asks in every transaction.
    """
    if lock:
        _lock(connection, record.name, share=share)
    rows = connection.execute(_STATES, {"index_name": record.name}).all()
    if not rows:
        return False
    wanted = next((row[3:] for row in rows if row[3] is not None and row[3] == row[2]), rows[0][:2])
    return (record.generation, True) == (wanted[0], wanted[1] != READY)


def names(connection: Connection) -> list[str]:
    return list(connection.scalars(select(index_table.c.name).order_by(index_table.c.name)))


def exists(connection: Connection, name: str) -> bool:
    return connection.scalar(select(index_table.c.name).where(index_table.c.name == name)) is not None


def _record(row: Row[tuple[object, ...]]) -> IndexRecord:
    options = IndexOptions.from_json(row.options)
    return IndexRecord(
        options=options,
        primary_key=tuple((name, type_) for name, type_ in json.loads(row.primary_key)),
        secret=_secret(options, getattr(row, "secret", "")),
        unicode_version=row.unicode_version,
        generation=row.generation,
        state=row.state,
        stamp=row.stamp,
        wanted=row.wanted,
    )


def _beside(current: IndexRecord, row: Row[tuple[object, ...]]) -> IndexRecord:
    options = IndexOptions.from_json(row.beside_options)
    return replace(
        current,
        options=options,
        secret=_secret(options, row.secret),
        generation=row.beside_generation,
        state=row.beside_state,
        retired_at=row.beside_retired_at,
        searched=False,
    )


def _secret(options: IndexOptions, stored: str) -> bytes:
    """Nothing where it is kept outside and is not there: then nothing can be signed, and the signer says why."""
    if not options.secret:
        return bytes.fromhex(stored)
    try:
        return key_of(options.secret, options.secret_check)
    except (SecretMissing, InvalidOption):
        return b""

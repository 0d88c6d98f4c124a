"""dbsim's own tables, the same in every database, and the index records in them: Connection → IndexRecord."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, replace

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    Table,
    Text,
    delete,
    insert,
    select,
    update,
)

from dbsim.errors import IndexChanged, InvalidOption, SecretMissing, UnknownName
from dbsim.options import IndexOptions
from dbsim.outside import key_of
from dbsim.tables.types import row_number

metadata = MetaData()

index_table = Table(
    "dbsim_index",
    metadata,
    Column("name", Text, primary_key=True),
    Column("source_schema", Text),
    Column("source_table", Text, nullable=False),
    Column("primary_key", Text, nullable=False),  # JSON: [[name, type], …]
    Column("options", Text, nullable=False),  # JSON of IndexOptions
    Column("family", Text, nullable=False),
    Column("secret", Text, nullable=False),  # hexadecimal; keys every hash of this index
    Column("unicode_version", Text, nullable=False),
    Column("generation", Integer, nullable=False),  # the one that is searched
    Column("state", Text, nullable=False),  # filling → ready
    Column("stamp", Text, nullable=False),  # another one whenever anything changes that a search depends on
    Column("wanted", Integer),  # the generation that shall be searched, once it is built
    Column("listening", Boolean, nullable=False),  # a worker sleeps and wants to be notified (PostgreSQL)
)
generation_table = Table(  # generations beside the one that is searched: built for a change of options, or replaced
    "dbsim_generation",
    metadata,
    Column("index_name", Text, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("options", Text, nullable=False),
    Column("family", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("retired_at", BigInteger),  # seconds since 1970
)
quarantine_table = Table(
    "dbsim_quarantine",
    metadata,
    Column("index_name", Text, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("source_key", Text, primary_key=True),  # JSON of the primary key; never the row's text
    Column("reason", Text, nullable=False),
)
document_table = Table(
    "dbsim_document",
    metadata,
    Column("id", row_number(), primary_key=True),
    Column("text", Text),
    Column("source", Text),
)
model_table = Table(
    "dbsim_model",
    metadata,
    Column("index_name", Text, primary_key=True),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    Column("dtype", Text, nullable=False),  # as numpy writes it, little-endian: <f8, <i4, …
    Column("shape", Text, nullable=False),  # JSON
    Column("numbers", LargeBinary, nullable=False),
    Column("sample", Integer, nullable=False),  # rows it was fitted on
    Column("seed", Text, nullable=False),  # how they were drawn
    Column("version", Text, nullable=False),  # family@version that fitted it
)
cardinality_table = Table(
    "dbsim_cardinality",
    metadata,
    Column("bits", Integer, primary_key=True, autoincrement=False),
    Column("count", Integer, primary_key=True, autoincrement=False),
    Column("estimate", Double, nullable=False),
)

GROUP_TABLES = ("edges", "contents", "changes", "grouping", "results", "apart", "respected", "claims")
GROUP_VIEWS = ("groups", "saved_groups", "duplicate_pairs")
SUFFIXES = (*GROUP_TABLES, *GROUP_VIEWS)
DERIVED = re.compile(  # dbsim_a_k0 belongs to index a
    rf"_(queue|parts|flagged|changed_up_to|linked|word_(slices|places|tail)|decisions|claims|pairs|buckets|signatures|fingerprint|pkey|k\d+|g\d+|{'|'.join(SUFFIXES)})$"
)
SHOWN = [column.name for column in index_table.c if column.name != "secret"]  # to roles that only search
FILLING, READY = "filling", "ready"
LONGEST_NAME = 500  # characters: PostgreSQL's B-tree of names takes 2,700 bytes
RESERVED = {name.removeprefix("dbsim_") for name in metadata.tables} | {"version", "status"}


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

    @property
    def name(self) -> str:
        return self.options.name

    @property
    def ready(self) -> bool:
        return self.state == READY


def check_name(name: str) -> None:
    """Refuse names whose tables would be taken for dbsim's own or another index's."""
    if not name or name.lower() in RESERVED or DERIVED.search(name.lower()):
        raise InvalidOption(f"an index cannot be called {name!r}: dbsim needs that name itself, choose another")
    if "\0" in name:
        raise InvalidOption("an index name cannot contain a NUL character")
    if len(name) > LONGEST_NAME:
        raise InvalidOption(
            f"an index name has {LONGEST_NAME} characters at most, not {len(name)}: choose a shorter one"
        )


# ── reading ──
def load(connection: Connection, name: str, *, secret: bool = True) -> IndexRecord:
    """The generation that is searched; without its secret for a role that may not read it."""
    columns = index_table.c if secret else [index_table.c[column] for column in SHOWN]
    row = connection.execute(select(*columns).where(index_table.c.name == name)).first()
    if row is None:
        raise unknown(connection, name)
    return _record(row)


def unknown(connection: Connection, name: str) -> UnknownName:
    """The error that names what there is instead."""
    return UnknownName("index", name, names(connection))


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
        locked = select(index_table.c.name).where(index_table.c.name == name)
        connection.execute(locked.with_for_update(read=share))
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


def is_ready(connection: Connection, name: str) -> bool:
    return connection.scalar(select(index_table.c.state).where(index_table.c.name == name)) == READY


def target(found: list[IndexRecord]) -> IndexRecord | None:
    """Which of an index's generations is to be filled and searched: the one asked for, or else the current one."""
    for record in found[1:]:
        if record.generation == found[0].wanted:
            return record
    return found[0] if found else None


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


# ── writing; index and generation rows are added by the statements of definition.py ──
def remove_generation(connection: Connection, record: IndexRecord) -> None:
    for table in (quarantine_table, model_table, generation_table):
        connection.execute(
            delete(table).where(table.c.index_name == record.name, table.c.generation == record.generation)
        )


def forget_secret(connection: Connection, name: str) -> None:
    """The one in the database, once no generation is left that was made with it."""
    if all(record.options.secret for record in generations(connection, name)):
        connection.execute(update(index_table).where(index_table.c.name == name).values(secret=""))


def set_ready(connection: Connection, record: IndexRecord) -> None:
    """Of this generation, wherever its row is."""
    _set_state(connection, record, READY)


def set_unfinished(connection: Connection, record: IndexRecord) -> None:
    """Of a generation that loses its rows: who wants it again has it filled again."""
    _set_state(connection, record, FILLING)


def _set_state(connection: Connection, record: IndexRecord, state: str) -> None:
    beside = generation_table
    for table, name in ((index_table, index_table.c.name), (beside, beside.c.index_name)):
        connection.execute(
            update(table).where(name == record.name, table.c.generation == record.generation).values(state=state)
        )


def switch(connection: Connection, old: IndexRecord, new: IndexRecord, when: int) -> None:
    """Searches read one row to see which generation counts, so that all of them change at once."""
    remembered = {"options": old.options.to_json(), "family": old.options.family, "state": old.state}
    table = generation_table
    connection.execute(delete(table).where(table.c.index_name == new.name, table.c.generation == new.generation))
    connection.execute(
        insert(table).values(index_name=old.name, generation=old.generation, retired_at=when, **remembered)
    )
    connection.execute(
        update(index_table)
        .where(index_table.c.name == new.name)
        .values(
            generation=new.generation,
            options=replace(new.options, inline=old.options.inline).to_json(),
            family=new.options.family,
            state=new.state,
            stamp=secrets.token_hex(16),
            wanted=new.generation if old.options.inline else None,  # see Worker.resume_inline
        )
    )


def set_options(connection: Connection, options: IndexOptions) -> None:
    """Those that need no other generation; a search made before is of the same index still, but knows less."""
    values = {"options": options.to_json(), "stamp": secrets.token_hex(16)}
    connection.execute(update(index_table).where(index_table.c.name == options.name).values(values))


def set_schema(connection: Connection, found: list[IndexRecord], schema: str | None) -> None:
    """Of the indexed table, in all generations."""
    beside = generation_table
    for record in found:
        text = replace(record.options, schema=schema).to_json()
        if record.searched:
            values = {"options": text, "source_schema": schema, "stamp": secrets.token_hex(16)}
            connection.execute(update(index_table).where(index_table.c.name == record.name).values(values))
        else:
            mine = (beside.c.index_name == record.name, beside.c.generation == record.generation)
            connection.execute(update(beside).where(*mine).values(options=text))


def set_renamed(connection: Connection, records: list[IndexRecord]) -> None:
    """All generations of an index whose table, schema, columns or key have other names or types now."""
    beside = generation_table
    for record in records:
        options = record.options
        if record.searched:
            set_primary_key(connection, record.name, record.primary_key)
            values = {"source_schema": options.schema, "source_table": options.table, "stamp": secrets.token_hex(16)}
            own = update(index_table).where(index_table.c.name == record.name)
            connection.execute(own.values(options=options.to_json(), **values))
        else:
            mine = (beside.c.index_name == record.name, beside.c.generation == record.generation)
            connection.execute(update(beside).where(*mine).values(options=options.to_json()))


def set_primary_key(connection: Connection, name: str, primary_key: tuple[tuple[str, str], ...]) -> None:
    text = json.dumps(primary_key, ensure_ascii=False)
    connection.execute(update(index_table).where(index_table.c.name == name).values(primary_key=text))


def settle_wanted(connection: Connection, name: str) -> None:
    """Nothing is asked for beyond what is searched."""
    connection.execute(update(index_table).where(index_table.c.name == name).values(wanted=None))


def set_listening(connection: Connection, name: str, listening: bool) -> None:
    connection.execute(update(index_table).where(index_table.c.name == name).values(listening=listening))

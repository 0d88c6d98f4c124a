"""An index of persons, from the table as it is: its columns and their kinds guessed, its keys planned on a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, Table, func, literal_column, select

from dbsim.choosing import USUAL_LENGTH, parted_for
from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook
from dbsim.engines.source_sample import sample
from dbsim.engines.transactions import read
from dbsim.errors import IndexExists, InvalidOption, suggest
from dbsim.hashing.families.registry import described
from dbsim.hashing.records.family import WHOLE, Records
from dbsim.hashing.records.levels import level_below
from dbsim.hashing.records.scheme import default, plan
from dbsim.hashing.signer import Signer
from dbsim.lifecycle.create import create, find_source, new_record
from dbsim.options import Field, IndexOptions, Planned
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Source
from dbsim.text.kinds.columns import GIVEN, SURNAME
from dbsim.text.kinds.guess import Guess, called, crossed, echoes, guess, own, place
from dbsim.text.kinds.registry import PREFIX, kind_names, kind_of

LOOKED_AT = 2000  # rows to guess kinds from
PLANNED_ON = 40_000  # rows to plan keys on
BITS = 256
DIGRAMS = 2
MOST_SHOWN = 8  # columns in an error
THRESHOLD = 0.5


@dataclass(frozen=True)
class RecordPlan:
    """What will be stored, and what every column was taken for."""

    options: IndexOptions
    guesses: tuple[Guess, ...]
    rows: int


Asked = tuple[str, str, str | None, float | None, bool]  # name, table, schema, threshold, triggers


def create_records(
    engine: Engine,
    backend: Backend,
    asked: Asked,
    kinds: Mapping[str, str],
    secret: bytes,
    bits: int = 0,
    after_create_table: TableHook | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
    fold: int = 0,
    filter: str = "",
) -> bool:
    """True when made, False when it was there; IndexExists when it was with other kinds or on another table.

    `more` are further options of the index; `fold` and `filter` are those of its fields.
    """
    name, table, schema, threshold, triggers = asked
    if more.get("on_duplicate") and not backend.signs_inline:
        raise InvalidOption(
            "a trigger of SQLite cannot compare persons without failing every other client's writes: leave out "
            "on_duplicate, and ask check_row or insert with add_unless_duplicate"
        )
    if read(engine, backend, lambda c: _exists(c, name, table, kinds, more)):
        return False
    options = IndexOptions(
        name=name,
        table=table,
        schema=schema,
        fields=(Field(columns=("?",), fold=fold, filter=filter),),
        family="records@1",
        threshold=THRESHOLD if threshold is None else threshold,
        triggers=triggers,
        **more,
    )
    planned = read(engine, backend, lambda c: plan_records(c, backend, options, kinds, secret, bits))
    return create(engine, backend, planned.options, [], secret, after_create_table)


def _exists(connection: Connection, name: str, table: str, kinds: Mapping[str, str], more: Mapping[str, Any]) -> bool:
    found = catalogue.generations(connection, name)
    if not found:
        return False
    options = found[0].options
    if not options.hashing.rarity or options.table != table.rpartition(".")[2]:
        raise IndexExists(name, ["it is not an index of the persons in this table"])
    stored = {field.name: field.normaliser.removeprefix(PREFIX) for field in options.fields}
    stated = {column: stated_kind(kind) for column, kind in kinds.items() if kind}
    differences = [
        f"{column} is {stored.get(column, 'left out')}, not {kind}"
        for column, kind in stated.items()
        if stored.get(column) != kind
    ]
    differences += options.differences(replace(options, **more), list(more))
    if differences:
        raise IndexExists(name, differences)
    return True


def plan_records(
    connection: Connection,
    backend: Backend,
    asked: IndexOptions,
    kinds: Mapping[str, str],
    secret: bytes = b"",
    bits: int = 0,
) -> RecordPlan:
    """`asked` has the name, the table and the threshold; `kinds` are the user's, "" for a column to leave out."""
    source = find_source(connection, backend, asked.table, asked.schema)
    asked = replace(asked, table=source.table, schema=source.schema)
    source.require([name for name, kind in kinds.items() if kind], backend.not_text, backend.not_key)
    guesses = _guess(connection, backend, asked, source, kinds)
    fields = tuple(_shaped(_field(one.column, one.kind, bits), asked.fields[0]) for one in guesses if one.kind)
    if not fields:
        raise InvalidOption(_nothing_to_tell(connection, source, guesses))
    family = family_of(guesses)
    options = replace(asked, fields=fields, family=described(family), threshold=asked.threshold or THRESHOLD)
    planned, rows = planned_family(connection, backend, options, source, family, secret)
    options = replace(options, family=described(planned), planned=Planned(rows=rows, candidates=0.0))
    return RecordPlan(options.with_plan(), tuple(guesses), rows)


def _nothing_to_tell(connection: Connection, source: Source, guesses: Sequence[Guess]) -> str:
    """Why no column was taken."""
    name = "name them, each with its kind, as in surname:name"
    table = Table(source.table, MetaData(), schema=source.schema)
    if connection.execute(select(literal_column("1")).select_from(table).limit(1)).first() is None:
        return f"table {source.table!r} has no rows from which kinds of columns could be guessed: {name}"
    why = ", ".join(f"{one.column}: {one.reason}" for one in guesses[:MOST_SHOWN])
    return (
        f"no column of table {source.table!r} looks like part of a person's record{f' ({why})' if why else ''}: {name}"
    )


def family_of(guesses: Sequence[Guess]) -> Records:
    """With the roles of the columns, not yet with keys."""
    names, named = crossed(guesses), called(guesses)
    return Records(
        names="" if names is None else f"{names[0]}.{names[1]}",
        own=".".join(f"{number}-{level_below(tenths / 10)}" for number, tenths in own(guesses).items()),
        echoes=".".join("-".join(map(str, (echo, *names))) for echo, names in echoes(guesses).items()),
        place=".".join(map(str, place(guesses))),
        called="" if named is None else f"{WHOLE if named[1] else ''}{named[0]}",
        registered="records@1",
    )


def planned_family(
    connection: Connection,
    backend: Backend,
    options: IndexOptions,
    source: Source,
    family: Records,
    secret: bytes,
) -> tuple[Records, int]:
    """The family with keys for the table as it is now, and how many rows that are.

    With the index's own secret: which bigram of a short value is the smallest depends on it, and so do the buckets.
    """
    tables = IndexTables(new_record(replace(options, rows=0, keys=0), source.primary_key))
    rows = connection.scalar(select(func.count()).select_from(tables.source)) or 0
    columns = sample(connection, backend, tables, PLANNED_ON) if rows > 1 else []
    if not columns or len(columns[0]) < 2:
        return replace(family, scheme=str(default(len(options.fields), family.crossed))), rows
    signer = Signer([field.plan() for field in options.fields], "minhash@1", options.plan, secret)
    atoms = family.atoms(signer.documents(columns))
    return replace(family, scheme=str(plan(atoms, rows, family.crossed))), rows


def replanned(
    connection: Connection, backend: Backend, options: IndexOptions, source: Source, secret: bytes
) -> IndexOptions:
    """The same options with keys for the table as it is, made with this secret."""
    family = options.hashing
    assert isinstance(family, Records)
    planned, rows = planned_family(connection, backend, options, source, family, secret)
    chosen = Planned(rows=rows, candidates=0.0)
    return replace(options, family=described(planned), rows=0, keys=0, planned=chosen).with_plan()


def _guess(
    connection: Connection, backend: Backend, asked: IndexOptions, source: Source, kinds: Mapping[str, str]
) -> list[Guess]:
    in_key = {name for name, _ in source.primary_key}
    names = [
        name
        for name, type_ in source.columns.items()
        if name in kinds or (name not in in_key and type_.lower() not in backend.not_text)
    ]
    names = [name for name in names if kinds.get(name) != ""]
    stated = {name: stated_kind(kind) for name, kind in kinds.items() if kind}
    if not names:
        return []
    fields = tuple(Field(columns=(name,), unit="words", size=1, bits=64, sample=1) for name in names)
    tables = IndexTables(new_record(replace(asked, fields=fields), source.primary_key))
    columns = sample(connection, backend, tables, LOOKED_AT)
    return guess(dict(zip(names, columns, strict=True)), stated)


def stated_kind(text: str) -> str:
    """Of a kind that the user names; roles may stand for it: given, surname."""
    text = {GIVEN: "name", SURNAME: "name", "given": "name"}.get(text, text)
    try:
        return kind_of(text).full_name
    except ValueError as error:
        raise InvalidOption(f"there is no kind of field {text!r}{suggest(text, kind_names())}") from error


def _field(column: str, kind: str | None, bits: int) -> Field:
    assert kind is not None
    found = kind_of(kind)
    return Field(columns=(column,), normaliser=found.normaliser, unit=found.unit, size=found.size, bits=bits, sample=1)


def _shaped(field: Field, asked: Field) -> Field:
    """With the filter that was asked for; all of one shape, so that crossed names can be compared."""
    if not asked.filter:
        return replace(field, fold=asked.fold, bits=field.bits or BITS)
    size = field.size if field.unit == "characters" else DIGRAMS
    return parted_for(replace(field, filter=asked.filter), USUAL_LENGTH, size)


def shown(guesses: Sequence[Guess]) -> list[str]:
    """A line a column, for people."""
    return [str(one) for one in guesses]

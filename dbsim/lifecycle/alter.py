"""Change options while searches go on: IndexOptions → a generation beside the current one, which `sync` builds."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, Engine

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.engines.transactions import read, write
from dbsim.errors import InvalidOption
from dbsim.lifecycle.create import find_source, resolved
from dbsim.lifecycle.records import replanned
from dbsim.lifecycle.statements import alter_statements
from dbsim.options import Field, IndexOptions
from dbsim.outside import key_of, read_secret
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Source


def alter(
    engine: Engine, backend: Backend, asked: IndexOptions, after_create_table: TableHook | None = None
) -> catalogue.IndexRecord:
    """Ask for a generation with these options; the current one's options give up a change under way."""
    source = read(engine, backend, lambda c: find_source(c, backend, asked.table, asked.schema))
    source.require(asked.columns, backend.not_text, backend.not_key)
    options = read(engine, backend, lambda c: _resolved(c, backend, asked, source))

    def work(connection: Connection) -> catalogue.IndexRecord:
        backend.change(connection, asked.name)
        catalogue.load(connection, asked.name)
        found = catalogue.generations(connection, asked.name, lock=True)
        found = _moved(connection, found, options)
        record = generation_for(found, options)
        if record in found and record.options.planned != options.planned:  # the same plan, for more rows
            record = replace(record, options=replace(record.options, planned=options.planned))
            catalogue.set_renamed(connection, [record])
        if record.options.inline:
            backend.require_inline(connection, IndexTables(record), source)
        run(connection, alter_statements(backend, record, after_create_table))
        return record

    return write(engine, backend, work)


def _resolved(connection: Connection, backend: Backend, asked: IndexOptions, source: Source) -> IndexOptions:
    """Keys of persons are planned with the secret they are made with, and again when the plan was left out."""
    if not asked.hashing.rarity:
        return resolved(connection, backend, asked, source)
    current = catalogue.load(connection, asked.name)
    options = resolved(connection, backend, replace(asked, **asdict(asked.hashing.plan(1, 1))), source)
    if options.secret_check != current.options.secret_check:
        return replanned(connection, backend, options, source, key_of(options.secret, options.secret_check))
    return options if asked.rows else replanned(connection, backend, options, source, current.secret)


def _moved(
    connection: Connection, found: list[catalogue.IndexRecord], options: IndexOptions
) -> list[catalogue.IndexRecord]:
    """The same secret in another place needs no other generation."""
    if options.secret == found[0].options.secret or options.secret_check != found[0].options.secret_check:
        return found
    mine = [record.options.secret_check == options.secret_check for record in found]
    moved = [
        replace(record, options=replace(record.options, secret=options.secret)) if same else record
        for record, same in zip(found, mine, strict=True)
    ]
    catalogue.set_renamed(connection, moved)
    return moved


def rotated(current: IndexOptions, place: str) -> dict[str, Any]:
    """Options for a secret in this place."""
    check = read_secret(place).check
    if place == current.secret and check != current.secret_check:
        raise InvalidOption(
            f"the secret in {place} is not the one that index {current.name!r} was made with: put the old one back and "
            "name another place for the new one, because both are needed until it is searched"
        )
    return {"secret": place, "secret_check": check}


def generation_for(
    found: list[catalogue.IndexRecord], options: IndexOptions, number: int | None = None
) -> catalogue.IndexRecord:
    """The generation with these options, or a new one, by default numbered after the others."""
    current = found[0]
    for name in ("table", "schema", "triggers"):
        if getattr(options, name) != getattr(current.options, name):
            raise InvalidOption(
                f"the {name} of index {current.name!r} is {getattr(current.options, name)!r} and cannot be changed to "
                f"{getattr(options, name)!r}: create another index"
            )
    options = replace(options, inline=current.options.inline)  # which is a property of the index
    for record in found:
        if replace(record.options, inline=options.inline) == options:
            return record
    taken = {record.generation for record in found}
    if number is None or number in taken:
        number = max(taken) + 1
    return replace(current, options=options, generation=number, state=catalogue.FILLING)


def changed(current: IndexOptions, given: dict[str, Any], common: dict[str, Any], replan: bool = False) -> IndexOptions:
    """`current` with the options the user named; `common` ones apply to every field."""
    options = replace(current, **given)
    if replan and given.keys() & {"rows", "keys"}:
        raise InvalidOption("rows and keys are what is planned again: leave out replan, or them")
    follows = {"family"} if current.hashing.rarity else {"threshold", "recall", "family"}
    if not given.get("keys") and (replan or given.keys() & follows):
        options = replace(options, rows=0, keys=0)  # to follow from threshold and recall anew
    if common and "fields" not in given:
        options = replace(options, fields=tuple(_changed(field, common) for field in options.fields))
    return options


def _changed(field: Field, common: dict[str, Any]) -> Field:
    """What follows from an option is chosen again: the filter's length from the unit, sampling from the length."""
    follow = ["bits", "sample"] if common.keys() & {"unit", "size", "normaliser"} else ["sample"]
    if "false_drops" in common:
        follow += ["word_bits", "word_marks"]
    values: dict[str, Any] = dict.fromkeys(follow, 0) | common
    if "filter" in common:
        values = dict.fromkeys(("bits", "size"), 0) | values
    elif field.parted:  # its shape follows from what is changed
        values = {"filter": str(field.parted.asked()), "bits": 0} | values
    return replace(field, **values)

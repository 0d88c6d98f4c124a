"""Follow a table that has other names or a wider key now: IndexRecord → the same index under the new names.

Options and stored columns change, no row is signed again: the texts are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, Table

from dbsim.engines.backend import Backend
from dbsim.engines.execute import run
from dbsim.errors import StatementRejected, UnknownName
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.create import find_source, show
from dbsim.lifecycle.fit import wider
from dbsim.lifecycle.statements import drop_group_views
from dbsim.lifecycle.words import slices
from dbsim.options import IndexOptions
from dbsim.tables import catalogue
from dbsim.tables.catalogue import IndexRecord
from dbsim.tables.decision_tables import DecisionTables
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote
from dbsim.tables.slice_tables import SliceTables
from dbsim.tables.source import PrimaryKey

LOCK_WAIT = "500ms"  # how long readers of dbsim's tables may queue behind the change; then it is tried again
ASIDE = "dbsim_renamed_{}"


@dataclass(frozen=True, kw_only=True)
class Renames:
    """What has another name now: columns by their old names; the table, if it has."""

    columns: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None
    schema: str | None = None

    def options(self, options: IndexOptions) -> IndexOptions:
        fields = tuple(
            replace(one, columns=tuple(self.columns.get(name, name) for name in one.columns)) for one in options.fields
        )
        options = replace(options, fields=fields)
        return options if self.table is None else replace(options, table=self.table, schema=self.schema)

    def key(self, key: PrimaryKey) -> PrimaryKey:
        return tuple((self.columns.get(name, name), type_) for name, type_ in key)


def rename(connection: Connection, backend: Backend, name: str, renames: Renames) -> bool:
    """In the caller's transaction; False when the index has these names and types already."""
    backend.limit_lock_wait(connection, LOCK_WAIT)
    found = catalogue.generations(connection, name, lock=True)
    if not found:
        raise catalogue.unknown(connection, name)
    new = _renamed(connection, backend, found, renames)
    if new == found:
        return False
    before, after = (_tables(connection, backend, records) for records in (found, new))
    roles = backend.granted(connection, IndexTables(found[0]))
    run(connection, [*drop_group_views(name), *backend.drop_surface(name)])
    for old, made in zip(before, after, strict=True):
        run(connection, _statements(backend, old, made))
    catalogue.set_renamed(connection, new)
    _show(connection, backend, IndexTables(catalogue.load(connection, name)), roles)
    return True


def _renamed(connection: Connection, backend: Backend, found: list[IndexRecord], renames: Renames) -> list[IndexRecord]:
    """Every generation under the new names; the key's types are the table's own."""
    options = renames.options(found[0].options)
    source = find_source(connection, backend, options.table, options.schema)
    source.require(options.columns, backend.not_text, backend.not_key)
    key = renames.key(found[0].primary_key)
    if [name for name, _ in key] != [name for name, _ in source.primary_key]:
        there = ", ".join(name for name, _ in source.primary_key)
        raise StatementRejected(f"the primary key of {options.table!r} is {there}: name every renamed column")
    if backend.typed_keys:
        if not all(wider(was, now) for (_, was), (_, now) in zip(key, source.primary_key, strict=True)):
            raise StatementRejected(
                f"the primary key of {options.table!r} is of another type now: drop the index and create it again"
            )
        key = source.primary_key
    schema = source.schema
    return [
        replace(record, options=replace(renames.options(record.options), schema=schema), primary_key=key)
        for record in found
    ]


def _tables(connection: Connection, backend: Backend, records: list[IndexRecord]) -> list[Table]:
    """Everything that has key columns or is named after fields."""
    first = IndexTables(records[0])
    found = [backend.stored_table(IndexTables(record)) for record in records]
    for tables in map(IndexTables, records):
        if slices.exist(connection, backend, tables):
            found += [SliceTables.of(tables).places, SliceTables.of(tables).tail]
    found += [first.queue, DecisionTables.of(first).decisions]
    groups = GroupTables(first)
    stored = stored_groups.exist(connection, backend, groups)
    return [*found, groups.contents, groups.apart, groups.respected] if stored else found


def _statements(backend: Backend, old: Table, new: Table) -> Iterator[str]:
    """A column that gets the name which another has, or had in other letters, is moved aside first."""
    pairs = list(zip(old.columns, new.columns, strict=True))
    moved = [(was.name, now.name) for was, now in pairs if was.name != now.name]
    table, taken = quote(old.name), {column.name.lower() for column in old.columns}
    aside = {now: ASIDE.format(number) for number, (_, now) in enumerate(moved) if now.lower() in taken}
    for was, now in moved:
        yield f"ALTER TABLE {table} RENAME COLUMN {quote(was)} TO {quote(aside.get(now, now))}"
    for now, name in aside.items():
        yield f"ALTER TABLE {table} RENAME COLUMN {quote(name)} TO {quote(now)}"
    for old_column, column in pairs:
        type_ = column.type.compile(dialect=backend.dialect)
        if old_column.type.compile(dialect=backend.dialect) != type_:
            yield f"ALTER TABLE {table} ALTER COLUMN {quote(column.name)} TYPE {type_}"


def _show(connection: Connection, backend: Backend, tables: IndexTables, roles: dict[str, bool]) -> None:
    groups = GroupTables(tables)
    if stored_groups.exist(connection, backend, groups):
        stored_groups.show(connection, backend, groups)
    show(connection, backend, tables)
    backend.grant_again(connection, tables, roles)
    if tables.record.options.triggers:
        run(connection, backend.create_triggers(tables, connection))


def renames_of(options: IndexOptions, key: PrimaryKey, given: Mapping[str, str]) -> Renames:
    """{"body": "content", "articles": "posts"}: a column that the index reads, or its table ([schema.]table)."""
    columns, table = {}, None
    known = {*options.columns, *(name for name, _ in key)}
    full = options.table if options.schema is None else f"{options.schema}.{options.table}"
    for old, new in given.items():
        if old in known:
            columns[old] = new
        elif old in (options.table, full):
            table = new
        elif new not in known and new not in (options.table, full):  # neither the old name nor known already
            raise UnknownName(f"table or column of index {options.name!r} named", old, [*known, full])
    if table is None:
        return Renames(columns=columns)
    schema, _, plain = table.rpartition(".")
    return Renames(columns=columns, table=plain, schema=schema or options.schema)

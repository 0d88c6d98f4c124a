"""Does the host's table still fit the index, and what is to be done if not: Source → one sentence or None."""

from __future__ import annotations

import difflib
import re
import shlex
from itertools import islice

from sqlalchemy import Connection

from dbsim.engines.backend import Backend
from dbsim.engines.urls import shown
from dbsim.errors import StatementRejected
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Source

LOOKED_AT = 300  # tables among which a renamed one is sought
WIDER = {  # a key of the left type keeps its values in those on the right
    "smallint": ("integer", "bigint", "numeric"),
    "integer": ("bigint", "numeric"),
    "bigint": ("numeric",),
}
TEXT = re.compile(r"^character varying\((\d+)\)$")


def source_problem(connection: Connection, backend: Backend, tables: IndexTables, source: Source | None) -> str | None:
    """How the host's table has changed so that the index can no longer follow it."""
    options = tables.record.options
    if source is None:
        return f"the table is gone: {_renamed_table(connection, backend, tables)}"
    gone = [name for name in dict.fromkeys((*tables.key_names, *options.columns)) if name not in source.columns]
    if gone:
        return f"column {', '.join(map(repr, gone))} is gone: {_renamed_columns(connection, tables, source)}"
    for name in options.columns:
        if source.columns[name].lower() in backend.not_text:
            return f"column {name!r} is of type {source.columns[name]} now, which holds no text: change it back"
    return _key_problem(backend, tables, source)


def _key_problem(backend: Backend, tables: IndexTables, source: Source) -> str | None:
    key = tables.record.primary_key
    same_names = [name for name, _ in source.primary_key] == tables.key_names
    if same_names and (not backend.typed_keys or all(map(_fits, key, source.primary_key))):
        return None
    now, before = (", ".join(" ".join(part).strip() for part in parts) for parts in (source.primary_key, key))
    return f"the primary key was {before} and is now {now}: drop the index and create it again"


def _fits(old: tuple[str, str], new: tuple[str, str]) -> bool:
    return wider(old[1], new[1])


def wider(old: str, new: str) -> bool:
    """Whether every value of the one type is the same value of the other; `sync` follows such a change."""
    old, new = old.lower(), new.lower()
    if old == new or new.split("(")[0] in WIDER.get(old, ()):
        return True
    short, long = TEXT.match(old), TEXT.match(new)
    return short is not None and (
        new in ("text", "character varying") or (long is not None and int(long[1]) >= int(short[1]))
    )


def widened(connection: Connection, backend: Backend, tables: IndexTables) -> bool:
    """Whether the key has a type now that holds the same values and more: dbsim's own tables follow.

    A table that does not fit in any other way is refused.
    """
    options = tables.record.options
    source = backend.describe(connection, options.table, options.schema)
    if (problem := source_problem(connection, backend, tables, source)) is not None:
        raise StatementRejected(f"index {options.name!r} cannot follow table {options.table!r}: {problem}")
    return source is not None and backend.typed_keys and source.primary_key != tables.record.primary_key


# ── what it is called now ──
def _renamed_table(connection: Connection, backend: Backend, tables: IndexTables) -> str:
    options, wanted = tables.record.options, {*tables.key_names, *tables.record.options.columns}
    alike = []
    names = (name for name in backend.table_names(connection) if not name.startswith(("dbsim_", "sqlite_")))
    for name in islice(names, LOOKED_AT):
        schema, _, table = name.rpartition(".")
        source = backend.describe(connection, table, schema or None)
        if source is not None and wanted <= set(source.columns):
            alike.append(name)
    old = options.table if options.schema is None else f"{options.schema}.{options.table}"
    return _remedy(connection, options.name, {old: _only(alike, options.table)})


def _renamed_columns(connection: Connection, tables: IndexTables, source: Source) -> str:
    """A part of the key is found by its place; a column of text by its name, if it is the only one that is new."""
    found: dict[str, str | None] = {}
    for place, name in enumerate(tables.key_names):
        if name not in source.columns:
            found[name] = source.primary_key[place][0] if place < len(source.primary_key) else None
    free = [
        name
        for name, type_ in source.columns.items()
        if name not in (*tables.key_names, *tables.record.options.columns, *found.values())
        and type_.lower().startswith(("text", "char", "varchar", "nvarchar", "clob", "citext"))
    ]
    for name in tables.record.options.columns:
        if name not in source.columns and name not in found:
            found[name] = _only(free, name)
    return _remedy(connection, tables.record.name, found)


def _only(candidates: list[str], name: str) -> str | None:
    if len(candidates) == 1:
        return candidates[0]
    close = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    return close[0] if close else None


def _remedy(connection: Connection, index: str, renames: dict[str, str | None]) -> str:
    """The command, complete where the new names are known."""
    words = ["dbsim", "alter", shown(connection.engine), index]
    for old, new in renames.items():
        words += ["--rename", f"{old}={new or 'NEW'}"]
    return f"if it was renamed, run `{shlex.join(words)}`, otherwise rename it back or drop the index"

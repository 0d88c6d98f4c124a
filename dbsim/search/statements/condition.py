"""A condition of the user's on the source row: SQL text or expression → EXISTS in its own scope."""

from __future__ import annotations

from itertools import chain
from typing import Any

from sqlalchemy import Alias, Boolean, ColumnElement, FromClause, TableClause, exists, literal_column, select
from sqlalchemy.sql.visitors import iterate

from dbsim.errors import InvalidOption
from dbsim.search.limits import Condition
from dbsim.tables.index_tables import IndexTables


def fulfils(tables: IndexTables, where: Condition) -> ColumnElement[bool]:
    """The user's condition on the source row, in its own scope."""
    stored = tables.signatures
    # on lines of its own, so that a comment ends; not text(), which would take a colon for a parameter
    condition: Any = literal_column(f"(\n{where}\n)", Boolean) if isinstance(where, str) else where
    source = _mentioned(tables, condition)
    same_row = [_column(source, name) == stored.c[name] for name in tables.key_names]
    return exists(select(literal_column("1")).select_from(source).where(*same_row, condition).correlate(stored))


def _mentioned(tables: IndexTables, condition: ColumnElement[bool]) -> FromClause:
    """The table as the condition names it: beside another object for the same table it would mean any row."""
    outside = select(literal_column("1")).where(condition).get_final_froms()
    if any(not _is_source(tables.source, found) for found in outside) or len(outside) > 1:
        raise InvalidOption(
            f"where= may use only columns of table {tables.record.options.table!r}: put other tables into a subquery"
        )
    inside = (
        found for found in iterate(condition) if isinstance(found, TableClause) and _is_source(tables.source, found)
    )
    return next(chain(outside, inside), tables.source)


def _is_source(source: TableClause, found: FromClause) -> bool:
    table = found.element if isinstance(found, Alias) else found
    return (
        isinstance(table, TableClause)
        and table.name.lower() == source.name.lower()
        and table.schema in (None, source.schema)
    )


def _column(table: FromClause, name: str) -> ColumnElement[Any]:
    """By its name in the database, which an application may call otherwise."""
    for column in table.columns:
        if column.name == name:
            return column
    raise InvalidOption(f"where= uses a table object without the key column {name!r}: add that column to it")

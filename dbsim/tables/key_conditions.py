"""Conditions on a table's primary key, simple or composite: columns, keys → SQL expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Table, bindparam, tuple_

from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key

LISTED = "dbsim_listed"  # the parameter of `listed`
SURROGATE = re.compile("[\ud800-\udfff]")


def key_columns(table: Table, tables: IndexTables) -> list[ColumnElement[Any]]:
    return [table.c[name] for name in tables.key_names]


def among(columns: Sequence[ColumnElement[Any]], keys: Sequence[Key]) -> ColumnElement[bool]:
    """primary key IN (…)"""
    # a parameter with a name of its own: SQLAlchemy would make one from the column's, which may contain a bracket
    if len(columns) == 1:
        values = [key[0] for key in keys]
        return columns[0].in_(bindparam("dbsim_keys", values, columns[0].type, unique=True, expanding=True))
    return tuple_(*columns).in_(bindparam("dbsim_keys", keys, unique=True, expanding=True))


def listed(columns: Sequence[ColumnElement[Any]], name: str = LISTED) -> ColumnElement[bool]:
    """The same, of keys that are given when the statement is executed: so it can be made once."""
    if len(columns) == 1:
        return columns[0].in_(bindparam(name, type_=columns[0].type, expanding=True))
    return tuple_(*columns).in_(bindparam(name, expanding=True))


def listing(keys: Sequence[Key], name: str = LISTED) -> dict[str, list[Any]]:
    """The keys of such a statement."""
    return {name: [key[0] if len(key) == 1 else key for key in keys]}


def after(columns: Sequence[ColumnElement[Any]], key: Key) -> ColumnElement[bool]:
    """primary key > key"""
    return columns[0] > _value(columns[0], key[0]) if len(columns) == 1 else tuple_(*columns) > key


def up_to(columns: Sequence[ColumnElement[Any]], key: Key) -> ColumnElement[bool]:
    """primary key ≤ key"""
    return columns[0] <= _value(columns[0], key[0]) if len(columns) == 1 else tuple_(*columns) <= key


def _value(column: ColumnElement[Any], value: Any) -> BindParameter[Any]:
    """As a parameter, also a boolean, which SQLAlchemy would not compare by size."""
    return bindparam("dbsim_key", value, column.type, unique=True)


def chunks(keys: Iterable[Key], size: int) -> list[list[Key]]:
    """Distinct keys in pieces; a row without a complete key, or one that is no text, cannot be looked up: left out."""
    distinct = [key for key in dict.fromkeys(keys) if None not in key and sendable(key)]
    return [distinct[start : start + size] for start in range(0, len(distinct), size)]


def sendable(key: Key) -> bool:
    """Whether a driver takes it: bytes that were no UTF-8 when they were read are lone surrogates."""
    return not any(isinstance(part, str) and not part.isascii() and SURROGATE.search(part) for part in key)

"""A primary key as the caller has it, such as a UUID, as the table has it: keys → keys."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product

from sqlalchemy import Connection, select

from dbsim.engines.backend import Backend
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_conditions import among, key_columns
from dbsim.tables.source import Key

MOST_FORMS = 64  # of a key of several parts, each of which may be written in several ways


def stored_keys(connection: Connection, backend: Backend, tables: IndexTables, keys: Sequence[Key]) -> list[Key]:
    return [stored_key(connection, backend, tables, key) for key in keys]


def stored_key(connection: Connection, backend: Backend, tables: IndexTables, key: Key) -> Key:
    """The form in which the table, or else the index, has this key; the usual one when neither has it."""
    types = (declared for _, declared in tables.record.primary_key)
    parts = [backend.key_forms(connection, part, type_) for part, type_ in zip(key, types, strict=True)]
    forms = [tuple(form) for form in islice(product(*parts), MOST_FORMS)]
    if len(forms) == 1:
        return forms[0]
    for table in (tables.source, tables.signatures):
        columns = key_columns(table, tables)
        row = connection.execute(select(*columns).where(among(columns, forms)).limit(1)).first()
        if row is not None:
            return tuple(row)
    return forms[0]

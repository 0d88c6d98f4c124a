"""Keep `alembic revision --autogenerate` away from dbsim's objects: (name, type, parents) → compare it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from alembic import context
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect

from dbsim.engines.registry import CLASSES, backend_named
from dbsim.tables import catalogue
from dbsim.tables.names import LIMIT
from dbsim.tables.versions import VERSION_TABLE, v0002

NameFilter = Callable[[str | None, Any, Mapping[str, Any]], bool]
SHARED = {
    "dbsim_status",
    *v0002.TABLES,
    *(name for dialect in CLASSES for name in backend_named(dialect).shared_names()),
}
OWN = {*catalogue.metadata.tables, VERSION_TABLE, *SHARED}
CUT = LIMIT - 9  # bytes of a long name that stay in front of its hash
_indexes: WeakKeyDictionary[MigrationContext, list[str] | None] = WeakKeyDictionary()


def include_name(name: str | None, type_: str, parent_names: Mapping[str, Any]) -> bool:
    """For context.configure(include_name=…): False for dbsim's tables, views, functions and triggers.

    Where Alembic is connected the catalogue tells dbsim's objects from a table of yours that is called dbsim_…;
    elsewhere the name's beginning decides. alembic_utils asks the same filter about its entities.
    """
    if name is None or type_ in ("schema", "column", "index", "unique_constraint", "foreign_key_constraint"):
        return True
    plain = name.rpartition(".")[2].partition("(")[0].strip('"')  # alembic_utils: schema.name(arguments)
    return not (plain.startswith("dbsim_") and belongs(plain, _known_indexes()))


def including(own: NameFilter) -> NameFilter:
    """Your own filter and dbsim's: context.configure(include_name=dbsim.migrate.including(mine))."""

    def both(name: str | None, type_: Any, parent_names: Mapping[str, Any]) -> bool:
        return bool(own(name, type_, parent_names)) and include_name(name, type_, parent_names)

    return both


def belongs(name: str, indexes: list[str] | None) -> bool:
    """Whether an object called dbsim_… is dbsim's; `indexes` None when they are not known."""
    return indexes is None or name in OWN or any(_of_index(name, f"dbsim_{index}") for index in indexes)


def _of_index(name: str, base: str) -> bool:
    """dbsim_articles, dbsim_articles_queue, …; of a name that had to be cut the beginning is left."""
    cut = base.encode()[:CUT].decode(errors="ignore")
    return (
        name == base
        or name.startswith(f"{base}_")
        or (len(name.encode()) >= CUT and name.startswith(cut) and cut != base)
    )


def _known_indexes() -> list[str] | None:
    try:
        current = context.get_context()
    except (NameError, AttributeError):  # not inside env.py
        return None
    if current.connection is None or current.as_sql:
        return None
    if current not in _indexes:
        _indexes[current] = _names(current.connection)
    return _indexes[current]


def _names(connection: Connection) -> list[str]:
    return catalogue.names(connection) if inspect(connection).has_table("dbsim_index") else []

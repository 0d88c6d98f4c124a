"""SQLAlchemy's expressions as text for views and functions of PostgreSQL, and names that are still free."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.dialects.postgresql.base import PGDialect

from dbsim.tables.names import identifier

DIALECT = PGDialect(paramstyle="named")  # type: ignore[no-untyped-call]


def rendered(value: ColumnElement[Any]) -> str:
    return str(value.compile(dialect=DIALECT, compile_kwargs={"literal_binds": True}))


def free(name: str, taken: set[str]) -> str:
    """With as many underscores at its end as it takes."""
    while identifier(name) in taken:
        name += "_"
    return identifier(name)

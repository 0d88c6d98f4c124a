"""SQLAlchemy's expressions as text for views and functions of PostgreSQL, and names that are still free."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.dialects.postgresql.base import PGDialect

from dbsim.engines.views import joined_text
from dbsim.options import Field
from dbsim.tables.names import identifier, quote

DIALECT = PGDialect(paramstyle="named")  # type: ignore[no-untyped-call]


def rendered(value: ColumnElement[Any]) -> str:
    return str(value.compile(dialect=DIALECT, compile_kwargs={"literal_binds": True}))


def free(name: str, taken: set[str]) -> str:
    """With as many underscores at its end as it takes."""
    while identifier(name) in taken:
        name += "_"
    return identifier(name)


def source_text(field: Field, alias: str) -> str:
    return joined_text([f"coalesce({alias}.{quote(column)}::text, '')" for column in field.columns])


def double(value: float) -> str:
    return f"{value!r}::float8"

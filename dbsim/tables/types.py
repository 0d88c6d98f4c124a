"""Column types of dbsim's own tables that are written differently on the two engines."""

from __future__ import annotations

from typing import Any

from sqlalchemy import TIMESTAMP, BigInteger, Integer, LargeBinary, Text
from sqlalchemy.dialects.postgresql import BIT
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ColumnElement
from sqlalchemy.types import TypeEngine


def row_number() -> TypeEngine[Any]:
    """64 bits; on SQLite INTEGER, because only that makes a column the row's own number."""
    return BigInteger().with_variant(Integer(), "sqlite")


def filter_bits(bits: int) -> TypeEngine[Any]:
    """A Bloom filter: bit(n), which PostgreSQL can count; a BLOB on SQLite."""
    return LargeBinary().with_variant(BIT(bits), "postgresql")


def moment() -> TypeEngine[Any]:
    """A time with its zone; SQLite has text."""
    return Text().with_variant(TIMESTAMP(timezone=True), "postgresql")


class writer(ColumnElement[str]):
    """Who writes the row: the role on PostgreSQL; SQLite knows nobody."""

    inherit_cache = True


@compiles(writer)
def _role(element: writer, compiler: Any, **_: Any) -> str:
    return "CURRENT_USER"


@compiles(writer, "sqlite")
def _nobody(element: writer, compiler: Any, **_: Any) -> str:
    return "''"

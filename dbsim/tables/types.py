"""Column types of dbsim's own tables that are written differently on the two engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import TIMESTAMP, BigInteger, Dialect, Integer, LargeBinary, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ColumnElement
from sqlalchemy.types import TypeEngine, UserDefinedType


class PostgreSQLBits(UserDefinedType[Any]):
    """bit(n); a parameter is written as X and hexadecimal digits, whatever the driver and SQLAlchemy's own BIT want."""

    cache_ok = True
    render_bind_cast = True

    def __init__(self, length: int) -> None:
        self.length = length

    def get_col_spec(self, **_: object) -> str:
        return f"BIT({self.length})"

    def bind_processor(self, dialect: Dialect) -> Callable[[str | None], Any] | None:
        if dialect.driver != "asyncpg":
            return None
        make = dialect.dbapi.asyncpg.BitString.frombytes  # type: ignore[union-attr]
        return lambda value: None if value is None else make(bytes.fromhex(value[1:]))


class PostgreSQLManyBits(PostgreSQLBits):
    """bit varying."""

    cache_ok = True

    def __init__(self) -> None:
        super().__init__(0)

    def get_col_spec(self, **_: object) -> str:
        return "BIT VARYING"


def row_number() -> TypeEngine[Any]:
    """64 bits; on SQLite INTEGER, because only that makes a column the row's own number."""
    return BigInteger().with_variant(Integer(), "sqlite")


def filter_bits(bits: int) -> TypeEngine[Any]:
    """A Bloom filter: bit(n), which PostgreSQL can count; a BLOB on SQLite."""
    return LargeBinary().with_variant(PostgreSQLBits(bits), "postgresql")


def many_bits() -> TypeEngine[Any]:
    """As many bits as there are, which PostgreSQL can AND; a BLOB on SQLite."""
    return LargeBinary().with_variant(PostgreSQLManyBits(), "postgresql")


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


def placed(tablespace: str) -> dict[str, Any]:
    """What an index's definition takes to lie in a tablespace; '' for none."""
    return {"postgresql_tablespace": tablespace or None}

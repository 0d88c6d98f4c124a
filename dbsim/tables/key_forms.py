"""How applications store the key objects that an ORM hands out: one value → the forms it may have in the database."""

from __future__ import annotations

import enum
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

PLAIN = (int, float, str, bytes, type(None))  # what every driver takes as it is


def unwrapped(value: Any) -> Any:
    """A number of numpy's, or a buffer, as Python's own."""
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def sqlite_forms(value: Any, declared: str) -> tuple[Any, ...]:
    """SQLite has no such types, so each ORM writes its own: SQLAlchemy, Django and the driver first, then the rest."""
    value = unwrapped(value)
    if isinstance(value, enum.Enum):
        return (value.name, *sqlite_forms(value.value, declared))
    if isinstance(value, PLAIN):
        return (value,)
    if isinstance(value, UUID):
        # in a column of integers SQLite would take digits for a number
        return (value.bytes,) if "INT" in declared.upper() else (value.hex, str(value), value.bytes)
    if isinstance(value, datetime):
        texts = [value.isoformat(between, spec) for between in (" ", "T") for spec in ("auto", "microseconds")]
        return tuple(dict.fromkeys(texts))
    if isinstance(value, time):
        return tuple(dict.fromkeys((value.isoformat("microseconds"), value.isoformat())))
    if isinstance(value, date):
        return (value.isoformat(),)
    if isinstance(value, Decimal):
        whole = (int(value),) if value == value.to_integral_value() else ()
        return (*whole, float(value), str(value))
    return (value,)


def postgresql_forms(value: Any, declared: str, driver: str) -> tuple[Any, ...]:
    """Drivers know PostgreSQL's types; psycopg2 is not told of uuid unless the application does."""
    value = unwrapped(value)
    if isinstance(value, UUID) and declared.startswith(("char", "text")):
        return (str(value), value.hex)
    if isinstance(value, UUID) and declared == "bytea":
        return (value.bytes,)
    return (str(value),) if driver == "psycopg2" and isinstance(value, UUID) else (value,)

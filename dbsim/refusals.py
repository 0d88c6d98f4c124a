"""What the drivers raise when a database refuses, past SQLAlchemy too (COPY): error → one sentence without row values.

Nothing is imported here: a driver that is not loaded has raised nothing.
"""

from __future__ import annotations

import re
import sys
from typing import Any

BASES = {
    "sqlalchemy.exc": "SQLAlchemyError",
    "psycopg": "Error",
    "psycopg2": "Error",
    "sqlite3": "Error",
    "asyncpg": "PostgresError",
}
VALUE = re.compile(r'".*"|(?<=with text ).*|\b0x[0-9a-fA-F]+(?: 0x[0-9a-fA-F]+)*', re.DOTALL)
DATA_EXCEPTION = "22"  # the class of PostgreSQL's codes whose messages quote the value that does not fit


def driver_errors() -> tuple[type[Exception], ...]:
    """The bases of all errors of SQLAlchemy and of the drivers that are loaded."""
    return tuple(getattr(sys.modules[name], base) for name, base in BASES.items() if name in sys.modules)


def refusal(error: BaseException) -> str:
    """The server's own first line; what follows it (DETAIL, CONTEXT, parameters) holds values of rows."""
    original: Any = getattr(error, "orig", None) or error
    state = getattr(original, "sqlstate", None) or getattr(original, "pgcode", None) or ""
    first = without_values(str(state), (str(original).strip().splitlines() or [type(original).__name__])[0])
    raised_by_sqlalchemy = original is error and type(error).__module__.startswith("sqlalchemy")
    return f"the database cannot be used: {first}" if raised_by_sqlalchemy else f"the database refuses: {first}"


def without_values(state: str, line: str) -> str:
    """A message as it may be shown to people and logs, given its SQLSTATE."""
    quotes_values = state.startswith(DATA_EXCEPTION) or "with text " in line
    return VALUE.sub("…", line) if quotes_values else line

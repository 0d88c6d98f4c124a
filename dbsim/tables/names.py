"""Names of dbsim's tables, columns and triggers: parts → identifier of at most 63 bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from sqlalchemy import ClauseElement, Dialect

LIMIT = 63  # PostgreSQL cuts longer names silently, and two names cut to the same one collide


@lru_cache(4096)
def identifier(*parts: str) -> str:
    """The parts joined by underscores; when too long, cut and completed by a hash of the whole."""
    name = "_".join(parts)
    encoded = name.encode("utf-8", "surrogatepass")
    if len(encoded) <= LIMIT:
        return name
    suffix = "_" + hashlib.sha256(encoded).hexdigest()[:8]
    return encoded[: LIMIT - len(suffix)].decode("utf-8", "ignore") + suffix


def quote(*names: str | None) -> str:
    """A quoted, qualified SQL name."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names if name)


def literal(text: str) -> str:
    """A SQL string."""
    return "'" + text.replace("'", "''") + "'"


def dollar_tag(parts: Iterable[str]) -> str:
    """A quotation mark for a function's body ($dbsim$) that none of these parts contains."""
    tag, body = "$dbsim$", "\n".join(parts)
    while tag in body:
        tag = tag[:-1] + "_$"
    return tag


def dollar_quoted(text: str) -> str:
    """A PostgreSQL string that needs no escapes."""
    tag = dollar_tag([text])
    return f"{tag}\n{text.strip()}\n{tag}"


def raw_sql(query: ClauseElement, dialect: Dialect) -> str:
    """A statement as the database reads it, values written out: percent signs are doubled only for the driver."""
    compiled = query.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    doubled = dialect.paramstyle in ("format", "pyformat")
    return str(compiled).replace("%%", "%") if doubled else str(compiled)

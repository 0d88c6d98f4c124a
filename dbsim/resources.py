"""Find the SQL files and the migrations, in the wheel (dbsim/sql) or in a checkout (../sql)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


def folder(name: str) -> Path:
    """`sql` or `migrations`."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


@cache
def sql(dialect: str, name: str) -> str:
    """The text of sql/<dialect>/<name>.sql."""
    return (folder("sql") / dialect / f"{name}.sql").read_text(encoding="utf-8")


@cache
def sql_names(dialect: str, under: str) -> tuple[str, ...]:
    """The names of the files in sql/<dialect>/<under>."""
    return tuple(sorted(f"{under}/{path.stem}" for path in (folder("sql") / dialect / under).glob("*.sql")))


def filled(text: str, names: Mapping[str, object]) -> str:
    """{name} replaced where it is a known name; other braces, as in {2} of a regular expression, stay."""
    return re.sub(r"\{(\w+)\}", lambda found: str(names.get(found[1], found[0])), text)

"""Find the SQL files and the migrations, in the wheel (dbsim/sql) or in a checkout (../sql)."""

from __future__ import annotations

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

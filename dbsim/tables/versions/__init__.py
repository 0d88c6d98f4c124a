"""The history of dbsim's own tables: one module per version, functions of Alembic's `op`, online and offline."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, delete, insert, inspect

from dbsim.errors import InvalidOption
from dbsim.tables.versions import v0001, v0002, v0003

if TYPE_CHECKING:
    from alembic.operations import Operations  # half a second: only migrations need it

VERSIONS: dict[str, ModuleType] = {"0001": v0001, "0002": v0002, "0003": v0003}
VERSION_TABLE = "dbsim_version"
BASE = "base"

_COLUMN = "version_num"
_table = Table(VERSION_TABLE, MetaData(), Column(_COLUMN, String(32), primary_key=True))


def current() -> str:
    """The version this code needs."""
    return max(VERSIONS)


def found(op: Operations) -> str:
    """The version in the database; "base" without dbsim's tables."""
    connection = op.get_bind()
    if not inspect(connection).has_table(VERSION_TABLE):
        return BASE
    return connection.execute(_table.select()).scalar() or BASE


def upgrade(op: Operations, since: str, to: str) -> None:
    """All steps above `since` up to `to`."""
    require(since, to)
    for number in between(since, to):
        if number == min(VERSIONS):
            # the constraint's name is the one Alembic gives, because migrations/ may have made the table
            primary_key = PrimaryKeyConstraint(_COLUMN, name=f"{VERSION_TABLE}_pkc")
            op.create_table(VERSION_TABLE, Column(_COLUMN, String(32), nullable=False), primary_key, if_not_exists=True)
        VERSIONS[number].upgrade(op)
        _record(op, number)


def downgrade(op: Operations, since: str, to: str, documents: bool = False) -> None:
    """All steps from `since` down to above `to`; imported documents stay unless it is said that they may go."""
    require(since, to)
    for number in reversed(between(to, since)):
        if number == min(VERSIONS):
            v0001.downgrade(op, documents)
        else:
            VERSIONS[number].downgrade(op)
        lower = [other for other in VERSIONS if other < number]
        if lower:
            _record(op, max(lower))
        else:
            op.drop_table(VERSION_TABLE)


def between(low: str, high: str) -> list[str]:
    """Versions above `low`, up to `high`."""
    return [number for number in sorted(VERSIONS) if (low == BASE or number > low) and high != BASE and number <= high]


def _record(op: Operations, number: str) -> None:
    op.execute(delete(_table))
    op.execute(insert(_table).values({_COLUMN: op.inline_literal(number)}))


def require(*versions: str) -> None:
    for version in versions:
        if version != BASE and version not in VERSIONS:
            raise InvalidOption(
                f"there is no version {version!r} of dbsim's tables; this dbsim knows {', '.join(VERSIONS)}"
            )

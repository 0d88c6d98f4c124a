"""dbsim's tables from an application's own Alembic migration: functions of `op`."""

from __future__ import annotations

from alembic.operations import Operations
from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, delete, insert, inspect

from dbsim.errors import InvalidOption
from dbsim.store import schema
from dbsim.store.versions import CURRENT, VERSION_TABLE, VERSIONS

BASE = "base"
_table = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32), primary_key=True))


def upgrade(op: Operations, to: str = CURRENT, since: str | None = None) -> None:
    """Raise dbsim's tables to version `to`; offline (`--sql`) from version `since`, by default from nothing."""
    _require(to)
    for number in _between(_found(op, since), to):
        if number == min(VERSIONS):
            _create_version_table(op)
        VERSIONS[number].upgrade(op)
        _record(op, number)


def downgrade(op: Operations, to: str = BASE, since: str | None = None) -> None:
    """Lower dbsim's tables to version `to`; "base" removes them."""
    if to != BASE:
        _require(to)
    elif not op.get_context().as_sql and schema.version(op.get_bind()) is not None:
        schema.refuse_indexes(op.get_bind())
    for number in reversed(_between(to, _found(op, since or CURRENT))):
        VERSIONS[number].downgrade(op)
        lower = [other for other in VERSIONS if other < number]
        if lower:
            _record(op, max(lower))
        else:
            op.drop_table(VERSION_TABLE)


def _found(op: Operations, since: str | None) -> str:
    if op.get_context().as_sql:
        return since or BASE
    return schema.version(op.get_bind()) or BASE


def _between(low: str, high: str) -> list[str]:
    """Versions above `low`, up to `high`."""
    return [number for number in sorted(VERSIONS) if (low == BASE or number > low) and high != BASE and number <= high]


def _create_version_table(op: Operations) -> None:
    """As Alembic itself makes it; there already, but empty, after Alembic's own downgrade."""
    if op.get_context().as_sql or not inspect(op.get_bind()).has_table(VERSION_TABLE):
        key = PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc")
        op.create_table(VERSION_TABLE, Column("version_num", String(32), nullable=False), key)


def _record(op: Operations, number: str) -> None:
    op.execute(delete(_table))
    op.execute(insert(_table).values(version_num=op.inline_literal(number)))


def _require(version: str) -> None:
    if version not in VERSIONS:
        raise InvalidOption(
            f"there is no version {version!r} of dbsim's tables; this dbsim knows {', '.join(VERSIONS)}"
        )

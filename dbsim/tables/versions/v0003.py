"""Version 0003: what this version of dbsim keeps beyond 0002; one function a subject, each undone by its twin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    """Nothing yet."""


def downgrade(op: Operations) -> None:
    """Nothing yet."""

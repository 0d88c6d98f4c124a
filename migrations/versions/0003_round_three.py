"""Decisions, grants and whatever else version 0003 keeps."""

from alembic import op

from dbsim.tables.versions import v0003

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    v0003.upgrade(op)


def downgrade() -> None:
    v0003.downgrade(op)

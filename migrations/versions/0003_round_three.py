"""Decisions, grants and whatever else version 0003 keeps."""

from alembic import op

from dbsim.migrate.operations import close
from dbsim.tables.versions import v0003

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    v0003.upgrade(op)
    close(op)


def downgrade() -> None:
    v0003.downgrade(op)

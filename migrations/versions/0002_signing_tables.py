"""The tables that signing in SQL reads."""

from alembic import op

from dbsim.tables.versions import v0002

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    v0002.upgrade(op)


def downgrade() -> None:
    v0002.downgrade(op)

"""The catalogue: indexes, quarantine, documents, models, the cardinality table."""

from alembic import op

from dbsim.tables.versions import v0001

revision = "0001"
down_revision = None


def upgrade() -> None:
    v0001.upgrade(op)


def downgrade() -> None:
    v0001.downgrade(op)

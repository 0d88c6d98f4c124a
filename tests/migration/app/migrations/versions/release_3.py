"""Release 3: the same index finds pairs from 0.5."""

from alembic import op

import dbsim.migrate
from dbsim import Field, IndexOptions

revision = "release_3"
down_revision = "release_2"

KEY = {"id": "INTEGER"}
FIELD = Field(columns=("title", "body"), unit="words", size=3, bits=256)


def upgrade() -> None:
    options = IndexOptions(name="articles", table="articles", fields=(FIELD,), threshold=0.5, recall=0.95)
    dbsim.migrate.alter_index(op, options, generation=2, primary_key=KEY)


def downgrade() -> None:
    options = IndexOptions(name="articles", table="articles", fields=(FIELD,), threshold=0.7, recall=0.95)
    dbsim.migrate.alter_index(op, options, generation=1, primary_key=KEY)

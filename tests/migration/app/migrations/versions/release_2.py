"""Release 2: near-duplicate search over articles."""

from alembic import op

import dbsim.migrate
from dbsim import Field, IndexOptions

revision = "release_2"
down_revision = "release_1"


def upgrade() -> None:
    dbsim.migrate.upgrade(op, to="0003")
    dbsim.migrate.create_index(
        op,
        IndexOptions(
            name="articles",
            table="articles",
            fields=(Field(columns=("title", "body"), unit="words", size=3, bits=256),),
            threshold=0.7,
            recall=0.95,
        ),
        primary_key={"id": "INTEGER"},
    )


def downgrade() -> None:
    dbsim.migrate.drop_index(op, "articles")
    dbsim.migrate.downgrade(op, to="base")

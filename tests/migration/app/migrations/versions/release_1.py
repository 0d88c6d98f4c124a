"""Release 1: articles and comments, no dbsim."""

import sqlalchemy as sa
from alembic import op

revision = "release_1"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "articles",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("lang", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text()),
        if_not_exists=True,
    )
    op.create_table(
        "comments",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("article_id", sa.Integer(), sa.ForeignKey("articles.id"), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        if_not_exists=True,
    )
    op.create_index("ix_comments_text", "comments", ["text"], if_not_exists=True)


def downgrade() -> None:
    op.drop_table("comments", if_exists=True)
    op.drop_table("articles", if_exists=True)

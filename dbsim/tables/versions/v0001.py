"""Version 0001: dbsim_index and dbsim_generation, dbsim_quarantine, dbsim_document, dbsim_model, dbsim_cardinality.

Every step may find its work done: SQLite commits each statement that defines a table, so a killed run is half done.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    _create_catalogue(op)
    _create_contents(op)


def _create_catalogue(op: Operations) -> None:
    text, integer = sa.Text, sa.Integer
    op.create_table(
        "dbsim_index",
        sa.Column("name", text, primary_key=True),
        sa.Column("source_schema", text),
        sa.Column("source_table", text, nullable=False),
        sa.Column("primary_key", text, nullable=False),
        sa.Column("options", text, nullable=False),
        sa.Column("family", text, nullable=False),
        sa.Column("secret", text, nullable=False),
        sa.Column("unicode_version", text, nullable=False),
        sa.Column("generation", integer, nullable=False),
        sa.Column("state", text, nullable=False),
        sa.Column("stamp", text, nullable=False),
        sa.Column("wanted", integer),
        sa.Column("listening", sa.Boolean, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "dbsim_generation",
        sa.Column("index_name", text, primary_key=True),
        sa.Column("generation", integer, primary_key=True, autoincrement=False),
        sa.Column("options", text, nullable=False),
        sa.Column("family", text, nullable=False),
        sa.Column("state", text, nullable=False),
        sa.Column("retired_at", sa.BigInteger),
        if_not_exists=True,
    )
    op.create_table(
        "dbsim_quarantine",
        sa.Column("index_name", text, primary_key=True),
        sa.Column("generation", integer, primary_key=True, autoincrement=False),
        sa.Column("source_key", text, primary_key=True),
        sa.Column("reason", text, nullable=False),
        if_not_exists=True,
    )


def _create_contents(op: Operations) -> None:
    text, integer = sa.Text, sa.Integer
    op.create_table(
        "dbsim_document",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("text", text),
        sa.Column("source", text),
        if_not_exists=True,
    )
    op.create_table(
        "dbsim_model",
        sa.Column("index_name", text, primary_key=True),
        sa.Column("generation", integer, primary_key=True, autoincrement=False),
        sa.Column("name", text, primary_key=True),
        sa.Column("dtype", text, nullable=False),
        sa.Column("shape", text, nullable=False),
        sa.Column("numbers", sa.LargeBinary, nullable=False),
        sa.Column("sample", integer, nullable=False),
        sa.Column("seed", text, nullable=False),
        sa.Column("version", text, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "dbsim_cardinality",
        sa.Column("bits", integer, primary_key=True, autoincrement=False),
        sa.Column("count", integer, primary_key=True, autoincrement=False),
        sa.Column("estimate", sa.Double, nullable=False),
        if_not_exists=True,
    )


def downgrade(op: Operations) -> None:
    for table in ("cardinality", "model", "document", "quarantine", "generation", "index"):
        op.drop_table(f"dbsim_{table}", if_exists=True)

"""Version 0001: dbsim_index and dbsim_generation, dbsim_quarantine, dbsim_document, dbsim_model, dbsim_cardinality.

Every step may find its work done: SQLite commits each statement that defines a table, so a killed run is half done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.operations import Operations

DOCUMENTS = "dbsim_document"
_DROP_EMPTY = f"""DO $dbsim$ BEGIN
    IF pg_catalog.to_regclass('{DOCUMENTS}') IS NOT NULL THEN
        LOCK TABLE {DOCUMENTS};
        IF NOT EXISTS (SELECT FROM {DOCUMENTS}) THEN DROP TABLE {DOCUMENTS}; END IF;
    END IF;
END $dbsim$"""


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
        DOCUMENTS,
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


def downgrade(op: Operations, documents: bool = False) -> None:
    """`documents` says that rows somebody has imported may go; without it their table stays with them."""
    for table in ("cardinality", "model", "quarantine", "generation", "index"):
        op.drop_table(f"dbsim_{table}", if_exists=True)
    if documents:
        op.drop_table(DOCUMENTS, if_exists=True)
    elif op.get_context().dialect.name == "postgresql":
        op.execute(_DROP_EMPTY)
    elif not op.get_context().as_sql and not count_documents(op.get_bind()):  # SQLite has no IF for a script
        op.drop_table(DOCUMENTS, if_exists=True)


def count_documents(connection: sa.Connection) -> int:
    """Rows that somebody has imported."""
    if not sa.inspect(connection).has_table(DOCUMENTS):
        return 0
    return int(connection.exec_driver_sql(f"SELECT count(*) FROM {DOCUMENTS}").scalar_one())

"""Version 0002: the tables that signing in SQL reads (PostgreSQL), which the first index used to bring along.

Under 0001 they lay outside the versions, so that a database never got a new column of theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.operations import Operations

TABLES = ("dbsim_unicode", "dbsim_donor", "dbsim_constant")


def upgrade(op: Operations) -> None:
    if op.get_context().dialect.name == "postgresql":
        _create_unicode(op)
        _create_numbers(op)


def _create_unicode(op: Operations) -> None:
    """Code points first … last become prefix, then the character `shift` places on (unless NULL), then suffix.

    One that no row lists becomes a space. Text is UTF-8, or escapes of it (a backslash and three octal digits) in
    databases of other encodings.
    """
    op.create_table(
        "dbsim_unicode",
        sa.Column("profile", sa.Text(collation="C"), primary_key=True),
        sa.Column("first", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("last", sa.Integer, nullable=False),
        sa.Column("prefix", sa.Text, nullable=False),
        sa.Column("shift", sa.Integer),
        sa.Column("suffix", sa.Text, nullable=False),
        if_not_exists=True,
    )


def _create_numbers(op: Operations) -> None:
    op.create_table(  # where an empty part of a MinHash looks, in this order; parts are numbered from 1
        "dbsim_donor",
        sa.Column("positions", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("donors", sa.ARRAY(sa.Integer), nullable=False),
        if_not_exists=True,
    )
    op.create_table(  # numbers of one index: the primes of its fingerprints, the expected shares of a language, …
        "dbsim_constant",
        sa.Column("index_name", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("numbers", sa.ARRAY(sa.BigInteger), nullable=False),
        sa.Column("reals", sa.ARRAY(sa.Double), nullable=False),
        if_not_exists=True,
    )


def downgrade(op: Operations) -> None:
    """Indexes of version 0001 brought them along, so they stay while there are any."""
    if op.get_context().dialect.name == "postgresql":
        drop = f"IF NOT EXISTS (SELECT FROM dbsim_index) THEN DROP TABLE IF EXISTS {', '.join(TABLES)}; END IF"
        op.execute(f"DO $dbsim$ BEGIN {drop}; END $dbsim$")

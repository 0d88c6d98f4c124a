"""dbsim upgrade, downgrade: dbsim's own tables."""

from __future__ import annotations

import click

from dbsim.cli.common import database_argument, opened


@click.command()
@database_argument
def upgrade(db: str) -> None:
    """Create dbsim's own tables, or bring them up to date. Safe to repeat."""
    version = opened(db, create=True).upgrade()
    click.echo(f"dbsim's tables are at version {version}")


@click.command()
@database_argument
def downgrade(db: str) -> None:
    """Remove dbsim's own tables; drop the indexes first."""
    opened(db).downgrade()
    click.echo("dbsim's tables are removed")


COMMANDS = (upgrade, downgrade)

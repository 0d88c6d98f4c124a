"""dbsim upgrade, downgrade, sql, init-migration: dbsim's own tables, and the application's migrations."""

from __future__ import annotations

import sys
from typing import Any

import click

import dbsim.migrate
from dbsim.cli.common import database_argument, index_argument, opened, require_yes, then
from dbsim.cli.index_options import index_options, take_fields
from dbsim.cli.indexes import table_option
from dbsim.engines.registry import BACKENDS
from dbsim.errors import ImportedRows, InvalidOption, SchemaOutdated
from dbsim.options import IndexOptions


@click.command()
@database_argument
@click.option("--check", is_flag=True, help="Change nothing; exit code 1 when the tables are out of date.")
@click.option("--to", metavar="VERSION", help="Up to this version only.")
def upgrade(db: str, check: bool, to: str | None) -> int:
    """Create dbsim's own tables, or bring them up to date. Safe to repeat."""
    if check:
        try:
            dbsim.migrate.check(opened(db).engine)
        except SchemaOutdated as error:
            click.echo(f"dbsim: {error}", err=True)
            return 1
        click.echo("dbsim's tables are up to date")
        return 0
    click.echo(f"dbsim's tables are at version {opened(db, create=True).upgrade(to)}")
    return 0


@click.command()
@database_argument
@click.option("--to", metavar="VERSION", default="base", help="Down to this version only.")
@click.option("--yes", is_flag=True, help="Delete imported documents without asking.")
@click.option("--keep-documents", is_flag=True, help="Leave imported documents in their table, dbsim_document.")
def downgrade(db: str, to: str, yes: bool, keep_documents: bool) -> None:
    """Remove dbsim's own tables; drop the indexes first."""
    if yes and keep_documents:
        raise InvalidOption("give --yes to delete the imported documents, or --keep-documents, not both")
    database = opened(db)
    try:
        database.downgrade(to, documents=True if yes else False if keep_documents else None)
    except ImportedRows as found:
        what = f"dbsim_document with its {found.count} imported rows"
        if not sys.stdin.isatty():
            raise InvalidOption(f"add --yes to delete {what}, or --keep-documents to leave it there") from found
        require_yes(f"Delete {what}?")
        database.downgrade(to, documents=True)
    click.echo("dbsim's tables are removed" if to == "base" else f"dbsim's tables are at version {to}")


@click.command()
@click.option("--dialect", type=click.Choice(list(BACKENDS)), required=True, help="For which database.")
@click.option("--from", "since", metavar="VERSION", default="base", show_default=True, help="What is there already.")
@click.option("--to", metavar="VERSION", help="What is wanted; a lower version removes.  [default: this dbsim's]")
def sql(dialect: str, since: str, to: str | None) -> None:
    """Print the statements of `dbsim upgrade` without connecting to a database."""
    click.echo(dbsim.migrate.sql(dialect, since, to).rstrip())


@click.command("init-migration")
@database_argument
@index_argument
@table_option
@index_options(required=True)
@click.option("--config", type=click.Path(), default="alembic.ini", show_default=True, help="Of your application.")
@click.option("--section", default="alembic", show_default=True, help="Of that file, as in `alembic -n`.")
@click.option("--head", help="The migration to go on from, where there are several.  [default: the last]")
@click.option(
    "--version-path", type=click.Path(), help="Where to write it, where there are several.  [default: beside it]"
)
def init_migration(
    db: str,
    name: str,
    table: str,
    columns: tuple[str, ...],
    config: str,
    section: str,
    head: str | None,
    version_path: str | None,
    **options: Any,
) -> None:
    """Write an Alembic migration for your application that creates an index, or changes one to these options.

    What you leave open is chosen from the table in DB, which is not changed.
    """
    fields = tuple(take_fields(columns, options))
    given = {option: value for option, value in options.items() if value is not None}
    asked = IndexOptions(name=name, table=table, fields=fields, **given)
    path = dbsim.migrate.init_migration(
        opened(db).engine, asked, config, section=section, head=head, version_path=version_path
    )
    click.echo(f"written: {path}")
    click.echo(f"after `alembic upgrade head` run: {then('sync')}")


COMMANDS = (upgrade, downgrade, sql, init_migration)

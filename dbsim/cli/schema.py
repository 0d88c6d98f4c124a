"""dbsim upgrade, downgrade, sql, init-migration: dbsim's own tables, and the application's migrations."""

from __future__ import annotations

import sys
from typing import Any

import click

import dbsim.migrate
from dbsim.cli.common import database_argument, on_index, opened, require_yes, then
from dbsim.cli.index.options import index_options, table_option, take_fields
from dbsim.engines.registry import CLASSES
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
@click.option("--dialect", type=click.Choice(list(CLASSES)), required=True, help="For which database.")
@click.option("--from", "since", metavar="VERSION", default="base", show_default=True, help="What is there already.")
@click.option("--to", metavar="VERSION", help="What is wanted; a lower version removes.  [default: this dbsim's]")
@click.option("--index", "name", help="Print all that an index of this name needs, too.")
@click.option("--table", help="With --index: the table, or SCHEMA.TABLE.")
@click.option(
    "--key", "key_columns", multiple=True, metavar="COLUMN:TYPE", help="With --index: its primary key; repeat it."
)
@click.option("--schema", default="public", show_default=True, help="With --index: for dbsim's tables (PostgreSQL).")
@click.option("--inline", is_flag=True, help="With --index: PostgreSQL signs rows in the transaction that writes them.")
@index_options(required=True)
def sql(
    dialect: str,
    since: str,
    to: str | None,
    name: str | None,
    table: str | None,
    key_columns: tuple[str, ...],
    schema: str,
    columns: tuple[str, ...],
    inline: bool,
    **options: Any,
) -> None:
    """Print the statements of `dbsim upgrade` without connecting to a database; with --index those of an index too.

    On PostgreSQL psql alone can run them, fill the index (`SELECT dbsim_INDEX_fill(10000)`, until it returns 0), search
    and group.
    """
    if name is None:
        if table or key_columns or columns:
            raise InvalidOption("name the index that --table, --key and --column are for: --index NAME")
        click.echo(dbsim.migrate.sql(dialect, since, to).rstrip())
        return
    if not (table and key_columns and columns):
        raise InvalidOption("an index needs --table TABLE, --column COLUMN and --key COLUMN:TYPE, e.g. --key id:bigint")
    fields = tuple(take_fields(columns, options))
    given = {option: value for option, value in options.items() if value is not None}
    *before, plain = table.split(".", 1) if "." in table else [table]
    asked = IndexOptions(
        name=name, table=plain, schema=before[0] if before else None, fields=fields, inline=inline, **given
    )
    click.echo(
        dbsim.migrate.index_sql(dialect, asked, tuple(map(_typed, key_columns)), home=schema, since=since).rstrip()
    )


def _typed(key: str) -> tuple[str, str]:
    column, colon, type_ = key.rpartition(":")
    if not (column and colon and type_):
        raise InvalidOption(f"write --key COLUMN:TYPE, e.g. id:bigint, not {key!r}")
    return column, type_


@click.command("init-migration")
@on_index
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

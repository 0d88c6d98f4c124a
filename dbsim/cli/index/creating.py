"""dbsim create: an index on a table of yours."""

from __future__ import annotations

from typing import Any

import click

from dbsim.choosing import why
from dbsim.cli.common import on_index, opened, then
from dbsim.cli.index.options import index_options, table_option, take_fields
from dbsim.cli.index.persons import create_records
from dbsim.errors import InvalidOption
from dbsim.options import describe_columns

new_secret_option = click.option(
    "--secret",
    metavar="env:NAME|file:PATH|index:NAME",
    help="Where a secret is that the database never sees, or the index whose secret is taken over, to link with it.",
)


@click.command()
@on_index
@table_option
@index_options(required=True)
@click.option("--records", is_flag=True, help="Persons: kinds of columns are guessed; --column NAME:KIND states one.")
@click.option("--bucket", type=int, help="Rows and keys from this bucket size instead of the recall.")
@click.option("--inline", is_flag=True, help="PostgreSQL: sign rows in the transaction that writes them; no worker.")
@click.option(
    "--citus/--no-citus",
    "distributed",
    default=None,
    help="The table is distributed over several nodes; no triggers then.  [default: as the database says]",
)
@click.option(
    "--changed-column",
    "changed",
    metavar="COLUMN",
    help="Grows with every change, such as updated_at: no triggers, sync looks at rows changed since. "
    "It does not see deleted rows: sync --reconcile does.",
)
@new_secret_option
@click.option("--fold", type=int, help="With --records: 1 folds the filters by XOR, so that they tell less.")
@click.option(
    "--on-duplicate",
    type=click.Choice(["reject", "flag"]),
    help="With --records: a trigger refuses, or notes, rows of persons who are there already.",
)
@click.option("--tablespace", help="PostgreSQL: where dbsim's tables of this index lie.")
@click.option("--no-triggers", is_flag=True, help="Leave the table untouched; every sync then compares all rows.")
def create(
    db: str, name: str, table: str, columns: tuple[str, ...], records: bool, no_triggers: bool, **options: Any
) -> None:
    """Create an index on a table of yours. Repeating the same call changes nothing."""
    if records:
        create_records(db, name, table, columns, no_triggers, options)
        return
    if not columns:
        raise InvalidOption("name the text columns with --column, or say --records for a table of persons")
    if options.pop("on_duplicate"):
        raise InvalidOption(
            "duplicates are rejected or flagged in tables of persons: say --records with --on-duplicate"
        )
    if options.pop("fold"):
        raise InvalidOption("folded filters are for records of persons: say --records, or leave out --fold")
    fields = take_fields(columns, options)
    index = opened(db).create_index(name, table=table, fields=fields, triggers=not no_triggers, **options)
    made = index.options
    click.echo(
        f"index {name!r} on {made.table} ({describe_columns(made.fields)}): {made.keys} keys of {made.rows} values, "
        + ", ".join(
            f"{unit} and {field.bits} bits for {field.name}"
            for unit, field in zip(index.units(), made.fields, strict=True)
        )
    )
    if made.distributed and not no_triggers:
        click.echo(
            f"{made.table} is distributed, and Citus has no triggers there: every `dbsim sync` compares "
            + (
                "the rows changed since"
                if made.changed
                else "all rows (with --changed-column only those changed since)"
            )
        )
    if made.changed:
        click.echo(
            f"not seen by {made.changed}: deleted rows, and changes that leave it alone; `sync --reconcile` does"
        )
    for line in why(made):
        click.echo(line)
    for asked, field in zip(fields, made.fields, strict=True):
        if field.normaliser.startswith("symbols") and not asked.normaliser:
            click.echo(f"many symbols in {field.name}: each counts as a word; `--normaliser text` leaves them out")
    click.echo(f"next: {then('sync')}" + (" (once, for the rows that are there)" if made.inline else ""))


COMMANDS = (create,)

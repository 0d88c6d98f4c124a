"""dbsim import: a file of records into a table."""

from __future__ import annotations

import click

from dbsim.cli.common import database_argument, opened, progress_bar


@click.command("import")
@database_argument
@click.argument("file")
@click.option("--table", help="Where to; made from the file's columns if it is not there.  [default: dbsim_document]")
@click.option("--text", "text_column", help="The file's text column, for dbsim_document.  [default: text]")
def import_command(db: str, file: str, table: str | None, text_column: str | None) -> None:
    """Load FILE (.jsonl or .csv) into a table, all of it or nothing."""
    database = opened(db, create=True)
    with progress_bar() as progress:
        target, count = database.import_file(file, table=table, text=text_column, progress=progress)
    click.echo(f"{count} rows imported into {target}")


COMMANDS = (import_command,)

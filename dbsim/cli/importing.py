"""dbsim import: a file of records into a table."""

from __future__ import annotations

import click

from dbsim.cli.common import database_argument, opened, progress_bar


@click.command("import")
@database_argument
@click.argument("file")
@click.option("--table", help="Where to; made from the file's columns if it is not there.  [default: dbsim_document]")
@click.option("--text", "text_column", help="The file's text column, for dbsim_document.  [default: text]")
@click.option("--separator", help="Of a .csv file: comma, semicolon, tab, pipe or a character.  [default: found out]")
def import_command(db: str, file: str, table: str | None, text_column: str | None, separator: str | None) -> None:
    """Load FILE (.jsonl, .csv or .tsv) into a table, all of it or nothing.

    The columns of a new table are numbers where every value is written as one; 007 stays text.
    """
    database = opened(db, create=True)
    with progress_bar() as progress:
        target, count = database.import_file(
            file, table=table, text=text_column, separator=separator, progress=progress
        )
    click.echo(f"{count} rows imported into {target}")


COMMANDS = (import_command,)

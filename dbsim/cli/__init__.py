"""The command line: every command is one call into the library method of the same name."""

from __future__ import annotations

import sys

import click
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from dbsim.cli import duplicates, evaluating, importing, indexes, sampling, schema, searching, showcase, tuning
from dbsim.errors import DbsimError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dbsim")
def cli() -> None:
    """Near-duplicate search inside the SQLite or PostgreSQL database you already have.

    DB is a SQLite path or a URL such as postgresql://user@host/name. Exit codes: 0 done, 1 nothing found, 2 error.
    """


for module in (showcase, schema, importing, indexes, searching, duplicates, tuning, evaluating, sampling):
    for command in module.COMMANDS:
        cli.add_command(command)


def main() -> None:
    """Errors become one sentence on stderr and exit code 2, never a traceback."""
    try:
        code = cli.main(prog_name="dbsim", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = 2
    except click.Abort:
        _say("stopped; nothing is lost, the same command goes on where it was")
        code = 130
    except DbsimError as error:
        _say(str(error))
        code = 2
    except DBAPIError as error:
        _say(f"the database refuses: {str(error.orig).strip().splitlines()[0]}")
        code = 2
    except SQLAlchemyError as error:
        _say(f"the database cannot be used: {str(error).strip().splitlines()[0]}")
        code = 2
    except OSError as error:
        _say(f"{error.filename or 'the system'}: {error.strerror or error}")
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _say(sentence: str) -> None:
    click.echo(f"dbsim: {sentence}", err=True)

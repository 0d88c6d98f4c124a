"""The command line: every command is one call into the library method of the same name."""

from __future__ import annotations

import importlib
import sys

import click

from dbsim.errors import DbsimError

# each command's module, loaded when the command is asked for: `dbsim --version` need not load a database driver
COMMANDS = {
    "showcase": ("demo",),
    "schema": ("upgrade", "downgrade", "sql", "init-migration"),
    "importing": ("import",),
    "indexes": ("create", "alter", "sync", "status", "check", "inline", "drop"),
    "searching": ("search", "similar", "contains", "explain"),
    "persons": ("match",),
    "duplicates": ("pairs", "duplicates"),
    "deciding": ("decide", "decisions"),
    "serving": ("serve",),
    "tuning": ("tune",),
    "evaluating": ("evaluate",),
    "sampling": ("sample", "overlap", "walk"),
    "clustering": ("clusters",),
    "bulk": ("bulk",),
}


class Commands(click.Group):
    """Commands in the order of the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in COMMANDS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for module, names in COMMANDS.items():
            if cmd_name in names:
                found: tuple[click.Command, ...] = importlib.import_module(f"{__name__}.{module}").COMMANDS
                return next(command for command in found if command.name == cmd_name)
        return None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dbsim")
def cli() -> None:
    """Near-duplicate search inside the SQLite or PostgreSQL database you already have.

    DB is a SQLite path or a URL such as postgresql://user@host/name. Exit codes: 0 done, 1 nothing found, 2 error.
    """


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
    except OSError as error:
        _say(f"{error.filename or 'the system'}: {error.strerror or error}")
        code = 2
    except sqlalchemy_errors() as error:
        _say(_refusal(error))
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def sqlalchemy_errors() -> tuple[type[Exception], ...]:
    """Of a library that only commands with a database load; there is none before it is loaded."""
    loaded = sys.modules.get("sqlalchemy.exc")
    return () if loaded is None else (loaded.SQLAlchemyError,)


def _refusal(error: Exception) -> str:
    first = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    return f"the database refuses: {first}" if hasattr(error, "orig") else f"the database cannot be used: {first}"


def _say(sentence: str) -> None:
    click.echo(f"dbsim: {sentence}", err=True)

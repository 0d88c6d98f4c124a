"""The command line: every command is one call into the library method of the same name."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from dbsim import __version__
from dbsim.cli.ending import exit_code, replace_unwritable, unread
from dbsim.errors import suggest

# each command's module, loaded when the command is asked for: `dbsim --version` need not load a database driver
COMMANDS = {
    "demo": "showcase",
    "upgrade": "schema",
    "downgrade": "schema",
    "sql": "schema",
    "init-migration": "schema",
    "import": "importing",
    "create": "index.creating",
    "alter": "index.changing",
    "sync": "index.syncing",
    "status": "index.status",
    "check": "index.syncing",
    "inline": "index.changing",
    "grant": "index.changing",
    "revoke": "index.changing",
    "drop": "index.changing",
    "search": "asking.searching",
    "similar": "asking.searching",
    "contains": "asking.searching",
    "explain": "asking.searching",
    "match": "asking.persons",
    "flagged": "asking.persons",
    "link": "duplicates.linking",
    "pairs": "duplicates.finding",
    "duplicates": "duplicates.finding",
    "merge": "duplicates.merging",
    "decide": "duplicates.deciding",
    "decisions": "duplicates.deciding",
    "serve": "serving",
    "tune": "measuring.tuning",
    "evaluate": "measuring.evaluating",
    "sample": "measuring.sampling",
    "overlap": "measuring.sampling",
    "walk": "measuring.sampling",
    "clusters": "measuring.clustering",
    "bulk": "bulk",
}


class Commands(click.Group):
    """Commands in the order of the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: tuple[click.Command, ...] = importlib.import_module(f"{__name__}.{COMMANDS[cmd_name]}").COMMANDS
        return next(command for command in found if command.name == cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = suggest(args[0], self.list_commands(ctx))
            raise click.UsageError(error.message.rstrip(".") + meant, ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # which click would make exit code 1
            if unread():
                return 0
            raise


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="dbsim")  # importlib.metadata takes half as long as all the rest
def cli() -> None:
    """Near-duplicate search inside the SQLite or PostgreSQL database you already have.

    DB is a SQLite path or a URL such as postgresql://user@host/name. Exit codes: 0 done, 1 nothing found
    or a question answered with no, 2 error, 130 stopped with Ctrl-C.
    """


def main() -> None:
    """Errors become one sentence on stderr and exit code 2, never a traceback."""
    replace_unwritable()
    sys.exit(exit_code(lambda: cli.main(prog_name="dbsim", standalone_mode=False)))

"""dbsim demo: everything on a temporary SQLite file."""

from __future__ import annotations

import click

from dbsim.cli.common import out, progress_bar
from dbsim.demo import run


@click.command()
def demo() -> None:
    """Make a temporary SQLite database with sample texts, index it and show the near-duplicates found."""
    with progress_bar() as progress:
        run(out, progress)


COMMANDS = (demo,)

"""dbsim alter, inline, grant, revoke, drop: an index that is there becomes another one, or goes."""

from __future__ import annotations

from typing import Any

import click

from dbsim.cli.common import on_index, opened, progress_bar, then
from dbsim.cli.index.options import index_options, take_fields
from dbsim.errors import InvalidOption

secret_option = click.option(
    "--secret", metavar="env:NAME|file:PATH", help="Where a secret is that the database never sees."
)


@click.command()
@on_index
@index_options(required=False)
@secret_option
@click.option("--replan", is_flag=True, help="Choose keys anew for the table as it is now.")
@click.option("--cancel", is_flag=True, help="Give up a change that is under way.")
@click.option("--rename", "renames", multiple=True, metavar="OLD=NEW", help="A column or the table has a new name.")
def alter(
    db: str,
    name: str,
    columns: tuple[str, ...],
    cancel: bool,
    replan: bool,
    renames: tuple[str, ...],
    **options: Any,
) -> None:
    """Change an index's options; searches go on with the old ones until `dbsim sync` has built the new."""
    if renames:
        if cancel or replan or columns or any(value is not None for value in options.values()):
            raise InvalidOption("give --rename alone: nothing is built anew for it")
        changed = opened(db).rename(name, dict(_renamed(pair) for pair in renames))
        click.echo(f"index {name!r} follows {', '.join(renames)}" if changed else f"index {name!r} stays as it is")
        return
    if cancel == bool(columns or replan or any(value is not None for value in options.values())):
        raise InvalidOption("name the options to change, --replan, or --cancel to give up a change under way")
    if columns:
        options["fields"] = take_fields(columns, options)
    index = opened(db).alter_index(name, replan=replan, **options)
    change = index.status().change
    if change is None:
        click.echo(f"index {name!r} stays as it is")
        return
    click.echo(f"index {name!r} will be changed to generation {change['generation']}: {'; '.join(change['options'])}")
    click.echo(f"next: {then('sync')}")


def _renamed(pair: str) -> tuple[str, str]:
    old, equals, new = pair.partition("=")
    if not (old and equals and new):
        raise InvalidOption(f"write --rename OLD=NEW, not {pair!r}")
    return old, new


@click.command()
@on_index
@click.option("--off", is_flag=True, help="Back to the queue, which `dbsim sync` works off.")
def inline(db: str, name: str, off: bool) -> None:
    """PostgreSQL: have the database sign changed rows in the transaction that writes them, with no worker."""
    with progress_bar() as progress:
        opened(db).index(name).inline(not off, progress=progress)
    click.echo(f"index {name!r} is " + ("queued: changes wait for `dbsim sync`" if off else "inline: no worker needed"))


@click.command()
@on_index
@click.argument("role")
@click.option("--decide", is_flag=True, help="Let it also decide about pairs of rows that it sees.")
def grant(db: str, name: str, role: str, decide: bool) -> None:
    """PostgreSQL: let ROLE search an index from Python, the shell and SQL, without seeing its secret."""
    lacking = opened(db).index(name).grant(role, decide=decide)
    does = "search and decide in" if decide else "search"
    click.echo(f"role {role!r} may {does} index {name!r}" + (", once it has these rights too:" if lacking else ""))
    for statement in lacking:
        click.echo(f"  {statement};")


@click.command()
@on_index
@click.argument("role")
def revoke(db: str, name: str, role: str) -> None:
    """PostgreSQL: take back from ROLE what `dbsim grant` gave it; exit code 1 when that was nothing."""
    if opened(db).index(name).revoke(role):
        click.echo(f"role {role!r} may no longer search index {name!r}")
        return
    click.echo(f"role {role!r} has not been granted index {name!r}")
    raise SystemExit(1)


@click.command()
@on_index
def drop(db: str, name: str) -> None:
    """Remove an index with its tables and triggers; your table stays as it is."""
    opened(db).drop_index(name)
    click.echo(f"index {name!r} is dropped")


COMMANDS = (alter, inline, grant, revoke, drop)

"""dbsim sync, check: an index is brought in step with its table, or compared with it."""

from __future__ import annotations

from typing import Any

import click

from dbsim.cli.common import (
    LOG_SECONDS,
    err,
    json_option,
    on_index,
    opened,
    print_json,
    progress_bar,
)
from dbsim.cli.ending import logged, until_signalled
from dbsim.errors import NothingReadable
from dbsim.index import Index
from dbsim.lifecycle.status import unreadable
from dbsim.sync.worklog import EVERY
from dbsim.tables.source import public_key


@click.command()
@on_index
@click.option("--follow", is_flag=True, help="Keep running and index changes as they come.")
@click.option("--reconcile", is_flag=True, help="Compare every row of the table; needs no triggers.")
@click.option(
    "--refit", is_flag=True, help="Families that learn: learn again from the table, then fill the index anew."
)
@click.option("--workers", type=int, help="Processes of a first filling.  [default: as many as pay, at most 4]")
@click.option("--gentle", is_flag=True, help="A first filling on SQLite in short transactions only; takes longer.")
@click.option("--verbose", is_flag=True, help="With --follow: log every run, not a line a minute.")
def sync(
    db: str,
    name: str,
    follow: bool,
    reconcile: bool,
    refit: bool,
    workers: int | None,
    gentle: bool,
    verbose: bool,
) -> None:
    """Bring an index up to date; stopped at any time, it goes on where it was.

    With --follow SIGTERM and Ctrl-C end it with exit code 0.
    """
    asked = {"reconcile": reconcile, "workers": workers, "gentle": gentle}
    if not follow:
        index = opened(db).index(name)
        _sync(index, refit, LOG_SECONDS, asked)
        problem = index.context.read(lambda c: unreadable(c, index.context.tables))
        if problem:
            raise NothingReadable(problem)
        return
    with logged(verbose), until_signalled() as stopped:
        index = opened(db).index(name)
        _sync(index, refit, EVERY, asked)
        click.echo("following; stop with Ctrl-C", err=True)
        index.follow(stop=stopped)


def _sync(index: Index, refit: bool, every: float, asked: dict[str, Any]) -> None:
    if refit and (taught := index.refit()):
        err.print(f"learned from the table and from {taught} decisions")
    with progress_bar(every) as progress:
        report = index.sync(**asked, progress=progress)
    if report.renewed:
        err.print("its triggers, views and functions were of an earlier dbsim and are of this one now")
    elif report.triggers_restored:
        err.print(f"[yellow]{len(report.triggers_restored)} missing triggers were installed again")
    if report.views_restored and not report.renewed:
        err.print(f"[yellow]{len(report.views_restored)} missing views or functions were created again")
    done = f"{report.filled} rows read, {report.changed} changes worked off"
    if report.compared:
        done += f", {report.compared} rows compared and {report.repaired} repaired"
    click.echo(done)
    if report.switched:
        click.echo(f"generation {report.generation} is searched now")


@click.command()
@on_index
@click.option("--sample", type=int, help="Check so many random rows instead of all.")
@click.option("--repair", is_flag=True, help="Sign differing rows again.")
@json_option
def check(db: str, name: str, sample: int | None, repair: bool, as_json: bool) -> int:
    """Recompute signatures and compare them with the stored ones, in both directions. Exit code 1: some differ."""
    index = opened(db).index(name)
    with progress_bar() as progress:
        found = index.check(sample=sample, repair=repair, progress=progress)
    kinds = {
        kind: [public_key(index.key_names, key) for key in getattr(found, kind)]
        for kind in ("missing", "orphaned", "different")
    }
    if as_json:
        print_json({"compared": found.compared, **kinds, "repaired": found.repaired})
    else:
        for kind, keys in kinds.items():
            if keys:
                click.echo(f"{kind}: {len(keys)} ({', '.join(map(str, keys[:10]))}{', …' if len(keys) > 10 else ''})")
        repaired = f", {found.repaired} repaired" if repair else ""
        click.echo(f"{found.compared} rows compared, {len(found.keys)} differ{repaired}")
        if found and not repair:
            click.echo(f"repair with: dbsim check {db} {name} --repair")
    return 1 if found and not repair else 0


COMMANDS = (sync, check)

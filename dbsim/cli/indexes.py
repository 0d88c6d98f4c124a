"""dbsim create, sync, status, check, drop: an index's life."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table
from rich.text import Text

from dbsim.choosing import why
from dbsim.cli.common import (
    LOG_SECONDS,
    database_argument,
    err,
    index_argument,
    json_option,
    opened,
    out,
    print_json,
    progress_bar,
    then,
)
from dbsim.cli.ending import logged, until_signalled
from dbsim.cli.index_options import index_options, take_fields
from dbsim.cli.persons import create_records
from dbsim.errors import InvalidOption, NothingReadable
from dbsim.hashing.families.registry import family_of
from dbsim.index import Index
from dbsim.lifecycle.status import Status, unreadable
from dbsim.options import describe_columns
from dbsim.sync.worklog import EVERY
from dbsim.tables.source import public_key

secret_option = click.option(
    "--secret", metavar="env:NAME|file:PATH", help="Where a secret is that the database never sees."
)
new_secret_option = click.option(
    "--secret",
    metavar="env:NAME|file:PATH|index:NAME",
    help="Where a secret is that the database never sees, or the index whose secret is taken over, to link with it.",
)
table_option = click.option("--table", required=True, help="The table to index; [schema.]table on PostgreSQL.")


def _filled(one: Status, field: str) -> str:
    share, full = one.saturated[field], f"{field} {one.fill[field]:.0%} full"
    return f"{full}, {share:.1%} of the rows saturated" if share else full


def _in_vain(rate: tuple[str, float]) -> str:
    return f"{rate[0]}: {rate[1]:.2%} of the rows are read in vain for a word"


@click.command()
@database_argument
@index_argument
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


@click.command()
@database_argument
@index_argument
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
@database_argument
@index_argument
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
@database_argument
@index_argument
@click.option("--off", is_flag=True, help="Back to the queue, which `dbsim sync` works off.")
def inline(db: str, name: str, off: bool) -> None:
    """PostgreSQL: have the database sign changed rows in the transaction that writes them, with no worker."""
    with progress_bar() as progress:
        opened(db).index(name).inline(not off, progress=progress)
    click.echo(f"index {name!r} is " + ("queued: changes wait for `dbsim sync`" if off else "inline: no worker needed"))


@click.command()
@database_argument
@index_argument
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
@database_argument
@index_argument
@click.argument("role")
def revoke(db: str, name: str, role: str) -> None:
    """PostgreSQL: take back from ROLE what `dbsim grant` gave it; exit code 1 when that was nothing."""
    if opened(db).index(name).revoke(role):
        click.echo(f"role {role!r} may no longer search index {name!r}")
        return
    click.echo(f"role {role!r} has not been granted index {name!r}")
    raise SystemExit(1)


@click.command()
@database_argument
@json_option
def status(db: str, as_json: bool) -> None:
    """Show all indexes: rows, queue, quarantine, and what needs attention."""
    found = [index.status() for index in opened(db).indexes()]
    if as_json:
        print_json([one.to_json() for one in found])
        return
    if not found:
        click.echo("no index yet: create one with `dbsim create`")
    for one in found:
        title = Text(one.index, style="bold")
        table = Table(show_header=False, box=None, pad_edge=False, title=title, title_justify="left")
        table.add_row("table", Text(f"{one.table} ({one.columns})"))
        table.add_row("family", f"{one.family}, {one.keys} keys of {one.rows_per_key} values")
        table.add_row("finds", _finds(one.family, one.threshold, one.recall))
        inline = ", inline" if one.inline else ""
        table.add_row("state", f"{one.state}{inline}, {one.indexed} of {one.rows} rows indexed")
        if one.change:
            done = f"{one.change['indexed']} of {one.change['rows']} rows read"
            what = "; ".join(one.change["options"])
            table.add_row("change", f"to generation {one.change['generation']}, {done}: {what}")
        if one.kept:
            table.add_row("kept", "generation " + ", ".join(map(str, one.kept)) + ", for searches that have begun")
        table.add_row("queue", f"{one.queued}" + (f", oldest {one.oldest_queued}" if one.queued else ""))
        table.add_row("quarantine", f"{one.quarantined}")
        if one.groups is not None:
            table.add_row("groups", f"{one.groups} of near-duplicates")
        table.add_row("filters", Text(", ".join(_filled(one, field) for field in one.fill)))
        if one.false_drops:
            table.add_row("words", Text(", ".join(map(_in_vain, one.false_drops.items()))))
        for problem in one.problems:
            table.add_row("[yellow]attention", Text(problem, style="yellow"))
        out.print(table)


def _finds(name: str, threshold: float, recall: float) -> str:
    """What the family promises; some promise nothing and are measured."""
    family = family_of(name)
    if family.nearest:
        return f"the nearest rows by {family.measure}"
    if family.fixed:
        return f"pairs from {family.measure} {threshold:g}; how many of them, `dbsim tune` measures"
    return f"pairs from {family.measure} {threshold:g} with recall {recall:g}"


@click.command()
@database_argument
@index_argument
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


@click.command()
@database_argument
@index_argument
def drop(db: str, name: str) -> None:
    """Remove an index with its tables and triggers; your table stays as it is."""
    opened(db).drop_index(name)
    click.echo(f"index {name!r} is dropped")


COMMANDS = (create, alter, sync, inline, grant, revoke, status, check, drop)

"""dbsim status: how indexes are doing."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from dbsim.cli.common import database_argument, json_option, opened, out, print_json
from dbsim.hashing.families.registry import family_of
from dbsim.lifecycle.status import Status


@click.command()
@database_argument
@click.argument("name", metavar="[INDEX]", required=False)
@json_option
def status(db: str, name: str | None, as_json: bool) -> None:
    """Show all indexes, or one: rows, queue, quarantine, and what needs attention."""
    database = opened(db)
    found = [index.status() for index in ([database.index(name)] if name else database.indexes())]
    if as_json:
        print_json([one.to_json() for one in found])
        return
    if not found:
        click.echo("no index yet: create one with `dbsim create`")
    for one in found:
        out.print(_table(one))


def _table(one: Status) -> Table:
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
    return table


def _finds(name: str, threshold: float, recall: float) -> str:
    """What the family promises; some promise nothing and are measured."""
    family = family_of(name)
    if family.nearest:
        return f"the nearest rows by {family.measure}"
    if family.fixed:
        return f"pairs from {family.measure} {threshold:g}; how many of them, `dbsim tune` measures"
    return f"pairs from {family.measure} {threshold:g} with recall {recall:g}"


def _filled(one: Status, field: str) -> str:
    share, full = one.saturated[field], f"{field} {one.fill[field]:.0%} full"
    return f"{full}, {share:.1%} of the rows saturated" if share else full


def _in_vain(rate: tuple[str, float]) -> str:
    return f"{rate[0]}: {rate[1]:.2%} of the rows are read in vain for a word"


COMMANDS = (status,)

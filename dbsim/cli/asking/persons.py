"""dbsim match, flagged: is this person in the table already?"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from dbsim.cli.common import err, json_option, on_index, opened, print_json
from dbsim.errors import InvalidOption
from dbsim.hashing.records.probability import CERTAIN


@click.command()
@on_index
@click.option("--json", "row", required=True, metavar="JSON", help="The row, as an object; - reads standard input.")
@click.option("--probability", type=float, help="Least probability to show.  [default: the index's threshold]")
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="Most rows to show.")
@click.option("--explain", is_flag=True, help="Show what speaks for and against each.")
@click.option("--print-json", "as_json", is_flag=True, help="Print JSON.")
def match(db: str, name: str, row: str, probability: float | None, limit: int, explain: bool, as_json: bool) -> int:
    """Is this person in the table already? Exit code 1: nobody like it."""
    found = opened(db).index(name).check_row(_row(row), probability=probability, limit=limit)
    if as_json:
        print_json([one.to_json() for one in found])
    for one in [] if as_json else found:
        click.echo(f"{one.probability:.4f}  {one.key}" + ("" if one.probability >= CERTAIN else "  (have a look)"))
        for line in one.evidence.lines() if explain else ():
            click.echo(f"  {line}")
    if not found and not as_json:
        err.print("nobody like this")
    return 0 if found else 1


@click.command()
@on_index
@click.option("--limit", type=click.IntRange(min=0), default=100, show_default=True, help="Most pairs to show.")
@click.option("--explain", is_flag=True, help="Show what speaks for and against each.")
@json_option
def flagged(db: str, name: str, limit: int, explain: bool, as_json: bool) -> int:
    """Rows that `--on-duplicate flag` let in although the person was there. Exit code 1: there are none."""
    found = opened(db).index(name).flagged(limit=limit)
    if as_json:
        print_json([one.to_json() for one in found])
    for one in [] if as_json else found:
        click.echo(f"{one.probability:.4f}  {one.new} is {one.old}, since {one.at:%Y-%m-%d %H:%M}")
        for line in one.evidence.lines() if explain and one.evidence else ():
            click.echo(f"  {line}")
    if not found and not as_json:
        err.print("nothing was flagged")
    return 0 if found else 1


def _row(text: str) -> dict[str, Any]:
    try:
        row = json.loads(sys.stdin.read() if text == "-" else text)
    except json.JSONDecodeError as error:
        raise InvalidOption(f'the row is not JSON ({error}): write it as {{"surname": "Meier"}}') from error
    if not isinstance(row, dict):
        raise InvalidOption('the row must be an object by column: write it as {"surname": "Meier"}')
    return row


COMMANDS = (match, flagged)

"""dbsim link: the rows of one table that are rows of another."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import click

from dbsim.cli.common import database_argument, json_option, opened, print_json_list, progress_bar

PRINTED = 20


@click.command()
@database_argument
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--other", metavar="DB", help="The database of B, if it is another one.")
@click.option("--threshold", type=float, help="Lowest score; that of B by default.")
@click.option("--one-to-one", is_flag=True, help="Every row has one partner at most, the scores add up to the most.")
@click.option("--into", metavar="TABLE", help="Where to store the links.  [default: dbsim_A_links_B]")
@click.option("--limit", type=click.IntRange(min=0), help=f"Links shown.  [default: {PRINTED}, all as JSON]")
@json_option
def link(
    db: str,
    a: str,
    b: str,
    other: str | None,
    threshold: float | None,
    one_to_one: bool,
    into: str | None,
    limit: int | None,
    as_json: bool,
) -> int:
    """Link the rows of index A with those of index B: key, key, score. Exit code 1: there are none.

    They are stored beside A with what speaks for them; the column `decision` (same, different) is yours and is
    respected by the next run, which compares only what has changed since. Both indexes need the same secret.
    """
    mine = opened(db)
    theirs = opened(other) if other else mine
    with progress_bar() as progress:
        found = mine.index(a).link(
            theirs.index(b), threshold=threshold, one_to_one=one_to_one, into=into, progress=progress
        )
    if as_json:
        print_json_list(one.to_json() for one in islice(found, limit))
        return 0 if found else 1
    for one in islice(found, PRINTED if limit is None else limit):
        click.echo(f"{_key(one.a)}\t{_key(one.b)}\t{one.score:.6f}" + (f"\t{one.decision}" if one.decision else ""))
    click.echo(
        f"{len(found)} links of {found.rows} rows ({found.asked} compared now), in table {found.table}", err=True
    )
    return 0 if found else 1


def _key(key: Any) -> str:
    return json.dumps(key, ensure_ascii=False, default=str) if isinstance(key, dict) else str(key)


COMMANDS = (link,)

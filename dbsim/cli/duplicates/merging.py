"""dbsim merge: groups as one record each."""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import Any

import click
from rich.text import Text

from dbsim.cli.common import (
    acting_options,
    json_option,
    on_index,
    opened,
    out,
    print_json_list,
    progress_bar,
    require_yes,
    then,
)
from dbsim.dedupe.acting.golden import FREQUENT, RULES, Golden
from dbsim.dedupe.acting.resolve import Resolution
from dbsim.dedupe.kernels.grouping.registry import METHODS
from dbsim.errors import InvalidOption
from dbsim.index import Index

PRINTED = 20  # groups on the terminal


@click.command()
@on_index
@click.option("--threshold", type=float, help="Lowest score.  [default: 0.9 for persons, else the index's own]")
@click.option("--by", type=click.Choice(list(METHODS)), default="complete", show_default=True, help="How to group.")
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="[COLUMN=]RULE",
    help=f"Which value survives: {', '.join(RULES)}; of one column, or of all indexed ones.  [default: {FREQUENT}]",
)
@click.option("--recent", metavar="COLUMN", help="The highest value is the latest row.  [default: the key]")
@click.option("--move-references", is_flag=True, help="Let other tables refer to the row that stays.")
@click.option("--limit", type=click.IntRange(min=0), help=f"Groups shown.  [default: {PRINTED}, all as JSON]")
@click.option("--dry-run", is_flag=True, help="Only show.")
@acting_options
@json_option
def merge(
    db: str,
    name: str,
    threshold: float | None,
    by: str,
    rules: tuple[str, ...],
    recent: str | None,
    keep: str,
    limit: int | None,
    as_json: bool,
    **action: Any,
) -> int:
    """Show which rows would become one and with which values; do it after asking. Exit code 1: there are none.

    A transaction a group. Columns that are neither indexed nor named by --rule stay as they are.
    """
    rule, own = _rules(rules)
    chosen: dict[str, Any] = {
        "rule": rule,
        "rules": own,
        "recent": recent,
        "keep": keep,
        "by": by,
        "threshold": threshold,
    }
    index = opened(db).index(name)
    with progress_bar() as progress:
        counted = index.merge(**chosen, move_references=action["move_references"], dry_run=True, progress=progress)
    found = index.golden(**chosen)
    if as_json:
        print_json_list(one.to_json() for one in islice(found, limit))
    else:
        for one in islice(found, PRINTED if limit is None else limit):
            _print(one)
        click.echo(f"{counted.groups} groups; {counted.removed} rows would go")
    if counted.removed and not action.pop("dry_run"):
        _act(index, chosen, counted, **action)
    return 0 if counted.removed else 1


def _rules(texts: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """`longest` is for all indexed columns, `surname=longest` for one."""
    pairs = [text.rpartition("=") for text in texts]
    every = [rule for _, equals, rule in pairs if not equals]
    if len(every) > 1:
        raise InvalidOption("give one rule for all columns, and others as COLUMN=RULE")
    return (every or [FREQUENT])[0], {column: rule for column, equals, rule in pairs if equals}


def _print(one: Golden) -> None:
    gone = ", ".join(map(_key, one.others))
    out.print(Text.assemble((f"{_key(one.key)} stays", "bold"), f", {gone} {'goes' if len(one.others) == 1 else 'go'}"))
    for column, value in one.values.items():
        of = f"  (of {_key(one.sources[column])})" if column in one.changed else ""
        line = Text.assemble("  ", (column, "dim"), f"  {value}", (of, "green"))
        out.print(line, no_wrap=True, overflow="ellipsis", soft_wrap=False)


def _act(
    index: Index,
    chosen: dict[str, Any],
    counted: Resolution,
    *,
    move_references: bool,
    yes: bool,
    even_if_behind: bool,
) -> None:
    """Ask, then merge; without a terminal and without --yes it stays a dry run."""
    table, also = index.options.table, counted.consequences()
    if not yes:
        if not sys.stdin.isatty():
            blocked = "".join(f"; {n} rows of {one} forbid it by a foreign key" for one, n in counted.blocked.items())
            more = (f"; {also}" if also else "") + blocked
            click.echo(f"dry run: {counted.removed} rows of {table} would go{more}; add --yes to do it", err=True)
            return
        require_yes(
            f"Delete {counted.removed} rows of {table}, changing {counted.groups}?{f' ({also})' if also else ''}"
        )
    done = index.merge(**chosen, move_references=move_references, expected=counted, even_if_behind=even_if_behind)
    left = f"; {done.left} groups were left alone, because their rows have changed" if done.left else ""
    click.echo(f"{done.groups} groups merged, {done.removed} rows deleted{left}; next: {then('sync')}", err=True)


def _key(key: Any) -> str:
    return json.dumps(key, ensure_ascii=False, default=str) if isinstance(key, dict) else str(key)


COMMANDS = (merge,)

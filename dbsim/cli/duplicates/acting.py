"""dbsim duplicates --delete, --mark: count, ask, then act on the rows of groups."""

from __future__ import annotations

import sys
from typing import Any

import click

from dbsim.cli.common import require_yes, then
from dbsim.dedupe.acting.resolve import Resolution
from dbsim.index import Index


def act(
    index: Index,
    chosen: dict[str, Any],
    by: str,
    *,
    delete_rows: bool,
    mark: str | None,
    overwrite: bool,
    yes: bool,
    even_if_behind: bool,
) -> None:
    """Count, ask, then delete or mark; without a terminal and without --yes it stays a dry run."""

    def run(**options: Any) -> Resolution:
        if delete_rows:
            return index.delete_duplicates(**chosen, **options)
        return index.mark_duplicates(str(mark), by=by, overwrite=overwrite, **chosen, **options)

    counted = run(dry_run=True)
    if not counted.removed:
        click.echo("nothing to do", err=True)
        return
    table, also = index.options.table, counted.consequences()
    done = f"deleted from {table}" if delete_rows else f"marked in {table}.{mark}"
    if not yes:
        if not sys.stdin.isatty():
            more = "".join(f"; {said}" for said in (also, _hindrance(counted, mark, overwrite)) if said)
            click.echo(f"dry run: {counted.removed} rows would be {done}{more}; add --yes to do it", err=True)
            return
        rows = f"{counted.removed} rows"
        verb = f"Delete {rows} from {table}" if delete_rows else f"Mark {rows} in {table}.{mark}"
        require_yes(f"{verb}, keeping {counted.groups}?{f' ({also})' if also else ''}")
    result = run(expected=counted, even_if_behind=even_if_behind)
    also = "".join(f"; {said}" for said in (also, f"next: {then('sync')}" if delete_rows else "") if said)
    click.echo(f"{result.removed} rows {done}{also}", err=True)


def _hindrance(counted: Resolution, mark: str | None, overwrite: bool) -> str:
    """Why it would be refused as things are."""
    if counted.blocked:
        return "".join(f"{n} rows of {name} forbid it by a foreign key" for name, n in counted.blocked.items())
    if counted.other_values and not overwrite:
        return f"{counted.other_values} other values in {mark} need --overwrite"
    return ""

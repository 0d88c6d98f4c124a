"""dbsim pairs, duplicates: the whole table at once."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.text import Text

import dbsim
from dbsim.cli.common import (
    database_argument,
    err,
    index_argument,
    json_option,
    out,
    print_json_list,
    progress_bar,
)
from dbsim.dedupe.keep import CHOICES
from dbsim.dedupe.kernels.clustering import METHODS
from dbsim.dedupe.kernels.pairs import Limited
from dbsim.dedupe.resolve import Resolution
from dbsim.dedupe.results import Duplicates
from dbsim.errors import InvalidOption
from dbsim.index import Index
from dbsim.report.files import ReportFile
from dbsim.report.page import write_page
from dbsim.report.rows import Shown, shown
from dbsim.report.table import COLUMNS, first_line, write_csv

PRINTED = 20  # groups on the terminal
ON_PAGE = 500
TEXT = 100  # characters of a text
PRINTED_MEMBERS = 6
REPORT = click.Path(path_type=Path)

threshold_option = click.option("--threshold", type=float, help="Lowest score; the index's own by default.")
verify_option = click.option("--verify", is_flag=True, help="Compare the texts themselves: exact scores, takes longer.")


@click.command()
@database_argument
@index_argument
@threshold_option
@verify_option
@json_option
def pairs(db: str, name: str, threshold: float | None, verify: bool, as_json: bool) -> int:
    """List all pairs of near-duplicate rows: key, key, score. Exit code 1: there are none.

    Rows with equal content appear as pairs with the first of them only. Stopped at any time, it goes on where it was.
    """
    index = dbsim.open(db).index(name)
    with progress_bar() as progress:
        found = index.pairs(threshold=threshold, verify=verify, progress=progress)
    _say_limited(found.limited)
    if as_json:
        return 0 if print_json_list(pair.to_json() for pair in found) else 1
    count = 0
    for pair in found:
        click.echo(f"{_key(pair.a)}\t{_key(pair.b)}\t{pair.score:.6f}")
        count += 1
    if not count:
        click.echo("no near-duplicates found", err=True)
    return 0 if count else 1


@click.command()
@database_argument
@index_argument
@click.option(
    "--by",
    type=click.Choice(METHODS),
    default="tight",
    show_default=True,
    help="tight: every row is similar to the group's first; components: chains count; the others lie in between.",
)
@threshold_option
@verify_option
@click.option(
    "--keep",
    default="first",
    show_default=True,
    metavar="first|last|longest|SQL",
    help="Which row of a group stays: by key, by length, or the one with the highest value of a SQL expression.",
)
@click.option("--csv", "csv_file", type=REPORT, help="Write a line for each row.")
@click.option("--html", "html_file", type=REPORT, help="Write a page, differences marked.")
@click.option("--limit", type=int, help=f"Groups shown.  [default: {PRINTED}, {ON_PAGE} on a page, all as JSON or CSV]")
@click.option("--delete", "delete_rows", is_flag=True, help="Delete all rows but one of each group, after asking.")
@click.option("--mark", metavar="COLUMN", help="Instead, set COLUMN: true, or the key of the row that stays.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--even-if-behind", is_flag=True, help="Act although the index does not reflect all changes.")
@json_option
def duplicates(
    db: str,
    name: str,
    by: str,
    threshold: float | None,
    verify: bool,
    keep: str,
    csv_file: Path | None,
    html_file: Path | None,
    limit: int | None,
    as_json: bool,
    **action: Any,
) -> int:
    """Group near-duplicate rows, store the groups in dbsim_INDEX_groups and report them. Exit code 1: there are none.

    Nothing of yours is changed unless --delete or --mark says so and the question is answered with yes.
    """
    if action["delete_rows"] and action["mark"]:
        raise InvalidOption("give --delete or --mark, not both")
    table, page = _files(csv_file, html_file)
    index = dbsim.open(db).index(name)
    with progress_bar() as progress:
        found = index.duplicates(by=by, threshold=threshold, verify=verify, progress=progress)
    _say_limited(found.limited)
    counted = index.resolve(keep=keep)
    if as_json:
        print_json_list(group.to_json() for group in islice(shown(index, found, keep, 0), limit))
    else:
        _print(index, found, counted, keep, PRINTED if limit is None else limit)
    if table:
        with table.open() as file:
            write_csv(file, islice(shown(index, found, keep), limit))
    if page:
        with page.open() as file:
            summary, shown_groups = _summary(found, counted, keep), ON_PAGE if limit is None else limit
            write_page(file, index, summary, len(found), shown_groups, keep)
    for written in filter(None, (table, page)):
        click.echo(f"written: {written.path}", err=as_json)
    if action["delete_rows"] or action["mark"]:
        _act(index, counted, keep, **action)
    return 0 if len(found) else 1


def _print(index: Index, found: Duplicates, counted: Resolution, keep: str, limit: int) -> None:
    for group in islice(shown(index, found, keep, PRINTED_MEMBERS), limit):
        _print_group(group)
    if len(found) > limit:
        click.echo(f"… {len(found) - limit} more groups: see them with --limit, --json, --csv or --html")
    click.echo(_summary(found, counted, keep))


def _print_group(group: Shown) -> None:
    head = f"{len(group.group.members)} rows around {_key(group.group.representative)}"
    out.print(Text.assemble((head, "bold"), (f", diameter {group.group.diameter:.3f}", "dim")))
    for hit, stays, text in zip(group.group.members, group.stays, group.texts, strict=False):
        words = "(deleted)" if text is None else " ".join(text.split())[:TEXT]
        mark = ("stays ", "green") if stays else ("      ", "")
        line = Text.assemble("  ", mark, f"{hit.score:.3f}  ", _key(hit.key), "  ", (words, "dim"))
        out.print(line, no_wrap=True, overflow="ellipsis", soft_wrap=False)
    if len(group.group.members) > len(group.texts):
        out.print(Text(f"  … {len(group.group.members) - len(group.texts)} more rows", style="dim"))


def _summary(found: Duplicates, counted: Resolution, keep: str) -> str:
    if not len(found):
        return "no near-duplicates found"
    stays = f"the {keep} row" if keep in CHOICES else f"the row with the highest {keep}"
    return f"{len(found)} groups of {found.rows} rows; if {stays} of each stays, {counted.removed} can go"


def _files(csv_file: Path | None, html_file: Path | None) -> tuple[ReportFile | None, ReportFile | None]:
    """Refused before the work if they are other files."""
    table = None if csv_file is None else ReportFile(csv_file, first_line(COLUMNS))
    page = None if html_file is None else ReportFile(html_file)
    for file in filter(None, (table, page)):
        file.check()
    return table, page


def _act(
    index: Index,
    counted: Resolution,
    keep: str,
    *,
    delete_rows: bool,
    mark: str | None,
    yes: bool,
    even_if_behind: bool,
) -> None:
    """Ask, then delete or mark; without a terminal and without --yes it stays a dry run."""
    table = index.options.table
    done = f"deleted from {table}" if delete_rows else f"of {table} marked in {mark}"
    if not counted.removed:
        click.echo("nothing to do", err=True)
        return
    if not yes:
        if not sys.stdin.isatty():
            click.echo(f"dry run: {counted.removed} rows would be {done}; add --yes to do it", err=True)
            return
        verb = (
            f"Delete {counted.removed} rows from {table}" if delete_rows else f"Mark {counted.removed} rows in {mark}"
        )
        click.confirm(f"{verb}, keeping {counted.groups}?", abort=True, err=True)
    result = index.resolve(
        keep=keep, delete=delete_rows, mark=mark, expected=counted, even_if_behind=even_if_behind, dry_run=False
    )
    click.echo(f"{result.removed} rows {done}; next: dbsim sync", err=True)


def _say_limited(limited: Limited) -> None:
    if limited:
        err.print(
            f"[yellow]{limited.buckets} buckets held up to {limited.largest} contents and were not compared all with "
            f"all, but through representatives and finer keys: pairs may be missing there"
        )


def _key(key: Any) -> str:
    return json.dumps(key, ensure_ascii=False, default=str) if isinstance(key, dict) else str(key)


COMMANDS = (pairs, duplicates)

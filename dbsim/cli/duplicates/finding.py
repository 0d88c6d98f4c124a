"""dbsim pairs, duplicates: the whole table at once."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from dbsim.cli.common import (
    acting_options,
    decided_option,
    err,
    json_option,
    on_index,
    opened,
    out,
    print_json_list,
    progress_bar,
    verify_option,
)
from dbsim.cli.duplicates.acting import act
from dbsim.dedupe.acting.keep import CHOICES
from dbsim.dedupe.kernels.grouping.registry import METHODS
from dbsim.dedupe.results import COPIES, FULL_LIST, Duplicates
from dbsim.errors import InvalidOption
from dbsim.index import Index
from dbsim.report.differences import differing_part
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


@click.command()
@on_index
@threshold_option
@verify_option
@click.option(
    "--copies",
    type=click.Choice(COPIES),
    help="Rows with equal content: all pairs of them, or each with the first only.  "
    f"[default: all, unless the list would have more than {FULL_LIST:,} pairs]",
)
@decided_option
@json_option
def pairs(
    db: str, name: str, threshold: float | None, verify: bool | None, copies: str | None, decided: bool, as_json: bool
) -> int:
    """List all pairs of near-duplicate rows: key, key, score. Exit code 1: there are none.

    Stopped at any time, it goes on where it was.
    """
    index = opened(db).index(name)
    with progress_bar() as progress:
        found = index.pairs(threshold=threshold, verify=verify, copies=copies, decided=decided, progress=progress)
    _warn(found.warnings)
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
@on_index
@click.option(
    "--by",
    type=click.Choice(list(METHODS)),
    help="tight: every row is similar to the group's first; complete: every two rows are, by exact values; "
    "components: chains count; correlation: what all pairs say together; the others lie in between.  "
    "[default: tight, of persons correlation; complete with --delete and --mark]",
)
@threshold_option
@verify_option
@click.option("--save", metavar="NAME", help="Keep these groups under a name, beside the published ones.")
@click.option("--publish", is_flag=True, help="Show these groups in dbsim_INDEX_groups, instead of those published.")
@click.option("--csv", "csv_file", type=REPORT, help="Write a line for each row.")
@click.option("--html", "html_file", type=REPORT, help="Write a page, differences marked.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help=f"Groups shown.  [default: {PRINTED}, {ON_PAGE} on a page, all as JSON or CSV]",
)
@click.option("--delete", "delete_rows", is_flag=True, help="Delete all rows but one of each group, after asking.")
@click.option(
    "--mark",
    metavar="COLUMN",
    help="Instead, set COLUMN: true, or the key of the row that stays, which itself gets false or NULL; "
    "rows in no group are not touched.",
)
@click.option("--overwrite", is_flag=True, help="Mark although the column holds other values in these rows.")
@acting_options
@json_option
def duplicates(
    db: str,
    name: str,
    by: str | None,
    threshold: float | None,
    verify: bool | None,
    save: str | None,
    publish: bool,
    keep: str,
    csv_file: Path | None,
    html_file: Path | None,
    limit: int | None,
    as_json: bool,
    **action: Any,
) -> int:
    """Group near-duplicate rows, store the groups and report them. Exit code 1: there are none.

    dbsim_INDEX_groups shows the first groups made; others only with --publish. Nothing of yours is changed unless
    --delete or --mark says so and the question is answered with yes; these act on exact scores only.
    """
    acts = bool(action["delete_rows"] or action["mark"])
    _check(by, verify, action)
    table, page = _files(csv_file, html_file)
    index = opened(db).index(name)
    by, verify = by or ("complete" if acts else None), True if acts else verify
    with progress_bar() as progress:
        found = index.duplicates(
            by=by, threshold=threshold, verify=verify, save=save, publish=publish, progress=progress
        )
    _warn(found.warnings)
    if as_json:
        print_json_list(group.to_json() for group in islice(shown(index, found, keep, 0), limit))
    else:
        _print(index, found, keep, PRINTED if limit is None else limit)
    if table:
        with table.open() as file:
            write_csv(file, islice(shown(index, found, keep), limit))
    if page:
        with page.open() as file:
            summary, shown_groups = _summary(found, keep), ON_PAGE if limit is None else limit
            write_page(file, index, summary, len(found), shown_groups, keep, found.result)
    for written in filter(None, (table, page)):
        click.echo(f"written: {written.path}", err=as_json)
    if acts:
        act(index, {"threshold": threshold, "keep": keep}, str(by), **action)
    return 0 if len(found) else 1


def _check(by: str | None, verify: bool | None, action: dict[str, Any]) -> None:
    if action["delete_rows"] and action["mark"]:
        raise InvalidOption("give --delete or --mark, not both")
    if action["delete_rows"] and by not in (None, "complete"):
        raise InvalidOption(
            f"--delete needs groups whose rows are all alike: leave --by {by} out, or say --by complete"
        )
    if (action["delete_rows"] or action["mark"]) and verify is False:
        raise InvalidOption("--delete and --mark act on exact scores: leave --no-verify out")


def _print(index: Index, found: Duplicates, keep: str, limit: int) -> None:
    for group in islice(shown(index, found, keep, PRINTED_MEMBERS), limit):
        _print_group(group)
    if len(found) > limit:
        click.echo(f"… {len(found) - limit} more groups: see them with --limit, --json, --csv or --html")
    click.echo(_summary(found, keep))


def _print_group(group: Shown) -> None:
    head = f"{len(group.group.members)} rows around {_key(group.group.representative)}"
    out.print(Text.assemble((head, "bold"), (f", smallest similarity {group.group.smallest:.3f}", "dim")))
    first = group.texts[0] or ""
    for hit, stays, text in zip(group.group.members, group.stays, group.texts, strict=False):
        words = "(deleted)" if text is None else differing_part(first, text, group.analyser, TEXT)
        mark = ("stays ", "green") if stays else ("      ", "")
        line = Text.assemble("  ", mark, f"{hit.score:.3f}  ", _key(hit.key), "  ", (words, "dim"))
        out.print(line, no_wrap=True, overflow="ellipsis", soft_wrap=False)
    if len(group.group.members) > len(group.texts):
        out.print(Text(f"  … {len(group.group.members) - len(group.texts)} more rows", style="dim"))


def _summary(found: Duplicates, keep: str) -> str:
    if not len(found):
        return "no near-duplicates found"
    stays = f"the {keep} row" if keep in CHOICES else f"the row with the highest {keep}"
    groups = "1 group" if len(found) == 1 else f"{len(found)} groups"
    return f"{groups} of {found.rows} rows; if {stays} of each stays, {found.rows - len(found)} can go"


def _files(csv_file: Path | None, html_file: Path | None) -> tuple[ReportFile | None, ReportFile | None]:
    """Refused before the work if they are other files."""
    table = None if csv_file is None else ReportFile(csv_file, first_line(COLUMNS))
    page = None if html_file is None else ReportFile(html_file)
    for file in filter(None, (table, page)):
        file.check()
    return table, page


def _warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        err.print(Text(warning, style="yellow"), soft_wrap=True)


def _key(key: Any) -> str:
    return json.dumps(key, ensure_ascii=False, default=str) if isinstance(key, dict) else str(key)


COMMANDS = (pairs, duplicates)

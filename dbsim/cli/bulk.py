"""dbsim bulk duplicates, pairs, dedupe: files instead of a database."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from dbsim.cli.common import err, opened, print_json_list, progress_bar, verify_option
from dbsim.cli.index.options import index_options, take_fields
from dbsim.dedupe.kernels.grouping.registry import METHODS
from dbsim.errors import DbsimError, InvalidOption
from dbsim.options import IndexOptions, require_positive

PRINTED = 20  # lines on the terminal


@click.group()
def bulk() -> None:
    """Near-duplicates of files, without a database: needs `pip install 'dbsim[bulk]'`.

    IN is a .parquet, .csv, .tsv or .jsonl file, or several of one kind.
    """


def bulk_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What all three take."""
    command = index_options(required=False)(command)
    for option in (
        click.option("--workers", type=int, help="Processes that sign.  [default: the cores, at most 4]"),
        verify_option,
        click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help=".parquet, .csv, .tsv or .jsonl."),
        click.option(
            "--options-from",
            nargs=2,
            metavar="DB INDEX",
            help="Compare as this index does, with its secret: its very groups and scores come out.",
        ),
        click.option(
            "--key", "key", multiple=True, help="Column that tells rows apart; repeat it.  [default: the line]"
        ),
        click.argument("source", metavar="IN…", nargs=-1, required=True, type=click.Path(path_type=Path)),
    ):
        command = option(command)
    return command


by_option = click.option(
    "--by", type=click.Choice(list(METHODS)), default="tight", show_default=True, help="How to group."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@bulk.command()
@bulk_options
@by_option
@json_option
def duplicates(out: Path | None, as_json: bool, **given: Any) -> int:
    """Group near-duplicate rows: key, group, score, diameter, representative. Exit code 1: there are none.

    The columns are those of the view dbsim_INDEX_groups.
    """
    groups = _run("duplicates", **given)
    found = f"{len(groups)} groups of {groups.rows} rows"
    return _show(groups, out, as_json, found if len(groups) else "no near-duplicates found")


@bulk.command()
@bulk_options
@json_option
def pairs(out: Path | None, as_json: bool, **given: Any) -> int:
    """List all pairs of near-duplicate rows: a, b, score. Exit code 1: there are none."""
    found = _run("pairs", **given)
    return _show(found, out, as_json, f"{len(found)} pairs" if len(found) else "no near-duplicates found")


@bulk.command()
@bulk_options
@by_option
def dedupe(out: Path | None, **given: Any) -> int:
    """Write the rows that stay when only the first of each group is kept, with all their columns."""
    if out is None:
        raise InvalidOption("say where the rows that stay are written to: --out FILE")
    kept = _run("dedupe", **given)
    rows = kept.write(out)
    click.echo(f"written: {out}; {rows} rows stay, {kept.removed} near-duplicates are left out", err=True)
    return 0


def _run(
    verb: str,
    source: tuple[Path, ...],
    columns: tuple[str, ...],
    options_from: tuple[str, str] | None,
    threshold: float | None,
    key: tuple[str, ...],
    workers: int | None,
    verify: bool | None,
    **given: Any,
) -> Any:
    how = {"by": given.pop("by")} if "by" in given else {}
    options, secret = _options(columns, options_from, threshold, given)
    module = _module()
    with progress_bar() as progress:
        found = getattr(module, verb)(
            source[0] if len(source) == 1 else list(source),
            options=options,
            secret=secret,
            key=key,
            threshold=threshold,
            verify=verify,
            workers=workers,
            progress=progress,
            **how,
        )
    if found.limited:
        err.print(
            f"[yellow]{found.limited.buckets} buckets held up to {found.limited.largest} contents and were not "
            f"compared all with all: pairs may be missing there"
        )
    return found


def _options(
    columns: tuple[str, ...], options_from: tuple[str, str] | None, threshold: float | None, given: dict[str, Any]
) -> tuple[IndexOptions, bytes | None]:
    chosen = [name for name, value in {**given, "column": columns}.items() if value]
    if options_from is not None:
        if chosen:
            raise InvalidOption(f"--options-from brings its own {', '.join(chosen)}: leave these options out")
        index = opened(options_from[0]).index(options_from[1])
        return index.options, index.secret
    if not columns:
        raise InvalidOption("name the text with --column, or an index to compare as with --options-from DB INDEX")
    require_positive(rows=given["rows"], keys=given["keys"])
    fields = take_fields(columns, given)
    named = {name: value for name, value in given.items() if value is not None}
    if threshold is not None:
        named["threshold"] = threshold
    return IndexOptions(name="bulk", table="bulk", fields=tuple(fields), **named), None


def _module() -> ModuleType:
    """Loaded for these commands only: pyarrow is an extra."""
    try:
        return importlib.import_module("dbsim.bulk")
    except ImportError as error:
        raise DbsimError("bulk needs pyarrow: install it with `pip install 'dbsim[bulk]'`") from error


def _show(found: Any, out: Path | None, as_json: bool, summary: str) -> int:
    if out is not None:
        found.write(out)
        click.echo(f"written: {out}; {summary}", err=True)
    elif as_json:
        print_json_list(_rows(found))
    else:
        for row in islice(_rows(found), PRINTED):
            click.echo("\t".join(f"{value:.6f}" if isinstance(value, float) else str(value) for value in row.values()))
        click.echo(summary + ("; all of them with --out or --json" if len(found) > PRINTED else ""), err=True)
    return 0 if len(found) else 1


def _rows(found: Any) -> Iterator[dict[str, Any]]:
    return (row for batch in found for row in batch.to_pylist())


COMMANDS = (bulk,)

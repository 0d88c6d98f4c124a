"""dbsim tune: measure settings on a sample of the table."""

from __future__ import annotations

from pathlib import Path

import click
from rich.measure import Measurement
from rich.table import Table

from dbsim.cli.common import json_option, on_index, opened, out, print_json, progress_bar, then
from dbsim.evaluate.tune import Measured, TuneReport
from dbsim.options import IndexOptions
from dbsim.report import tuning
from dbsim.report.files import ReportFile

ANY_WIDTH = 1000  # columns: wider than the table, so that its own width is measured


@click.command()
@on_index
@click.option("--family", "families", multiple=True, help="Measure this family; repeat it.  [default: the index's own]")
@click.option("--threshold", type=float, help="Similarity from which pairs must be found.  [default: the index's own]")
@click.option("--recall", type=float, help="Share of them to find.  [default: the index's own]")
@click.option("--sample", type=int, default=2000, show_default=True, help="Rows of the table to measure with.")
@click.option("--probes", type=int, default=0, help="Neighbouring buckets looked into.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write the picture to this .svg file.")
@json_option
def tune(db: str, name: str, families: tuple[str, ...], plot: Path | None, as_json: bool, **options: float) -> int:
    """Measure recall, rows ranked and cost of a grid of settings on a sample of the table, and recommend one.

    Exit code 1: no setting reaches the recall.
    """
    picture = None if plot is None else ReportFile(plot)
    if picture is not None:
        picture.check()
    index = opened(db).index(name)
    with progress_bar() as progress:
        report = index.tune(families=families or None, progress=progress, **options)  # type: ignore[arg-type]
    if picture is not None:
        picture.write(tuning.svg(report))
    if as_json:
        print_json(report.to_json())
    else:
        _show(report, index.options)
    return 0 if report.best else 1


def _show(report: TuneReport, present: IndexOptions) -> None:
    click.echo(
        f"measured on {report.sample} of {report.table_rows} rows and {report.shown.pairs} pairs from "
        f"{report.threshold:g}, wanted recall {report.recall:g}; ranked: rows a search of the whole table ranks, "
        f"lookups: in B-trees, µs: to hash a text, B: bytes of keys a row"
    )
    table = _table(report)
    if Measurement.get(out, out.options.update(width=ANY_WIDTH), table).maximum <= out.width:
        out.print(table)
    else:
        for one in report.settings:
            click.echo(f"{'*' if one is report.best else '-'} {_line(one)}")
    click.echo()
    click.echo(tuning.terminal(report, out.width))
    click.echo()
    click.echo(_recommended(report.best, present))


def _recommended(best: Measured | None, present: IndexOptions) -> str:
    if best is None:
        return "no setting reaches the recall: lower the threshold or the recall, or try another --family"
    found = f"(recall {best.recall:.3f}, {best.ranked:.1f} rows ranked)"
    if (best.family, best.rows, best.keys) == (present.family, present.rows, present.keys):
        return f"recommended: the index as it is {found}"
    given = f"--family {best.family}" + ("" if best.promised is None else f" --rows {best.rows} --keys {best.keys}")
    return f"recommended: {then('alter')} {given} {found}"


def _line(one: Measured) -> str:
    """A setting in words, for a terminal that is too narrow for the table."""
    formula = "" if one.promised is None else f" (formula {one.promised:.3f})"
    return (
        f"{one.family}, {one.keys} keys of {one.rows} values: recall {one.recall:.3f}{formula}, "
        f"{one.ranked:.1f} ranked, {one.lookups} lookups, {one.microseconds:.0f} µs, {one.bytes} B"
    )


def _table(report: TuneReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("family")
    for heading in ("rows", "keys", "recall", "formula", "ranked", "lookups", "µs", "B"):
        table.add_column(heading, justify="right")
    for one in report.settings:
        table.add_row(
            one.family,
            f"{one.rows}",
            f"{one.keys}",
            f"{one.recall:.3f}",
            "" if one.promised is None else f"{one.promised:.3f}",
            f"{one.ranked:.1f}",
            f"{one.lookups}",
            f"{one.microseconds:.0f}",
            f"{one.bytes}",
            style="bold green" if one is report.best else "",
        )
    return table


COMMANDS = (tune,)

"""dbsim evaluate: what an index finds, against brute force."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table

from dbsim.cli.common import json_option, on_index, opened, out, print_json, progress_bar
from dbsim.evaluate.figures import EvaluateReport
from dbsim.report.evaluation import evaluation_page, interval, summary
from dbsim.report.files import ReportFile


@click.command()
@on_index
@click.option("--sample", type=int, default=1000, show_default=True, help="Rows of the table to ask with.")
@click.option(
    "--truth",
    metavar="COLUMN",
    help="Column with labels: rows with equal ones are duplicates; or `decisions`, what people decided.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another number draws other rows.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page with plots to this file.")
@json_option
def evaluate(db: str, name: str, sample: int, truth: str | None, seed: int, html: Path | None, as_json: bool) -> int:
    """Compare what the index finds for sampled rows with every row of the table.

    Recall at every similarity, precision, candidates a query, error of the score, bucket sizes and times, with
    confidence intervals. Exit code 1: the index does not keep its promise.
    """
    page = None if html is None else ReportFile(html)
    if page is not None:
        page.check()
    index = opened(db).index(name)
    with progress_bar() as progress:
        report = index.evaluate(sample=sample, truth=truth, seed=seed, progress=progress)
    if page is not None:
        page.write(evaluation_page(report))
    if as_json:
        print_json(report.to_json())
    else:
        _show(report)
    return 1 if report.problems else 0


def _show(report: EvaluateReport) -> None:
    click.echo(
        f"{report.queries} of {report.table_rows} rows asked, {report.family}, {report.measure} similarity from "
        f"{report.threshold:g}; brackets: 95 % confidence"
    )
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for row in summary(report):
        table.add_row(*row)
    out.print(table, markup=False)
    curve = Table(box=None, pad_edge=False)
    for heading in ("similarity from", "pairs", "in a common bucket"):
        curve.add_column(heading, justify="right")
    for one in report.curve:
        curve.add_row(f"{one.threshold:.2f}", f"{one.pairs}", interval(one.recall))
    click.echo()
    out.print(curve, markup=False)
    for problem in report.problems:
        click.echo(f"\n{problem}")


COMMANDS = (evaluate,)

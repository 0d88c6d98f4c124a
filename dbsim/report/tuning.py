"""What `tune` measured, drawn: TuneReport → an SVG picture, or lines of text for a terminal."""

from __future__ import annotations

from dbsim.evaluate.tune import TuneReport
from dbsim.report import plot
from dbsim.report.plot import Series

SHARE = "share of pairs found"


def svg(report: TuneReport) -> str:
    one = report.shown
    title = f"{one.family}, {one.keys} keys of {one.rows} values"
    return plot.svg(_series(report), title=title, x=f"{one.measure} similarity", y=SHARE)


def terminal(report: TuneReport, columns: int = 100) -> str:
    """As wide as fits into so many columns, at most 60 and the labels."""
    x = f"{report.shown.measure} similarity"
    beside = columns >= plot.SIGNS + plot.MARGIN + len(x)
    width = plot.SIGNS if beside else max(min(plot.SIGNS, columns - plot.MARGIN), 10)
    return plot.terminal(_series(report), x=x, y=SHARE, width=width, below=not beside)


def _series(report: TuneReport) -> list[Series]:
    one = report.shown
    curve = [Series("formula", one.curve)] if one.curve else []
    return [*curve, Series("measured", one.points, line=False)]

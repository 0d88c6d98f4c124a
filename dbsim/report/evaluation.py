"""An evaluation as one HTML page without scripts, with plots, for any screen: EvaluateReport → text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from dbsim.evaluate.decided import DECISIONS
from dbsim.evaluate.figures import Answers, EvaluateReport
from dbsim.evaluate.intervals import Interval
from dbsim.report.files import MARK
from dbsim.report.plot import Axis, Series, axis_for, svg

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 62rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin: 0; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
.note { opacity: .75; margin: .2rem 0; } .wrong { border-left: 4px solid #d44; padding: .1rem .7rem; margin: .6rem 0; }
.plots { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.plots svg { width: 100%; height: auto; border-radius: .4rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
td, th { text-align: right; padding: .15rem .3rem; border-bottom: 1px solid #8884; }
td:first-child, th:first-child { text-align: left; }
.scroll { overflow-x: auto; } .curve { font-size: .875rem; } .curve td { white-space: nowrap; padding: .15rem; }
"""
Rows = Sequence[Sequence[str]]


def evaluation_page(report: EvaluateReport) -> str:
    return "".join(_parts(report))


def _parts(report: EvaluateReport) -> Iterator[str]:
    title = f"Index {report.index}"
    yield f'<!doctype html><!-- {MARK} --><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{STYLE}</style><h1>{escape(title)}</h1>"
    yield f'<p class="note">{escape(report.family)}, {report.measure} similarity from {report.threshold:g}; '
    yield f"{report.queries:,} sampled rows compared with all {report.table_rows:,}. Brackets: 95 % confidence.</p>"
    for problem in report.problems:
        yield f'<p class="wrong">{escape(problem)}</p>'
    yield _table(("", "measured"), summary(report))
    yield '<h2>Recall</h2><div class="plots">'
    yield recall_plot(report)
    yield bucket_plot(report)
    yield "</div>"
    rows = [(f"{one.threshold:.2f}", f"{one.pairs:,}", interval(one.recall)) for one in report.curve]
    yield f'<div class="curve">{_table(("similarity from", "pairs", "share in a common bucket"), rows)}</div>'
    yield "</html>\n"


def summary(report: EvaluateReport) -> list[tuple[str, str]]:
    """The figures in words, for the page and the terminal."""
    promised = "" if report.promised is None else f", promised {report.promised:.3f}"
    rows = [
        (f"recall of buckets at {report.threshold:g}", interval(report.at_threshold) + promised),
        *_answers("searches", report.answers),
        ("rows that find themselves", interval(report.own)),
        ("candidates a query", interval(report.candidates, 1)),
        ("of them similar enough", interval(report.candidate_precision)),
        ("rows of the table a candidate", f"{report.speed_up:,.0f}"),
    ]
    if report.score is not None:
        rows.append(
            ("score minus exact similarity", f"{interval(report.score.bias, 4)}, rms {report.score.deviation:.4f}")
        )
    median, most = report.milliseconds
    rows.append(
        (
            "time of a search",
            f"{median:.2f} ms, 95 %: {most:.2f} ms (full comparison {report.scan_milliseconds:.0f} ms)",
        )
    )
    rows.append(("largest bucket", f"{report.buckets.largest:,} rows"))
    for one in report.words:
        rows.append(
            (f"rows read in vain for a word of {one.field}", f"{interval(one.rate, 4)}, asked for {one.asked:g}")
        )
    if report.truth is not None:
        truth = report.truth
        rows += _answers(f"against {truth.column}", truth.answers)
        if truth.best_threshold is not None:
            threshold, quality = truth.best_threshold
            rows.append(("threshold that divides them best", f"{threshold:.3f} (F1 {quality:.3f})"))
        if truth.best_weights is not None:
            best = truth.best_weights
            weights = ", ".join(f"{name}:{weight:g}" for name, weight in best.weights.items())
            rows.append(("weights that do", f"{weights} from {best.threshold:.3f} on (F1 {best.quality:.3f})"))
        grouped = (("pairs in groups", truth.groups), ("groups, B-cubed", truth.groups_bcubed))
        for name, found in grouped if truth.column != DECISIONS else ():
            if found is None:
                rows.append((f"{name} against {truth.column}", "no groups are stored: run `dbsim duplicates` first"))
            else:
                said = f"precision {found.precision:.3f}, recall {found.recall:.3f}, F1 {found.f1:.3f}"
                rows.append((f"{name} against {truth.column}", said))
    return rows


def _answers(name: str, found: Answers) -> list[tuple[str, str]]:
    return [
        (f"{name}: recall", interval(found.recall)),
        (f"{name}: precision", interval(found.precision)),
        (f"{name}: F1", "–" if math.isnan(found.f1) else f"{found.f1:.3f}"),
    ]


def interval(found: Interval, digits: int = 3) -> str:
    if math.isnan(found.value):
        return "–"
    return f"{found.value:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


def recall_plot(report: EvaluateReport) -> str:
    shown = [one for one in report.curve if one.pairs]
    series = [
        Series("measured", [(one.threshold, one.recall.value) for one in shown]),
        Series("95 % low", [(one.threshold, one.recall.low) for one in shown]),
        Series("95 % high", [(one.threshold, one.recall.high) for one in shown]),
        Series("threshold", [(report.threshold, 0.0), (report.threshold, 1.0)]),
    ]
    if report.promised is not None:
        series.append(Series("promised", [(report.threshold, report.promised)], line=False))
    return svg(
        series, title="Share of similar pairs in a common bucket", x=f"{report.measure} similarity from", y="recall"
    )


def bucket_plot(report: EvaluateReport) -> str:
    points = [(float(high), float(rows)) for _, high, _, rows in report.buckets.sizes] or [(1.0, 0.0)]
    sizes = [x for x, _ in points]
    x = axis_for("rows in the bucket, up to", [1.0, max(10.0, *sizes)], log=True)
    y = axis_for("keys in such buckets", [rows for _, rows in points] or [1.0])
    y = y if y.high > 0 else Axis(y.name)
    return svg([Series("keys", points), Series("sizes", points, line=False)], title="Bucket sizes", x=x, y=y)


def _table(headings: Sequence[str], rows: Rows) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'

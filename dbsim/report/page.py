"""The report as one HTML page without scripts: the largest groups first, members side by side, differences marked."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, TextIO

from dbsim.dedupe.people.browse import Browser
from dbsim.dedupe.people.group_pages import Filter, Summary
from dbsim.index import Index
from dbsim.options import describe_columns
from dbsim.report.files import MARK
from dbsim.report.marks import analysers_of
from dbsim.report.templating import environment, stylesheet
from dbsim.tables.group_tables import PUBLISHED

MEMBERS = 12  # shown of a group
BATCH = 100  # groups read at once


def write_page(
    file: TextIO, index: Index, summary: str, total: int, limit: int, keep: str, result: str = PUBLISHED
) -> int:
    """The number of groups on the page; `total` are stored."""
    templates = environment()
    file.write(templates.get_template("report.html").render(**_head(index, summary, total, limit)))
    template, count, analysers = templates.get_template("report_group.html"), 0, analysers_of(index.options)
    for count, (group, members) in enumerate(_groups(index, limit, keep, result), 1):  # noqa: B007
        more = group.rows - len(members)
        file.write(template.render(group=group, members=members, more=more, analysers=analysers))
    file.write("</main></body></html>\n")
    return count


def _head(index: Index, summary: str, total: int, limit: int) -> dict[str, Any]:
    options = index.options
    which = f"The {limit:,} largest of {total:,} groups are on this page" if limit < total else "The largest come first"
    return {
        "mark": MARK,
        "title": f"Near-duplicates of {options.table}",
        "style": stylesheet(),
        "index": index.name,
        "table": options.table,
        "columns": describe_columns(options.fields),
        "measure": "probability" if options.hashing.rarity else "similarity",
        "threshold": f"{options.threshold:g}",
        "date": datetime.datetime.now().strftime("%d %B %Y, %H:%M").lstrip("0"),
        "summary": summary,
        "shown": f"{which}{': raise --limit to see more' if limit < total else ''}." if total else "",
    }


def _groups(index: Index, limit: int, keep: str, result: str) -> Iterator[tuple[Summary, list[dict[str, Any]]]]:
    view, after = Browser(index.context, result), None
    left = limit
    while left > 0:
        place, size = after, min(BATCH, left)
        found = index.context.read(lambda c: view.page(c, Filter(), "size", place, size))  # noqa: B023
        kept = index.kept([group.id for group in found], result=result, keep=keep) if found else set()
        for group in found:
            members = index.context.read(lambda c: view.members(c, group.id, MEMBERS))  # noqa: B023
            rows = index.rows([key for key, _ in members])
            yield (
                group,
                [
                    {"key": key, "score": score, "stays": index.key(key) in kept, "row": row}
                    for (key, score), row in zip(members, rows, strict=True)
                ],
            )
        if len(found) < size:
            return
        after, left = (float(found[-1].rows), found[-1].id), left - size

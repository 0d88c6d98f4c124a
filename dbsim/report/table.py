"""Tables as CSV for spreadsheets: groups with a line for each row; cells that would be read as formulas are defused."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from dbsim.report.rows import Shown

TEXT = 200  # characters shown
COLUMNS = ("group", "representative", "diameter", "key", "score", "keep", "text")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write_csv(file: TextIO, groups: Iterable[Shown]) -> int:
    """The number of groups written."""
    count = 0

    def rows() -> Iterator[Sequence[Any]]:
        nonlocal count
        for shown in groups:
            yield from _rows(shown)
            count += 1

    write_rows(file, COLUMNS, rows())
    return count


def write_rows(file: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows([defused(value) for value in row] for row in rows)


def first_line(columns: Sequence[str]) -> str:
    """By which a table that dbsim wrote is known."""
    return ",".join(columns)


def defused(value: Any) -> Any:
    """A text that a spreadsheet would calculate gets an apostrophe, which it takes as "this is text"; numbers stay."""
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False, default=str)
    if value is None or isinstance(value, int | float):
        return value
    text = str(value)
    return "'" + text if text.startswith(FORMULA) else text


def _rows(shown: Shown) -> Iterator[Sequence[Any]]:
    group = shown.group
    head = (group.id, group.representative, f"{group.diameter:.6f}")
    for hit, stays, text in zip(group.members, shown.stays, shown.texts, strict=True):
        words = " ".join((text or "").split())[:TEXT]
        yield (*head, hit.key, f"{hit.score:.6f}", "yes" if stays else "no", words)

"""The report as CSV: one line for each row of a group."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import Any, TextIO

from dbsim.report.rows import Shown

TEXT = 200  # characters shown


def write_csv(file: TextIO, groups: Iterable[Shown]) -> int:
    """The number of groups written."""
    writer = csv.writer(file)
    writer.writerow(("group", "representative", "diameter", "key", "score", "keep", "text"))
    count = 0
    for shown in groups:
        group = shown.group
        head = (group.id, _plain(group.representative), f"{group.diameter:.6f}")
        for hit, stays, text in zip(group.members, shown.stays, shown.texts, strict=True):
            words = " ".join((text or "").split())[:TEXT]
            writer.writerow((*head, _plain(hit.key), f"{hit.score:.6f}", "yes" if stays else "no", words))
        count += 1
    return count


def _plain(key: Any) -> Any:
    return json.dumps(key, ensure_ascii=False, default=str) if isinstance(key, dict) else key

"""What an experiment found: rows of claim and figure, tables and pictures → stderr, JSON and .svg files."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import corpora

console = Console(stderr=True, width=150, markup=False)


@dataclass(frozen=True)
class Finding:
    """One claim of a source beside what was measured here."""

    claim: str
    measured: str
    verdict: str  # holds, does not hold, or under which condition


@dataclass
class Outcome:
    """Of one experiment."""

    name: str
    source: str
    setting: str
    size: str
    findings: list[Finding] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    conclusion: str = ""  # in plain words, where single findings do not say it
    pictures: dict[str, str] = field(default_factory=dict)  # file name → svg
    started: float = field(default_factory=time.perf_counter)

    def say(self, claim: str, measured: str, verdict: str) -> None:
        self.findings.append(Finding(claim, measured, verdict))

    def table(self, title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Shown at once and kept for the JSON."""
        self.figures[title] = {"headings": list(headings), "rows": [list(row) for row in rows]}
        table = Table(title=title, title_justify="left")
        for number, heading in enumerate(headings):
            table.add_column(heading, justify="left" if number == 0 else "right")
        for row in rows:
            table.add_row(*(cell if isinstance(cell, str) else f"{cell:.4g}" for cell in row))
        console.print(table)

    def show(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in self.pictures.items():
            (folder / name).write_text(picture, encoding="utf-8")
        table = Table(title=f"{self.name}: {self.source}", title_justify="left")
        for heading in ("the source says", "measured here", "verdict"):
            table.add_column(heading, overflow="fold")
        for finding in self.findings:
            table.add_row(finding.claim, finding.measured, finding.verdict)
        console.print(table)
        seconds = round(time.perf_counter() - self.started, 1)
        found = {key: value for key, value in asdict(self).items() if key not in ("pictures", "started")}
        json.dump(found | {"seconds": seconds, "data": corpora.origin()}, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")

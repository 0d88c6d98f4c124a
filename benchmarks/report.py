"""Measured figures beside their targets: a table on stderr, the same as JSON on stdout."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import sys
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import corpora, neighbours

PACKAGES = ("dbsim", "numpy", "sqlalchemy", "psycopg", "datasketch", "rensa", "splink", "sqlite-utils")
NOT_INSTALLED = 3  # exit code of a benchmark that cannot run without its peer
console = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 160)


@dataclass(frozen=True)
class Target:
    """What the issue asks for: `of` "ratio" (dbsim ÷ peer) or "value"."""

    sign: str
    number: float
    of: str = "ratio"

    def __str__(self) -> str:
        return f"{self.sign} {self.number:g}" + (" ×" if self.of == "ratio" else "")

    def met(self, value: float) -> bool:
        return value >= self.number if self.sign == "≥" else value <= self.number


@dataclass(frozen=True)
class Figure:
    """One measurement, with the peer's in the same run where there is one."""

    what: str
    value: float
    unit: str
    peer: str = ""
    peer_value: float | None = None
    ratio: float | None = None
    target: str = ""
    met: bool | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        return "" if self.met is None else "met" if self.met else "missed"


@dataclass
class Report:
    """Everything one run found out."""

    benchmark: str
    sizes: dict[str, Any]
    figures: list[Figure] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    busy_before: float = field(default_factory=neighbours.busy)

    def add(
        self,
        what: str,
        value: float,
        unit: str,
        *,
        peer: str = "",
        peer_value: float | None = None,
        target: Target | None = None,
        note: str = "",
    ) -> None:
        value = float(value)  # numpy's own cannot be written as JSON
        ratio = value / peer_value if peer_value else None
        judged = ratio if target and target.of == "ratio" else value
        met = target.met(judged) if target and judged is not None else None
        figure = Figure(what, value, unit, peer, peer_value, ratio, str(target or ""), met, note)
        self.figures.append(figure)
        beside = f"  {peer} {number(peer_value)}, ratio {number(ratio)}" if peer else ""
        console.print(f"  {what}: {number(value)} {unit}{beside}  {figure.target} {figure.verdict}")

    def show(self) -> None:
        console.print(self._table())
        json.dump(self.to_json(), sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")

    def to_json(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "machine": machine() | {"busy_before": self.busy_before},
            "versions": versions() | self.versions,
            "data": corpora.origin(),
            "sizes": self.sizes,
            "figures": [asdict(figure) | {"verdict": figure.verdict} for figure in self.figures],
        }

    def _table(self) -> Table:
        table = Table(title=f"{self.benchmark} ({corpora.origin()})", title_justify="left")
        for heading in ("measured", "dbsim", "unit", "beside", "value", "ratio", "target", "", "note"):
            table.add_column(heading, justify="right" if heading in ("dbsim", "value", "ratio") else "left")
        for figure in self.figures:
            colour = {"met": "green", "missed": "red"}.get(figure.verdict, "white")
            table.add_row(
                figure.what,
                number(figure.value),
                figure.unit,
                figure.peer,
                number(figure.peer_value),
                number(figure.ratio),
                figure.target,
                f"[{colour}]{figure.verdict}",
                figure.note,
            )
        return table


def number(value: float | None) -> str:
    """Three significant digits, thousands whole."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def machine() -> dict[str, Any]:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "used": len(neighbours.cores()),
        "memory_gb": round(pages / 2**30, 1),
        "system": platform.platform(),
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{package: installed(package) or "not installed" for package in PACKAGES},
    }


def installed(package: str) -> str | None:
    """Its version; None when what would be measured beside dbsim is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None

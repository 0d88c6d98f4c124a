"""All benchmarks one after another, each in its own process: names → Outcomes → one page of Markdown."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.report import NOT_INSTALLED, console, number

GRACE = 30  # seconds from SIGTERM until it is killed: time to stop its PostgreSQL and remove its files
BUSY = 0.25  # of the cores it may use, before it began; above it times say more about the neighbours
HEADINGS = ("measured", "dbsim", "unit", "beside", "value", "ratio", "bar", "", "note")


@dataclass(frozen=True)
class Outcome:
    """What one process left: its JSON report, or a sentence why there is none."""

    name: str
    seconds: float
    report: dict[str, Any] | None = None
    problem: str = ""
    ended: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")

    @property
    def busy(self) -> bool:
        """Whether others were at work when it began."""
        machine = (self.report or {}).get("machine")
        return bool(machine) and machine["busy_before"] > BUSY

    def count(self, verdict: str) -> int:
        return sum(figure["verdict"] == verdict for figure in (self.report or {}).get("figures", ()))


def run(names: Sequence[str], size: str, limit: float, kept: Path | None = None) -> list[Outcome]:
    """In a folder of kept reports, those that are there are taken: hours of measuring need not be one sitting."""
    outcomes = []
    for name in names:
        console.rule(name)
        file = kept / f"{name}-{size}.json" if kept else None
        outcomes.append(_kept(file) or run_one([sys.executable, "-m", "benchmarks", name, "--size", size], name, limit))
        if file and outcomes[-1].report:
            file.write_text(json.dumps(asdict(outcomes[-1]), ensure_ascii=False), encoding="utf-8")
        console.print(outcomes[-1].problem or f"{name}: {outcomes[-1].seconds:.0f} s")
    return outcomes


def _kept(file: Path | None) -> Outcome | None:
    return Outcome(**json.loads(file.read_text(encoding="utf-8"))) if file and file.exists() else None


def run_one(command: Sequence[str], name: str, limit: float) -> Outcome:
    """Its report; output goes to files, for a full pipe would stop the child."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        ended = _ended(subprocess.Popen(command, stdout=out, stderr=err), limit)
        taken = time.monotonic() - start
        printed, said = (_text(file) for file in (out, err))
    if not ended:
        return Outcome(name, taken, problem=f"stopped after {limit / 60:g} minutes, the time limit")
    code, lines = ended[0], [line for line in said.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "no message"
    if code == NOT_INSTALLED:
        return Outcome(name, taken, problem=f"not run: {last.removeprefix('Error: ')}")
    if code:
        return Outcome(name, taken, problem=f"failed with exit code {code}: {last}")
    return Outcome(name, taken, json.loads(printed))


def _ended(process: subprocess.Popen[bytes], limit: float) -> tuple[int] | None:
    """Its exit code; None when it had to be stopped."""
    try:
        return (process.wait(limit),)
    except subprocess.TimeoutExpired:
        process.terminate()  # see __main__: it ends as by sys.exit
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return None
    except KeyboardInterrupt:  # the terminal sent it to the child as well
        process.wait()
        raise


def _text(file: Any) -> str:
    file.seek(0)
    return str(file.read())


# ── the page ──
def page(outcomes: Sequence[Outcome], about: Mapping[str, str], size: str) -> str:
    """Date, versions and machine, a summary, a table a benchmark."""
    parts = [
        "# Benchmarks\n",
        f"Written by `python -m benchmarks all --size {size}` on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC; not edited by "
        "hand. A bar with × is on the ratio to what stands beside it, others on the value. Bars are those of the "
        "modules in this folder; a figure without one is for information. With `--keep` sections may be of several "
        "sittings, each with its date, and of some parts of their benchmark only.\n",
        *_circumstances(outcomes),
        _summary(outcomes, about),
        *(_section(one, about) for one in outcomes),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _circumstances(outcomes: Sequence[Outcome]) -> list[str]:
    reports = [one.report for one in outcomes if one.report]
    if not reports:
        return []
    machine = reports[0]["machine"]
    versions: dict[str, str] = {}
    for report in reports:
        versions |= report["versions"]
    lines = [
        f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}. "
        f"Data: {reports[0]['data']}.\n",
        f"Versions: {', '.join(f'{name} {version}' for name, version in versions.items())}.\n",
    ]
    if busy := [one.name for one in outcomes if one.busy]:
        lines.append(
            f"**The machine was busy** before {', '.join(busy)} began: times and rates there are no valid measurement; "
            "recall, precision and counts are.\n"
        )
    return lines


def _summary(outcomes: Sequence[Outcome], about: Mapping[str, str]) -> str:
    lines = ["| benchmark | met | missed | |", "|---|--:|--:|---|"]
    for one in outcomes:
        state = one.problem or ("" if one.count("met") + one.count("missed") else "no bars at this size")
        lines.append(f"| [{one.name}](#{one.name}) | {one.count('met')} | {one.count('missed')} | {_cell(state)} |")
    absent = [name for name in about if name not in {one.name for one in outcomes}]
    lines += [f"\nNot asked for in this run: {', '.join(absent)}."] if absent else []
    return "\n".join(lines) + "\n"


def _section(one: Outcome, about: Mapping[str, str]) -> str:
    lines = [f"## {one.name}\n", f"{about[one.name]}\n"]
    if one.report is None:
        return "\n".join([*lines, f"{one.problem[:1].upper()}{one.problem[1:]}.\n"])
    sizes = ", ".join(f"{name} {value}" for name, value in one.report["sizes"].items())
    machine = one.report["machine"]
    where = f"{machine['used']} of {machine['cores']} cores, {machine['busy_before']:.0%} busy before"
    lines += [f"Sizes: {sizes}. Ended {one.ended} after {one.seconds:.0f} s; on {where}.\n"]
    lines += ["| " + " | ".join(HEADINGS) + " |", "|---|--:|---|---|--:|--:|---|---|---|"]
    lines += ["| " + " | ".join(map(_cell, _row(figure))) + " |" for figure in one.report["figures"]]
    return "\n".join(lines) + "\n"


def _row(figure: Mapping[str, Any]) -> tuple[str, ...]:
    verdict = {"met": "met", "missed": "**missed**"}.get(figure["verdict"], "")
    numbers = (number(figure["peer_value"]), number(figure["ratio"]))
    return (
        figure["what"],
        number(figure["value"]),
        figure["unit"],
        figure["peer"],
        *numbers,
        figure["target"],
        verdict,
        figure["note"],
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

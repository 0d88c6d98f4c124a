"""CPU time of the shortest things one does with dbsim: `dbsim --version`, `import dbsim`; beside sqlite-utils."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.report import Report, Target, console, installed

RUNS = {"small": 5, "medium": 11, "full": 31}
BARS = {"version": Target("≤", 0.15, "value"), "import": Target("≤", 0.25, "value")}
PARTS = ("version", "import", "open")
PEER = "sqlite-utils"


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    runs = RUNS[size]
    report = Report("startup", {"runs": runs})
    python = [sys.executable, "-c"]
    commands = {
        "version": [_script("dbsim"), "--version"],
        "import": [*python, "import dbsim"],
        "open": [*python, "import dbsim; dbsim.open"],  # names are imported when they are used: this is the rest
    }
    console.print(f"{runs} runs each, CPU seconds of the whole process (user and system), the median")
    report.add("python alone", cpu_seconds([sys.executable, "-c", "pass"], runs), "s of CPU")
    for part in parts:
        what = {"version": "dbsim --version", "import": "import dbsim", "open": "import dbsim; dbsim.open"}[part]
        beside, value, note = _peer(runs) if part == "version" else ("", None, "")
        taken = cpu_seconds(commands[part], runs)
        report.add(what, taken, "s of CPU", peer=beside, peer_value=value, target=BARS.get(part), note=note)
    return report


def _peer(runs: int) -> tuple[str, float | None, str]:
    if not installed(PEER):
        return "", None, f"{PEER} is not installed"
    return f"{PEER} --version", cpu_seconds([_script(PEER), "--version"], runs), ""


def _script(name: str) -> str:
    """The command that pip put beside this Python."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        raise SystemExit(
            f"there is no {path}: install the project into this environment, pip install -e '.[benchmark]'"
        )
    return str(path)


def cpu_seconds(command: Sequence[str], runs: int) -> float:
    """The median of some runs, after one that compiles modules and fills the file cache."""
    return float(np.median([_cpu(command) for _ in range(runs + 1)][1:]))


def _cpu(command: Sequence[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime

"""`python -m benchmarks all`: a benchmark that fails, lacks its peer or takes too long; and the page."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks import everything
from benchmarks.__main__ import BENCHMARKS, cli
from benchmarks.everything import Outcome, page, run_one
from benchmarks.report import NOT_INSTALLED, Report, Target


def python(code: str, limit: float = 60) -> Outcome:
    return run_one([sys.executable, "-c", code], "startup", limit)


def report() -> dict[str, Any]:
    made = Report("startup", {"runs": 1})
    made.add("fast", 1.0, "s", target=Target("≤", 2, "value"))
    made.add("slow | piped", 3.0, "s", peer="other", peer_value=1.0, target=Target("≤", 2))
    return made.to_json()


def test_a_report_is_read_whatever_else_is_printed_on_stderr() -> None:
    found = python("import sys; sys.stderr.write('x' * 10**6); print('{\"figures\": []}')")
    assert found.report == {"figures": []}
    assert not found.problem


def test_failure_missing_peer_and_time_limit_are_told_apart() -> None:
    assert python("raise SystemExit('no disk')").problem == "failed with exit code 1: no disk"
    missing = f"import sys; print('Error: rensa is not installed', file=sys.stderr); sys.exit({NOT_INSTALLED})"
    assert python(missing).problem == "not run: rensa is not installed"
    slow = python("import time; time.sleep(60)", limit=0.5)
    assert slow.problem.startswith("stopped after")


def test_the_page_says_what_is_met_missed_and_not_measured() -> None:
    outcomes = [Outcome("startup", 2.0, report()), Outcome("index", 1.0, problem="not run: rensa is not installed")]
    made = page(outcomes, BENCHMARKS, "small")
    assert "| [startup](#startup) | 1 | 1 |  |" in made
    assert "| [index](#index) | 0 | 0 | not run: rensa is not installed |" in made
    assert "slow \\| piped | 3 | s | other | 1 | 3 | ≤ 2 × | **missed** |" in made
    assert "Not asked for in this run: search," in made


def test_a_busy_machine_is_named() -> None:
    busy = report()
    busy["machine"] |= {"cores": 2, "used": 1, "busy_before": 0.8}
    idle = report()
    idle["machine"] |= {"cores": 2, "used": 1, "busy_before": 0.02}
    one = Outcome("startup", 2.0, busy)
    made = page([one], BENCHMARKS, "small")
    assert "The machine was busy" in made
    assert "on 1 of 2 cores, 80% busy before." in made
    assert "The machine was busy" not in page([replace(one, report=idle)], BENCHMARKS, "small")


def test_kept_reports_are_taken_and_new_ones_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run_one(command: list[str], name: str, limit: float) -> Outcome:
        asked.append(name)
        return Outcome(name, 1.0, report()) if name == "startup" else Outcome(name, 1.0, problem="failed")

    monkeypatch.setattr(everything, "run_one", run_one)
    first = everything.run(["startup", "index"], "small", 60, tmp_path)
    again = everything.run(["startup", "index"], "small", 60, tmp_path)
    assert asked == ["startup", "index", "index"]  # what failed is run again
    assert (again[0].ended, again[0].report["figures"]) == (first[0].ended, first[0].report["figures"])  # type: ignore[index]
    assert everything.run(["startup"], "medium", 60, tmp_path)
    assert asked[-1] == "startup"  # another size is another report


def test_help_lists_every_benchmark_without_importing_one() -> None:
    shown = CliRunner().invoke(cli, ["--help"])
    assert shown.exit_code == 0
    assert all(name in shown.output for name in (*BENCHMARKS, "all"))

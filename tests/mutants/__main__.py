"""Apply each breakage to a copy of the tree, run the tests that should fail, report how many did: exit 1 if any lived.

python -m tests.mutants                    all of them
python -m tests.mutants sqlite door        those whose file or meaning contains one of these words
python -m tests.mutants --check            only whether every text to be replaced is there exactly once
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.table import MUTANTS, Mutant
from tests.postgres_server import postgres_server

ROOT = Path(__file__).parents[2]
PARTS = ("dbsim", "sql", "migrations", "tests", "docs", "benchmarks", "tools")
FILES = ("pyproject.toml", "README.md", "alembic.ini")
LONGEST = 300  # seconds: a breakage may also make a test wait for ever, and that is noticed


def main(arguments: Sequence[str]) -> int:
    words = [word for word in arguments if not word.startswith("-")]
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant.label for word in words)]
    stale = [mutant for mutant in chosen if (ROOT / mutant.file).read_text("utf-8").count(mutant.before) != 1]
    for mutant in stale:
        print(f"STALE     {mutant.label}: the text to be replaced is not there exactly once")
    if "--check" in arguments:
        print(f"{len(chosen) - len(stale)} of {len(chosen)} breakages can be made")
        return bool(stale)
    with tempfile.TemporaryDirectory(prefix="dbsim-mutants-") as folder, postgres_server() as url:
        return run(Path(folder), url, [mutant for mutant in chosen if mutant not in stale]) or bool(stale)


def run(copy: Path, url: str, chosen: Sequence[Mutant]) -> int:
    for part in PARTS:
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        shutil.copy(ROOT / file, copy / file)
    healthy = {mutant.tests for mutant in chosen}
    sick = {tests for tests in healthy if not passes(copy, url, tests)}
    for tests in sick:
        print(f"FAILS     without any breakage: {' '.join(tests)}")
    killed, lived = 0, []
    for mutant in chosen:
        if mutant.tests in sick:
            continue
        began, file = time.monotonic(), copy / mutant.file
        whole = file.read_text("utf-8")
        file.write_text(whole.replace(mutant.before, mutant.after), "utf-8")
        survived = passes(copy, url, mutant.tests)
        file.write_text(whole, "utf-8")
        lived += [mutant] if survived else []
        killed += not survived
        print(
            f"{'SURVIVED ' if survived else 'killed   '} {mutant.label} ({time.monotonic() - began:.0f} s)", flush=True
        )
    print(f"{killed} of {killed + len(lived)} breakages were noticed")
    return bool(lived or sick)


def passes(copy: Path, url: str, tests: Sequence[str]) -> bool:
    command = [sys.executable, "-B", "-m", "pytest", "-o", "addopts=", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "DBSIM_TEST_POSTGRES_URL": url, "DBSIM_TESTS": "all"}
    # in a session of its own, so that processes of a test that hangs end with it
    process = subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(LONGEST) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Deploys that are killed, and deploys that run at the same time."""

from __future__ import annotations

import shutil
import time
from functools import partial
from itertools import count
from pathlib import Path

import pytest

import dbsim
from tests.migration.harness import deploy, dump, in_process, killed_after
from tests.migration.test_app import found, insert_articles

pytestmark = pytest.mark.long

STEPS = ("release_1", "release_2", "release_3", "down release_2", "down release_1", "base")
DEPLOYS = 20


def sync(url: str) -> None:
    database = dbsim.open(url)
    for index in database.indexes():
        index.sync()
    database.close()


def test_killed_after_every_statement(url: str) -> None:
    """A transaction does all or nothing; the same step is tried again, killed one statement later each time."""
    deploy(url, "base")
    kills = 0
    for step in STEPS:
        before, seen = dump(url), set()
        for statements in count(1):
            if killed_after(statements, partial(deploy, url, step)) == 0:
                break
            seen.add(dump(url))
            kills += 1
        after = dump(url)
        assert seen <= {before, after}
        assert before != after
        if step == "release_1":
            database = dbsim.open(url)
            insert_articles(database)
            database.close()
        if step in ("release_2", "release_3"):
            sync(url)
    print(f"{kills} deploys killed")
    assert kills > 60


@pytest.mark.parametrize("step", STEPS)
def test_killed_without_a_transaction(tmp_path: Path, step: str) -> None:
    """SQLite as most applications use it, where a killed deploy is half done: run again it ends the same."""
    start, whole, half = (tmp_path / name for name in ("start", "whole", "half"))
    start.touch()
    for earlier in STEPS[: STEPS.index(step)]:
        deploy(f"sqlite:///{start}", earlier)
        if earlier in ("release_2", "release_3"):
            sync(f"sqlite:///{start}")
    shutil.copy(start, whole)
    deploy(f"sqlite:///{whole}", step, alone=False)
    again = partial(deploy, f"sqlite:///{half}", step, alone=False)
    for statements in count(1):
        shutil.copy(start, half)
        if killed_after(statements, again) == 0:
            break
        assert in_process(again)() == 0
        assert dump(f"sqlite:///{half}") == dump(f"sqlite:///{whole}")
    print(f"{statements - 1} deploys killed")
    assert statements > 5


def test_twenty_deploys_at_once(url: str) -> None:
    begin = time.time() + 0.3

    def work() -> None:
        time.sleep(max(begin - time.time(), 0))
        deploy(url)

    ends = [in_process(work) for _ in range(DEPLOYS)]
    assert [end() for end in ends] == [0] * DEPLOYS
    together = dump(url)
    database = dbsim.open(url)
    insert_articles(database)
    sync(url)
    assert found(database) == ([2], 0.5)
    database.close()
    deploy(url, "base")
    deploy(url)
    assert dump(url) == together


def test_twenty_installs_at_once(url: str) -> None:
    """The standalone door, without any lock of the application's."""
    dbsim.open(url, create=True).close()
    begin = time.time() + 0.3

    def work() -> None:
        time.sleep(max(begin - time.time(), 0))
        database = dbsim.open(url, create=True)
        assert database.upgrade() == "0003"

    ends = [in_process(work) for _ in range(DEPLOYS)]
    assert [end() for end in ends] == [0] * DEPLOYS

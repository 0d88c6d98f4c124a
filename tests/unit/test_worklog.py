"""What a follower tells: a line a minute with all that was done since, nothing when nothing was."""

from __future__ import annotations

import logging

import pytest

from dbsim.sync import worklog
from dbsim.sync.worker import SyncReport
from dbsim.sync.worklog import WorkLog


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(worklog.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "dbsim")
    return caplog


def test_the_first_work_is_told_at_once(clock: list[float], lines: pytest.LogCaptureFixture) -> None:
    told = WorkLog("articles")
    told.add(SyncReport(idle=True))
    assert lines.messages == []
    told.add(SyncReport(filled=2, changed=3, repaired=4))
    assert lines.messages == ["index 'articles': 9 rows in 1 runs"]


def test_then_a_line_a_minute_with_the_sum(clock: list[float], lines: pytest.LogCaptureFixture) -> None:
    told = WorkLog("articles")
    told.add(SyncReport(changed=1))
    for _ in range(59):
        clock[0] += 1
        told.add(SyncReport(changed=2))
    assert len(lines.messages) == 1
    clock[0] += 1
    told.add(SyncReport(changed=2))
    assert lines.messages[1:] == ["index 'articles': 120 rows in 60 runs"]


def test_runs_without_work_neither_count_nor_tell(clock: list[float], lines: pytest.LogCaptureFixture) -> None:
    told = WorkLog("articles")
    told.add(SyncReport(changed=1))
    for _ in range(5):
        clock[0] += 100
        told.add(SyncReport(idle=True))
    assert len(lines.messages) == 1


def test_the_rest_is_told_at_the_end_and_only_once(clock: list[float], lines: pytest.LogCaptureFixture) -> None:
    told = WorkLog("articles")
    told.add(SyncReport(changed=1))
    told.add(SyncReport(changed=5))
    told.tell()
    told.tell()
    assert lines.messages == ["index 'articles': 1 rows in 1 runs", "index 'articles': 5 rows in 1 runs"]


def test_a_switch_is_told_whatever_else(clock: list[float], lines: pytest.LogCaptureFixture) -> None:
    WorkLog("articles").add(SyncReport(switched=True, generation=3))
    assert lines.messages == ["index 'articles': generation 3 is searched now"]


def test_every_run_is_told_to_who_asks_for_it(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "dbsim")
    told = WorkLog("articles")
    told.add(SyncReport(changed=1))
    told.add(SyncReport(changed=2))
    assert [message for message in caplog.messages if "a run with" in message] == [
        "index 'articles': a run with 1 rows",
        "index 'articles': a run with 2 rows",
    ]

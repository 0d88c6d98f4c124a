"""How many rows a transaction takes: fewer when it took long, more again when it did not."""

from __future__ import annotations

from typing import Any

from dbsim.engines import pause
from dbsim.engines.pause import AIM, LEAST, ROOM, Pace


def test_slower_at_once_faster_step_by_step() -> None:
    made = Pace(1000, writers_wait=True)
    made.learn(10 * AIM)
    assert made.size == 100
    made.learn(1000 * AIM)
    assert made.size == LEAST
    sizes = []
    for _ in range(8):
        made.learn(AIM / 10)
        sizes.append(made.size)
    assert sizes == [40, 80, 160, 320, 640, 1000, 1000, 1000]
    made.learn(0.8 * AIM)  # neither
    assert made.size == 1000


def test_nobody_waits_where_writers_do_not_wait_for_each_other() -> None:
    made = Pace(4000, writers_wait=False)
    made.learn(100.0)
    assert made.size == 4000


def test_batches_smaller_than_the_least_stay_what_they_are() -> None:
    made = Pace(3, writers_wait=True)
    made.learn(100.0)
    assert made.size == 3


def test_the_lock_stays_free_for_a_moment(monkeypatch: Any) -> None:
    slept: list[float] = []
    clock = iter([100.1, 100.1, 100.2, 100.21, 100.25, 100.25, 100.3])
    monkeypatch.setattr(pause.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(pause, "pause", slept.append)
    made = Pace(1000, writers_wait=True)
    made.write(lambda work: work(None), lambda connection: None)  # type: ignore[arg-type]
    assert slept == []
    assert 395 <= made.size <= 400  # from 100.1, when the lock was there, to 100.2
    made.write(lambda work: work(None), lambda connection: None)  # type: ignore[arg-type]
    assert [round(one, 6) for one in slept] == [round(ROOM - 0.01, 6)]

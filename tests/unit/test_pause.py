"""How many rows a transaction takes: fewer when it took long, more again when it did not."""

from __future__ import annotations

from typing import Any

from dbsim.engines import pause
from dbsim.engines.pause import AIM, LEAST, ROOM, Pace, Room


def test_slower_at_once_faster_step_by_step() -> None:
    made = Pace(1000, writers_wait=True)
    made.size = 1000
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


def test_the_first_batch_is_no_large_one() -> None:
    assert Pace(1000, writers_wait=True).size == 250
    assert Pace(40, writers_wait=True).size == LEAST


def test_the_time_of_a_transaction_counts_from_when_the_lock_is_there(monkeypatch: Any) -> None:
    clock = iter([100.0, 107.0, 107.0 + 2 * AIM])
    monkeypatch.setattr(pause.time, "monotonic", lambda: next(clock))
    made = Pace(1000, writers_wait=True)
    made.write(lambda work: work(None), lambda connection: None)  # type: ignore[arg-type]
    assert 120 <= made.size <= 125


def test_the_lock_stays_free_for_a_moment(monkeypatch: Any) -> None:
    """Whichever transactions held it, as soon as they did for long enough together, and unless there was room."""
    slept: list[float] = []
    now = 100.0
    monkeypatch.setattr(pause.time, "monotonic", lambda: now)
    monkeypatch.setattr(pause, "pause", slept.append)
    room = Room()
    for seconds in (0.6 * AIM / 2, 0.6 * AIM / 2):
        room.leave()
        assert slept == []
        began, now = now, now + seconds
        room.held_since(began)
    now += 0.01
    room.leave()
    assert [round(one, 6) for one in slept] == [round(ROOM - 0.01, 6)]
    room.held_since(now - AIM)
    now += 2 * ROOM
    room.leave()
    assert len(slept) == 1

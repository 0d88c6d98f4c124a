"""How many rows a transaction takes: fewer when it took long, more again when it did not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.engines import pause
from dbsim.engines.pause import AIM, LEAST, LONGEST_ROOM, ROOM, Pace, Room


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


BUSY = (1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100)  # ms SQLite sleeps between two looks at a lock, then ever 100


@given(
    holds=st.lists(st.integers(1, 1500), min_size=1, max_size=12),
    came=st.integers(0, 1499),
)
def test_who_waits_gets_the_lock_in_the_first_room(holds: list[int], came: int) -> None:
    """A transaction after the other, each for that many ms: whoever comes during the first is let in before the third.

    While the first is short the second may follow at once; then both count as one.
    """
    clock = [0.0]
    free: list[tuple[float, float]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pause.time, "monotonic", lambda: clock[0])
        patch.setattr(pause, "pause", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
        room = Room()
        for hold in [*holds, 1500, 1500]:
            released = clock[0]
            room.leave()
            if clock[0] > released:
                free.append((released, clock[0]))
            began = clock[0]
            clock[0] += hold / 1000
            room.held_since(began)
    arrived = min(came, 1000 * free[0][0] - 1) if free else 0.0
    looks, step = arrived / 1000, 0
    while looks < free[0][0]:
        looks += BUSY[min(step, len(BUSY) - 1)] / 1000
        step += 1
    assert looks <= free[0][1] + 1e-9
    assert free[0][1] - free[0][0] <= LONGEST_ROOM + 1e-9

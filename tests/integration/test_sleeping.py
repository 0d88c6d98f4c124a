"""A follower on PostgreSQL sleeps until it is notified."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from dbsim.engines.postgresql.wire.drivers import await_notification


@pytest.fixture
def listener(postgres_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("LISTEN dbsim_test_sleeping")
        yield connection


def switches() -> int:
    """How often this thread has gone to sleep."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def test_it_sleeps_in_one_piece(listener: psycopg.Connection) -> None:
    await_notification(listener, 0.01)
    before, began = switches(), time.monotonic()
    await_notification(listener, 1.5)
    assert time.monotonic() - began >= 1.4
    assert switches() - before <= 5


def test_a_notification_ends_it(listener: psycopg.Connection, postgres_url: str) -> None:
    def notify() -> None:
        time.sleep(0.3)
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("NOTIFY dbsim_test_sleeping")

    other, began = threading.Thread(target=notify), time.monotonic()
    other.start()
    await_notification(listener, 60)
    other.join()
    assert 0.25 <= time.monotonic() - began < 30


def test_one_that_came_with_an_answer_ends_it_at_once(listener: psycopg.Connection) -> None:
    listener.execute("NOTIFY dbsim_test_sleeping")
    listener.execute("SELECT 1")
    began = time.monotonic()
    await_notification(listener, 60)
    assert time.monotonic() - began < 30

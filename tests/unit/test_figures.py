"""Figures about a whole index: counted in the background where that takes long, again when they have changed."""

from __future__ import annotations

import threading
import time

import pytest

from dbsim.errors import DbsimError
from dbsim.web import figures
from dbsim.web.figures import Figures


def test_what_takes_long_is_counted_once_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "PATIENCE", 0.01)
    go, counted = threading.Event(), []

    def count() -> int:
        go.wait(10)
        counted.append(1)
        return len(counted)

    some = Figures()
    assert [some.get("rows", count) for _ in range(3)] == [None, None, None]
    go.set()
    monkeypatch.setattr(figures, "PATIENCE", 10.0)
    assert some.get("rows", count) == 1
    assert counted == [1]


def test_what_has_changed_is_counted_again_and_meanwhile_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "QUICK", -1.0)  # everything takes long
    monkeypatch.setattr(figures, "SOON", -1.0)
    monkeypatch.setattr(figures, "SHARE", 1e9)
    value, go = [1], threading.Event()

    def count() -> int:
        found = value[0]
        go.wait(10)
        return found

    some = Figures()
    go.set()
    monkeypatch.setattr(figures, "PATIENCE", 10.0)
    assert some.get("decisions", count) == 1
    value[0] = 2
    assert some.get("decisions", count) == 1  # still good
    go.clear()
    some.forget("decisions")
    assert some.get("decisions", count) == 1  # being counted
    value[0] = 3
    some.forget("decisions")  # by somebody else, while it was counted
    go.set()
    deadline = time.monotonic() + 10
    while some.get("decisions", count) != 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert some.get("decisions", count) == 3


def test_what_this_server_has_changed_itself_is_waited_for_if_that_is_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "QUICK", -1.0)
    monkeypatch.setattr(figures, "SOON", 10.0)
    monkeypatch.setattr(figures, "PATIENCE", 10.0)
    some, value = Figures(), [1]
    for _ in range(3):
        assert some.get("decisions", lambda: value[0]) == value[0]
        value[0] += 1
        some.forget("decisions")


def test_an_error_is_told_and_tried_again() -> None:
    def fails() -> int:
        raise DbsimError("away")

    some = Figures(always=True)
    with pytest.raises(DbsimError, match="away"):
        some.get("rows", fails)
    assert some.get("rows", lambda: 5) == 5

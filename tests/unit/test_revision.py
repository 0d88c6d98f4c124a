"""The mark in triggers, views and functions that tells which dbsim made them."""

from __future__ import annotations

from dbsim.engines.views import MARK, REVISION, outdated


def test_definitions_of_an_earlier_dbsim_are_outdated_and_later_ones_are_not() -> None:
    assert not outdated([])
    assert not outdated([f"CREATE VIEW a AS /* {MARK} */ SELECT 1"])
    assert not outdated([f"-- dbsim revision {REVISION + 1}\nBEGIN END"])  # workers of two versions do not take turns
    assert outdated([f"-- {MARK}", "CREATE VIEW made_without_a_mark AS SELECT 1"])
    assert outdated([f"-- dbsim revision {REVISION - 1}\nBEGIN END"])

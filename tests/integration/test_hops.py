"""How often a reader of one verb changes rooms does not grow unnoticed; `python -m tools.count_hops --list` tells."""

from __future__ import annotations

import pytest

from tools.count_hops import Counter, Hop, measure

MOST = {"first sync": 123, "search": 55, "UPDATE to groups": 160}


@pytest.fixture(scope="module")
def walks() -> dict[str, Counter[Hop]]:
    return measure()


@pytest.mark.parametrize("verb", MOST)
def test_hops_do_not_grow(verb: str, walks: dict[str, Counter[Hop]]) -> None:
    assert walks[verb].total() <= MOST[verb], "find what is asked for in vain, or in the wrong room"


def test_every_call_is_counted() -> None:
    """A larger table is read by as many calls: what is done row by row would show."""
    few, many = measure(8)["first sync"], measure(64)["first sync"]
    assert many.total() - few.total() < 64

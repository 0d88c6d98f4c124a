"""Bucket keys of every family that hashes use both lanes of 31 bits: none hands small numbers to `band`."""

from __future__ import annotations

import pytest

from dbsim.hashing.keys import Plan
from tests.unit.family_helpers import documents, family_at, pairs


@pytest.mark.parametrize("name", ["minhash", "rabin-minhash", "gauss", "cauchy", "levy"])
@pytest.mark.parametrize("rows", [1, 3])
def test_keys_use_their_whole_width(name: str, rows: int) -> None:
    family, plan = family_at(name), Plan(rows, 4)
    some = documents(pairs(0.0, 30)[0])
    keys = family.keys(some, plan, family.fit(some, plan))
    if rows == 1:
        assert keys.shape == (30, 4)  # a single value, the least of many or a segment's number, is its own key
    else:
        assert (keys >= 2**31).mean() > 0.95
    assert (keys >= 0).all()

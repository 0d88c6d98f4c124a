"""Binary digits of a forest, and the neighbours in key order."""

from __future__ import annotations

import numpy as np
import pytest

from dbsim.hashing.choosing.trial import NEAR, collisions
from dbsim.hashing.families.forest import Forest
from dbsim.hashing.keys import WORD, Plan
from tests.unit.family_helpers import agreement, documents, pairs


@pytest.mark.parametrize("over", ["minhash", "hyperplane"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 1.0])
def test_digits_agree_with_the_formula(over: str, share: float) -> None:
    family = Forest(over=over, trees=1)
    left, right = (documents(side) for side in pairs(share, 120, words=400))
    mine, other, similar = agreement(family, left, right, Plan(WORD, 1))
    agreed = WORD - np.bitwise_count(mine ^ other)[:, 0].astype(float)
    expected = np.array([family.collision(value) for value in similar.tolist()])
    spread = np.sqrt((WORD * expected * (1 - expected)).sum())
    assert abs(agreed.sum() - WORD * expected.sum()) <= 4 * spread + 1


@pytest.mark.parametrize("similarity", [0.5, 0.9])
def test_prefix_agrees_with_the_power(similarity: float) -> None:
    assert Forest().collision(similarity) == (1 + similarity) / 2


def test_neighbours_in_key_order_share_the_longest_prefixes() -> None:
    rng = np.random.default_rng(4)
    keys = rng.integers(0, 2**62, (500, 1))
    for query in rng.integers(0, 2**62, 20).tolist():
        prefix = [WORD - int(key ^ query).bit_length() for key in keys[:, 0].tolist()]
        found = collisions(Forest(trees=1), keys, np.array([[[query]]]))[0]
        assert NEAR <= found.sum() <= 2 * NEAR
        best = np.argsort(prefix)[::-1][:NEAR]
        assert min(prefix[place] for place in np.flatnonzero(found)) <= prefix[best[-1]]
        longer = [place for place in range(500) if prefix[place] > sorted(prefix)[-NEAR]]
        assert found[longer].all()


def test_more_trees_never_find_less() -> None:
    left, right = (documents(side) for side in pairs(0.2, 60))
    few, many = Plan(WORD, 4), Plan(WORD, 8)
    keys, wanted, _ = agreement(Forest(over="hyperplane", trees=8), left, right, many)
    some = collisions(Forest(over="hyperplane", trees=4), keys[:, : few.keys], wanted[:, : few.keys, None])
    every = collisions(Forest(over="hyperplane", trees=8), keys, wanted[:, :, None])
    assert (every | ~some).all()
    assert every.sum() > some.sum()


@pytest.mark.parametrize("wrong", [{"over": "fuzzy"}, {"trees": 0}, {"trees": 65}])
def test_impossible_settings(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="forest"):
        Forest(**wrong)  # type: ignore[arg-type]

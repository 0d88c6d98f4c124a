"""Signs of random projections."""

from __future__ import annotations

import numpy as np
import pytest

from dbsim.hashing.families.hyperplane import Hyperplane
from dbsim.hashing.keys import Plan
from tests.unit.family_helpers import agreement, assert_formula, documents, pairs


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6, 1.0])
def test_rows_agree_with_one_minus_the_angle(share: float) -> None:
    assert_formula(Hyperplane(), share)


@pytest.mark.parametrize(("cosine", "probability"), [(1.0, 1.0), (0.5, 2 / 3), (0.0, 0.5)])
def test_formula(cosine: float, probability: float) -> None:
    assert Hyperplane().collision(cosine) == pytest.approx(probability)


def test_keys_are_the_bits_themselves_while_they_fit() -> None:
    left, right = (documents(side) for side in pairs(0.1, 5))
    narrow, _, _ = agreement(Hyperplane(), left, right, Plan(1, 40))
    wide, _, _ = agreement(Hyperplane(), left, right, Plan(40, 1))
    assert [format(key, "040b") for key in wide[:, 0].tolist()] == ["".join(map(str, row)) for row in narrow.tolist()]
    long, _, _ = agreement(Hyperplane(), left, right, Plan(100, 1))
    assert len(np.unique(long)) == 5


def test_probes_flip_the_closest_bits() -> None:
    left, right = (documents(side) for side in pairs(0.15, 30))
    family, plan = Hyperplane(), Plan(12, 4)
    model = family.fit(left, plan)
    found = family.probes(left, plan, model, 8)
    assert found.shape == (30, 4, 9)
    assert np.array_equal(found[:, :, 0], family.keys(left, plan, model))
    flipped = np.bitwise_count(found[:, :, 1:] ^ found[:, :, :1])
    assert set(np.unique(flipped).tolist()) <= {1, 2}
    assert len({*found[0, 0].tolist()}) == 9
    # eight of 78 neighbours are worth far more than their share: they catch a good part of what the keys miss
    wanted = family.keys(right, plan, model)[:, :, None]
    exact, probed = (found[:, :, :1] == wanted).any(axis=2).mean(), (found == wanted).any(axis=2).mean()
    assert probed > exact + 0.3 * (1 - exact)

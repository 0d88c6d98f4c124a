"""What an estimate may decide: pairs at the threshold are never lost to it, and the texts are asked for few."""

from __future__ import annotations

import numpy as np
import pytest

from dbsim.dedupe.kernels.decide import Decision, FieldScore
from dbsim.hashing.bloom import jaccards

BITS = 1024


def estimates(features: int, similarity: float, count: int, bits: int = BITS) -> tuple[np.ndarray, ...]:
    """Popcounts and estimates of random pairs of sets of equal size with this similarity."""
    rng = np.random.default_rng(features)
    common = round(2 * features * similarity / (1 + similarity))
    sides = np.zeros((2, count, bits), bool)
    rows = np.arange(count)[:, None]
    shared = rng.integers(0, bits, (count, common))
    for side in sides:
        side[rows, shared] = True
        side[rows, rng.integers(0, bits, (count, features - common))] = True
    a, b = sides.sum(axis=2)
    both = (sides[0] & sides[1]).sum(axis=1)
    return a, b, jaccards(a, b, both, bits)


@pytest.mark.parametrize("times", [1, 4, 12])
@pytest.mark.parametrize(("threshold", "features"), [(0.5, 21), (0.7, 34), (0.9, 38)])
def test_pairs_at_the_threshold_are_kept_and_looked_at(threshold: float, features: int, times: int) -> None:
    """So many features that the similarity is the threshold exactly."""
    a, b, scores = estimates(times * features, threshold, 2000)
    decision = Decision((FieldScore(BITS, 1.0),), threshold)
    kept = decision.kept([a], [b], scores)
    assert kept.mean() >= 0.99
    assert decision.possible([a], [b])[kept].all()
    assert (kept & ~decision.unsure([a], [b], scores)).mean() < 0.02  # accepted without a look at the texts
    alone = Decision((FieldScore(BITS, 1.0),), threshold, verify=False)
    assert alone.kept([a], [b], scores).mean() < 0.8  # what the estimate alone accepts


def test_far_from_the_threshold_nothing_is_read() -> None:
    decision = Decision((FieldScore(BITS, 1.0),), 0.7)
    for similarity, expected in ((0.95, True), (0.4, False)):
        a, b, scores = estimates(200, similarity, 500)
        kept = decision.kept([a], [b], scores)
        assert (kept == expected).mean() > 0.99
        assert not decision.unsure([a], [b], scores)[kept & (scores > 0.85)].any()


def test_saturated_filters_leave_it_to_the_texts() -> None:
    a, b, scores = estimates(8000, 0.3, 50)
    decision = Decision((FieldScore(BITS, 1.0),), 0.9)
    assert decision.kept([a], [b], scores).all()
    assert decision.unsure([a], [b], scores).all()


def test_what_users_ask_for() -> None:
    a, b, scores = estimates(200, 0.95, 20)
    field = (FieldScore(BITS, 1.0),)
    assert Decision(field, 0.5, verify=True).unsure([a], [b], scores).all()
    assert not Decision(field, 0.5, verify=False).unsure([a], [b], scores).any()
    other = Decision(field, 0.99, verify=True, estimated=False)  # the filters know nothing of the measure
    assert other.kept([a], [b], scores * 0).all()
    assert other.unsure([a], [b], scores).all()

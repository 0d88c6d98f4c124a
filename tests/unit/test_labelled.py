"""What people decided corrects what was learned: pure functions on arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dbsim.hashing.records.adjusting.labelled import Labels, corrected
from dbsim.hashing.records.evidence import UNIT, Evidence
from dbsim.hashing.records.levels import COUNT, EQUAL
from dbsim.hashing.records.probability import probability

FIELDS, WIDEST, FURTHEST = 3, 30, 60


def evidence() -> Evidence:
    """Two fields that say much and one that says little; nobody has moved."""
    rising = np.linspace(-6, 6, EQUAL)
    weights = np.zeros((4, FIELDS, COUNT), np.int64)
    weights[:, :, 1 : EQUAL + 1] = np.rint(np.outer([1.0, 1.0, 0.1], rising) * UNIT)
    return Evidence(weights, np.full(4, -8 * UNIT), np.full(FIELDS, 0.01), 10.0)


def labels(pairs: list[tuple[tuple[int, int, int], bool]]) -> Labels:
    levels = np.array([pair for pair, _ in pairs], np.int8)
    return Labels(levels, np.zeros_like(levels, np.int64), np.array([same for _, same in pairs]))


def judged(found: Evidence, given: Labels) -> np.ndarray:
    return probability(found.bits(given.levels, given.rare))


def test_a_field_that_decides_gets_weight_and_one_that_misleads_loses_it() -> None:
    """Pairs alike in the first two fields are the same only where the third is equal."""
    told = labels([((8, 8, EQUAL), True), ((9, 8, 1), False), ((8, 9, 9), True), ((9, 9, 2), False)] * 10)
    before, after = evidence(), corrected(evidence(), told, WIDEST, FURTHEST)
    assert (abs(after.weights[:, 2]).sum() / abs(before.weights[:, 2]).sum()) > 2
    assert ((judged(after, told) >= 0.5) == told.same).mean() > ((judged(before, told) >= 0.5) == told.same).mean()


def test_one_verdict_alone_changes_nothing() -> None:
    """From twenty pairs that are the same does not follow that all are."""
    for same in (True, False):
        found = evidence()
        assert corrected(found, labels([((3, 3, 3), same)] * 20), WIDEST, FURTHEST) is found


def test_few_decisions_change_little() -> None:
    told = labels([((2, 2, 2), True), ((EQUAL, EQUAL, EQUAL), False)])  # both against all evidence: mistakes, perhaps
    before, after = evidence(), corrected(evidence(), told, WIDEST, FURTHEST)
    assert (np.sign(before.weights) == np.sign(after.weights)).all()
    assert abs(before.priors - after.priors).max() <= 4 * UNIT
    assert (abs(after.weights) <= 1.5 * abs(before.weights) + 1).all()


@settings(max_examples=20, deadline=None)
@given(
    arrays(np.int8, st.tuples(st.integers(1, 30), st.just(FIELDS)), elements=st.integers(0, EQUAL)),
    st.integers(0, 2**30),
)
def test_whatever_is_decided_the_model_stays_one(levels: np.ndarray, seed: int) -> None:
    """Every pair twice, once the same and once different: contradictions of all kinds, with some mistakes beside."""
    same = np.random.default_rng(seed).integers(0, 2, len(levels)).astype(bool)
    told = Labels(np.concatenate([levels] * 2), np.zeros((2 * len(levels), FIELDS), np.int64), np.append(same, ~same))
    found = corrected(evidence(), told, WIDEST, FURTHEST)
    assert (np.diff(found.weights[:, :, 1 : EQUAL + 1], axis=2) >= 0).all()
    assert (found.weights[:, :, 0] == 0).all()
    assert abs(found.weights).max() <= WIDEST * UNIT
    assert abs(found.priors).max() <= FURTHEST * UNIT
    again = corrected(evidence(), told, WIDEST, FURTHEST)
    assert (again.weights == found.weights).all()
    assert (again.priors == found.priors).all()

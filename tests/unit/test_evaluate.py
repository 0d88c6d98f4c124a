"""Arithmetic of `evaluate`: hand-computed cases and brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.evaluate.agreement import bcubed, pairwise
from dbsim.evaluate.exact import STEPS, THRESHOLDS, Compared, compare, steps
from dbsim.evaluate.figures import answers, bucket_sizes, curve, score_error
from dbsim.hashing.families.registry import family_of
from dbsim.hashing.keys import Plan
from tests.unit.family_helpers import signer

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


def test_agreement_by_hand() -> None:
    """{1,2,3}, {4,5} found; {1,2}, {3,4,5} true: 2 of 4 found pairs right, 2 of 4 true ones found."""
    found, true = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])
    assert pairwise(found, true).precision == pytest.approx(2 / 4)
    assert pairwise(found, true).recall == pytest.approx(2 / 4)
    assert bcubed(found, true).precision == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1 + 1) / 5)
    assert bcubed(found, true).recall == pytest.approx((1 + 1 + 1 / 3 + 2 / 3 + 2 / 3) / 5)


@given(LABELS)
def test_agreement_equals_counting(labels: list[tuple[int, int]]) -> None:
    found, true = (np.array(column) for column in zip(*labels, strict=True))
    pairs = list(combinations(range(len(labels)), 2))
    together = {kind: {p for p in pairs if kind[p[0]] == kind[p[1]]} for kind in (tuple(found), tuple(true))}
    mine, theirs = together[tuple(found)], together[tuple(true)]
    result = pairwise(found, true)
    assert result.precision == pytest.approx(len(mine & theirs) / len(mine) if mine else 1.0)
    assert result.recall == pytest.approx(len(mine & theirs) / len(theirs) if theirs else 1.0)
    rows = [(set(np.flatnonzero(found == f)), set(np.flatnonzero(true == t))) for f, t in labels]
    assert bcubed(found, true).precision == pytest.approx(np.mean([len(a & b) / len(a) for a, b in rows]))
    assert bcubed(found, true).recall == pytest.approx(np.mean([len(a & b) / len(b) for a, b in rows]))


@pytest.mark.parametrize("value", [0.0, 0.049, 0.05, 0.7, 0.7 - 1e-12, 0.999, 1.0])
def test_steps_reach_their_thresholds(value: float) -> None:
    place = int(steps(np.array([value]))[0])
    assert THRESHOLDS[place] <= value + 1e-9
    assert place == STEPS or THRESHOLDS[place + 1] > value + 1e-9


def test_comparison_counts_what_a_double_loop_counts() -> None:
    rng = np.random.default_rng(1)
    words = [f"w{n}" for n in range(12)]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(60)]
    made = signer(family_of("minhash"), Plan(2, 4))
    keys = [(n,) for n in range(60)]
    queries, own = texts[:7], {(n,): n for n in range(7)}
    candidates = {(n,): [(n % 7, 0.5), ((n + 1) % 7, 0.25)] for n in range(0, 60, 3)}
    compared = Compared(7, 0.33)
    for part in (slice(0, 25), slice(25, 60)):
        compare(compared, made, [queries], own, (keys[part], [texts[part]]), candidates)
    exact = made.similarity([queries], [texts])
    for query in range(7):
        others = np.delete(exact[query], query)
        for place, threshold in enumerate(THRESHOLDS):
            assert compared.at_least()[query, place] == (others >= threshold - 1e-9).sum()
        assert compared.near[query] == (others >= 0.33 - 1e-9).sum()
    listed = zip(compared.keys, compared.asked, compared.exact, strict=True)
    assert sorted((key, query) for key, query, _ in listed) == sorted(
        (key, query) for key, some in candidates.items() for query, _ in some if key != (query,)
    )
    assert all(
        value == exact[query, key[0]]
        for key, query, value in zip(compared.keys, compared.asked, compared.exact, strict=True)
    )


def test_recall_at_thresholds_by_hand() -> None:
    """Two queries; the first has rows at 1.0 and 0.5 and finds the first, the second one at 0.5 and finds it."""
    compared = Compared(2)
    compared.similar[0, [20, 10]] = 1
    compared.similar[1, 10] = 1
    compared.keys, compared.asked = [(1,), (2,)], [0, 1]
    compared.estimates, compared.exact = [0.9, 0.6], [1.0, 0.5]
    found = {one.threshold: one for one in curve(compared)}
    assert (found[0.5].pairs, found[0.5].recall.value) == (3, pytest.approx(2 / 3))
    assert (found[0.55].pairs, found[0.55].recall.value) == (1, 1.0)
    error = score_error(compared)
    assert error is not None
    assert error.bias.value == pytest.approx(0.0)
    assert error.deviation == pytest.approx(0.1)


def test_answers_by_hand() -> None:
    found = answers(3, [0, 0, 2], [True, False, True], np.array([2, 0, 1]))
    assert found.recall.value == pytest.approx(2 / 3)
    assert found.precision.value == pytest.approx(2 / 3)
    assert found.f1 == pytest.approx(2 / 3)


def test_bucket_sizes_in_powers_of_two() -> None:
    found = bucket_sizes([(1, 10), (2, 4), (3, 1), (4, 1), (9, 2)])
    assert found.sizes == ((1, 1, 10, 10), (2, 2, 4, 8), (3, 4, 2, 7), (9, 16, 2, 18))
    assert found.largest == 9
    assert bucket_sizes([]).sizes == ()

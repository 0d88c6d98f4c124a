"""Confidence intervals and overlap: hand-computed cases and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.evaluate.intervals import Interval, clustered_share, mean, quotient, share
from dbsim.evaluate.sampling.overlap import overlap


def test_wilson_by_hand() -> None:
    """8 of 10 at 95 %: (0.8 + 0.19207) / 1.38415 ± 0.22653."""
    found = share(8, 10)
    assert found.value == 0.8
    assert found.low == pytest.approx(0.4902, abs=1e-4)
    assert found.high == pytest.approx(0.9433, abs=1e-4)


def test_no_case_says_nothing() -> None:
    found = share(0, 0)
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0.0, 1.0)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_value_and_stays_inside(counts: tuple[int, int]) -> None:
    found = share(*counts)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0


def test_wilson_covers() -> None:
    rng = np.random.default_rng(1)
    hits = rng.binomial(60, 0.9, 4000)
    covered = np.mean([share(int(hit), 60).holds(0.9) for hit in hits])
    assert 0.93 < covered < 0.98


def test_clusters_of_equal_answers_count_once() -> None:
    """100 queries of 50 pairs that are all found or all missed are 100 cases, not 5,000."""
    cases = np.full(100, 50)
    found = clustered_share(np.where(np.arange(100) < 80, 50, 0), cases)
    alone = share(80, 100)
    assert found.value == pytest.approx(0.8)
    assert found.low == pytest.approx(alone.low, abs=0.01)
    everything = clustered_share(cases, cases)
    assert everything.high == 1.0
    assert everything.low == pytest.approx(share(100, 100).low)


def test_clusters_cover() -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(1000):
        own = rng.beta(8, 2, 80)  # every query has a recall of its own, 0.8 on average
        cases = rng.integers(1, 30, 80)
        covered += clustered_share(rng.binomial(cases, own), cases).holds(0.8)
    assert 900 < covered < 990


def test_relative_size_by_hand() -> None:
    """A has 1,000 rows, B 500, 400 in common: 0.4 of A in B, 0.8 of B in A, A : B = 2."""
    found = overlap(1000, 400, 500, 400)
    assert found.a_in_b.value == 0.4
    assert found.b_in_a.value == 0.8
    assert found.relative_size.value == pytest.approx(2.0)
    width = 1.959964 * math.sqrt(0.6 / 400 + 0.2 / 400)
    assert found.relative_size.high == pytest.approx(2.0 * math.exp(width), rel=1e-6)
    assert found.to_json()["a_in_b"]["value"] == 0.4


def test_collections_without_overlap_leave_the_size_open() -> None:
    found = overlap(100, 0, 100, 0)
    assert found.a_in_b.high < 0.05
    assert found.relative_size.high == math.inf


def test_quotient_covers() -> None:
    rng = np.random.default_rng(3)
    tops, bottoms = rng.binomial(300, 0.6, 2000), rng.binomial(200, 0.3, 2000)
    found = [quotient(share(int(t), 300), 300, share(int(b), 200), 200) for t, b in zip(tops, bottoms, strict=True)]
    assert 0.93 < np.mean([one.holds(2.0) for one in found]) < 0.975


def test_mean_by_hand() -> None:
    found = mean(np.array([1.0, 2.0, 3.0]))
    assert found.value == 2.0
    assert found.high - found.value == pytest.approx(1.959964 / math.sqrt(3))
    assert str(Interval(0.5, 0.25, 0.75)) == "0.500 [0.250, 0.750]"

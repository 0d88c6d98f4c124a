"""The length of filters: the promised error for 95 % of the rows, checked on filters that were made and compared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.hashing.bloom import cardinality
from dbsim.hashing.choosing.filter_size import ERROR, LARGEST, MOST_SAMPLED, SMALLEST, choose_size, saturated_from
from dbsim.hashing.error import predicted_errors


@pytest.mark.parametrize(
    ("features", "threshold", "expected"),
    [
        ([], 0.7, (1024, 1)),
        ([0], 0.7, (1024, 1)),
        ([10], 0.7, (1024, 1)),
        ([150] * 100, 0.7, (1024, 1)),
        ([150] * 100, 0.5, (2048, 1)),
        ([500] * 100, 0.7, (2048, 1)),
        ([6000] * 100, 0.7, (4096, 1)),
        ([20_000] * 100, 0.7, (4096, 4)),
        ([100] * 96 + [50_000] * 4, 0.7, (1024, 1)),  # a few long texts do not decide
        ([50] * 50 + [200_000] * 50, 0.7, (1024, 1)),  # sampled, the short ones would lose what they have
    ],
)
def test_choose_size(features: list[int], threshold: float, expected: tuple[int, int]) -> None:
    assert choose_size(np.array(features, np.int64), threshold) == expected


@given(st.lists(st.integers(1, 6000), min_size=1), st.floats(0.1, 1.0))
def test_the_predicted_error_is_kept(features: list[int], threshold: float) -> None:
    counts = np.array(features, np.int64)
    size, sample = choose_size(counts, threshold)
    assert size in (SMALLEST, 2048, LARGEST)

    def kept(size: int, sample: int) -> float:
        return float((predicted_errors(size, np.maximum(counts / sample, 1), threshold, sample) <= ERROR).mean())

    others = [
        kept(other, 2**power) for other in (SMALLEST, 2048, LARGEST) for power in range(8) if 2**power <= MOST_SAMPLED
    ]
    assert kept(size, sample) >= min(0.95, max(others))


@pytest.mark.parametrize(("count", "threshold"), [(12, 0.7), (60, 0.5), (400, 0.7), (1500, 0.8)])
def test_the_measured_error_is_the_promised_one(count: int, threshold: float) -> None:
    """Pairs of random sets, the similarity as near to the threshold as whole features allow."""
    size, _ = choose_size(np.full(10, count), threshold)
    both = round(2 * count * threshold / (1 + threshold))
    exact = both / (2 * count - both)
    rng, estimate = np.random.default_rng(count), np.array(cardinality(size))
    errors = []
    for _ in range(400):
        places = rng.integers(0, size, 2 * count - both)
        a, b = np.unique(places[:count]), np.unique(places[count - both :])
        union = estimate[len(np.unique(places))]
        errors.append((estimate[len(a)] + estimate[len(b)] - union) / union - exact)
    assert float(np.sqrt(np.mean(np.square(errors)))) <= 1.15 * ERROR  # 400 pairs: 3.5 % is their own error


def test_saturated_rows_are_known_by_their_count() -> None:
    for size in (256, 1024, 4096):
        limit = saturated_from(size, 0.7)
        assert 0.9 * size < limit < size

"""Bucket keys: the plan follows from threshold and recall, banding is the plain formula, and recall is measured."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dbsim.hashing.families.minhash import MinHash, signature
from dbsim.hashing.families.registry import FAMILIES, resolve
from dbsim.hashing.keys import LIMIT_KEYS, MAX_KEYS, MAX_ROWS, Plan, band, choose_plan
from dbsim.text.features import Features
from tests.statistics.test_minhash import features_of_rows, keys_of, random_pairs, union_and_common
from tests.unit.test_arithmetic import combine_by_integers

thresholds = st.floats(0.15, 1.0)
recalls = st.floats(0.01, 0.999)


def same(similarity: float) -> float:
    return similarity


# The plan


def plan_by_search(probability: float, recall: float) -> Plan:
    """The largest number of rows, then the fewest keys, among all plans that reach the recall."""
    for rows in range(MAX_ROWS, 0, -1):
        for keys in range(1, MAX_KEYS + 1):
            if 1 - (1 - probability**rows) ** keys >= recall - 1e-9:
                return Plan(rows, keys)
    raise AssertionError("no plan")


@given(thresholds, recalls)
def test_plan_is_the_best_of_all(threshold: float, recall: float) -> None:
    plan = choose_plan(same, threshold, recall)
    if plan.keys <= MAX_KEYS:
        assert plan == plan_by_search(threshold, recall)
    else:
        assert plan.rows == 1
        assert Plan(1, plan.keys - 1).recall(threshold) < recall
    assert plan.recall(threshold) >= recall - 1e-9


@pytest.mark.parametrize(
    ("threshold", "recall", "expected"),
    [
        (0.5, 0.95, Plan(3, 23)),
        (0.7, 0.95, Plan(6, 24)),
        (0.8, 0.95, Plan(9, 21)),
        (0.9, 0.95, Plan(16, 15)),
        (1.0, 0.95, Plan(16, 1)),
        (0.1, 0.95, Plan(1, 29)),
    ],
)
def test_usual_plans(threshold: float, recall: float, expected: Plan) -> None:
    assert choose_plan(same, threshold, recall) == expected


@given(recalls, st.lists(thresholds, min_size=2, max_size=6))
def test_a_higher_threshold_never_has_fewer_rows(recall: float, several: list[float]) -> None:
    plans = [choose_plan(same, threshold, recall) for threshold in sorted(several)]
    assert all(low.rows <= high.rows for low, high in pairwise(plans))


@given(thresholds, st.lists(recalls, min_size=2, max_size=6))
def test_a_higher_recall_never_has_more_rows_nor_fewer_keys_for_the_same_rows(
    threshold: float, several: list[float]
) -> None:
    for low, high in pairwise(choose_plan(same, threshold, recall) for recall in sorted(several)):
        assert high.rows < low.rows or (high.rows == low.rows and high.keys >= low.keys)


@given(st.floats(0, 1), st.integers(1, 30), st.integers(1, 30))
def test_recall_of_a_plan_rises_with_keys_and_falls_with_rows(probability: float, rows: int, keys: int) -> None:
    recall = Plan(rows, keys).recall(probability)
    assert 0 <= recall <= 1
    assert Plan(rows, keys + 1).recall(probability) >= recall
    assert Plan(rows + 1, keys).recall(probability) <= recall


def test_fewer_keys_allowed_means_fewer_rows() -> None:
    assert choose_plan(same, 0.7, 0.95, max_keys=8) == Plan(3, 8)


def test_low_thresholds_may_use_more_keys() -> None:
    plan = choose_plan(same, 0.06, 0.95)
    assert MAX_KEYS < plan.keys <= LIMIT_KEYS
    assert plan.rows == 1


@pytest.mark.parametrize(("threshold", "keys"), [(0.04, "74"), (1e-13, "1000000000000")])
def test_a_threshold_too_low_is_refused_with_the_remedy(threshold: float, keys: str) -> None:
    with pytest.raises(ValueError, match=f"would need {keys} keys, more than 64: raise the threshold or lower"):
        choose_plan(same, threshold, 0.95)


def test_the_collision_probability_of_the_family_decides() -> None:
    assert choose_plan(lambda similarity: similarity**2, 0.7, 0.95) == choose_plan(same, 0.49, 0.95)


def test_families_by_name() -> None:
    assert resolve("minhash") == resolve("minhash@1") == "minhash@1"
    assert FAMILIES["minhash@1"].collision(0.37) == 0.37
    with pytest.raises(ValueError, match=r"no hash family 'minhas'; did you mean 'minhash'\?"):
        resolve("minhas")
    with pytest.raises(ValueError, match="no hash family 'xyz'; there is minhash"):
        resolve("xyz")


# Banding


@given(st.integers(0, 5), st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_band_against_a_loop(documents: int, rows: int, keys: int, seed: int) -> None:
    minima = np.random.default_rng(seed).integers(0, 2**62, (documents, rows * keys), dtype=np.uint64)
    found = band(minima, Plan(rows, keys))
    assert found.dtype == np.int64
    assert found.shape == (documents, keys)
    runs = [[line[key * rows : (key + 1) * rows] for key in range(keys)] for line in minima.tolist()]
    expected = [[combine_by_integers(run) if rows > 1 else run[0] for run in line] for line in runs]
    assert found.tolist() == expected
    assert all(0 <= value < 2**62 for line in expected for value in line)


def test_a_key_agrees_only_if_all_its_rows_agree() -> None:
    minima = np.arange(24, dtype=np.uint64).reshape(1, 24)
    changed = np.repeat(minima, 24, axis=0)
    changed[np.arange(24), np.arange(24)] += np.uint64(1)
    differs = band(changed, Plan(6, 4)) != band(minima, Plan(6, 4))
    assert np.array_equal(differs, np.arange(4) == np.arange(24)[:, None] // 6)


# Recall


def hits(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pairs with at least one key in common."""
    found: NDArray[np.bool_] = (left == right).any(axis=1)
    return found


@pytest.mark.parametrize(("recall", "features"), [(0.95, 10), (0.95, 30), (0.95, 100), (0.95, 1000), (0.8, 300)])
@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9])
def test_measured_recall_at_the_threshold(threshold: float, recall: float, features: int) -> None:
    family = MinHash()
    plan = choose_plan(family.collision, threshold, recall)
    union, common = union_and_common(features, threshold)
    left, right = random_pairs(np.random.default_rng(features), union, common, 1000)
    measured = hits(keys_of([left], [1.0], plan), keys_of([right], [1.0], plan)).mean()
    # few features cannot have exactly the threshold's similarity: the plan's recall at theirs is what counts
    assert measured >= min(recall, plan.recall(common / union)) - 0.02


WEIGHTED = [
    (0.3, 0.7, (1.0, 0.571)),
    (0.3, 0.7, (0.4, 0.829)),
    (0.2, 0.7, (1.0, 0.625)),
    (0.2, 0.5, (0.0, 0.625)),
    (0.5, 0.7, (1.0, 0.4)),
    (0.5, 0.9, (0.8, 1.0)),
]


def weighted_recall(weight: float, threshold: float, similarities: tuple[float, float]) -> float:
    """Share of pairs found whose two fields have these similarities, the first of the given weight."""
    rng = np.random.default_rng(7)
    pairs = [random_pairs(rng, 300, round(300 * similarity), 1500) for similarity in similarities]
    plan = choose_plan(MinHash().collision, threshold, 0.95)
    weights = [weight, 1 - weight]
    left, right = (keys_of([pair[side] for pair in pairs], weights, plan) for side in (0, 1))
    return float(hits(left, right).mean())


def test_measured_recall_of_weighted_fields() -> None:
    found = {case: weighted_recall(*case) for case in WEIGHTED}
    assert {case: recall for case, recall in found.items() if recall < 0.93} == {}


# More functions never lose a hit, more rows never add one


def real_signatures(positions: int) -> NDArray[np.uint64]:
    """Signatures of 300 documents: 30 families of ten, sharing from all to none of their features."""
    rng = np.random.default_rng(11)
    originals = np.repeat(rng.integers(0, 2**62, (30, 60), dtype=np.uint64), 10, axis=0)
    others = rng.integers(0, 2**62, originals.shape, dtype=np.uint64)
    changed = rng.random(originals.shape) < np.tile(np.linspace(0, 0.9, 10), 30)[:, None]
    features: Features = features_of_rows(np.where(changed, others, originals))
    return signature(features, positions)


def pairs_found(keys: NDArray[np.int64]) -> frozenset[tuple[int, int]]:
    """Pairs of documents that share a bucket."""
    equal = (keys[:, None, :] == keys[None, :, :]).any(axis=2)
    return frozenset((int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(equal, 1)), strict=True))


def test_more_functions_never_lose_a_hit() -> None:
    keys = band(real_signatures(144), Plan(3, 48))
    found = [pairs_found(keys[:, :count]) for count in (1, 2, 4, 8, 16, 32, 48)]
    assert all(fewer <= more for fewer, more in pairwise(found))
    assert 0 < len(found[0]) < len(found[-1])


def test_more_rows_never_add_a_hit() -> None:
    minima = real_signatures(144).reshape(300, 12, 12)
    found = []
    for rows in (1, 2, 3, 4, 6, 12):
        cut = np.ascontiguousarray(minima[:, :, :rows]).reshape(300, -1)
        found.append(pairs_found(band(cut, Plan(rows, 12))))
    assert all(more <= fewer for fewer, more in pairwise(found))
    assert len(found[0]) > len(found[-1]) > 0


def test_band_of_small_numbers_stays_small() -> None:
    """What `band` warns of: numbers that fill the lower lane only give keys of 31 bits."""
    small = np.arange(1, 9, dtype=np.uint64).reshape(4, 2)
    assert (band(small, Plan(2, 1)) < 2**31).all()
    mixed = small | (small << np.uint64(31))
    assert (band(mixed, Plan(2, 1)) >= 2**31).all()

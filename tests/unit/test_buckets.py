"""Candidate pairs: small buckets all with all, large ones through representatives and finer keys, each pair once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dbsim.dedupe.kernels import buckets
from dbsim.dedupe.kernels import pairs as pairs_module
from dbsim.dedupe.kernels.buckets import Limits, Runs, affordable, levels, node_type, pack, runs, unpack, unsettled
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.decide import Decision, FieldScore
from dbsim.dedupe.kernels.pairs import Candidates
from dbsim.hashing.bloom import Filters, jaccard, jaccards
from dbsim.hashing.signer import Signatures

Pairs = set[tuple[int, int]]
DECISION = Decision((FieldScore(64, 1.0),), 0.5, verify=False)


def collection(keys: NDArray[np.int64], fingerprints: NDArray[np.int64] | None = None) -> Collection:
    """Contents that all have the same filter, so that every candidate is a pair."""
    count = len(keys)
    bits = np.zeros((count, 8), np.uint8)
    bits[:, 0] = 1
    made = np.arange(count) if fingerprints is None else fingerprints
    signatures = Signatures(np.ones(count, bool), made, keys, (Filters(bits, np.ones(count, np.int64)),))
    return Collection.of([FieldScore(64, 1.0)], [(column, -1) for column in range(keys.shape[1])], [signatures])


def found(keys: NDArray[np.int64], limits: Limits, start: int = 0, focus: NDArray[np.bool_] | None = None) -> Pairs:
    result: list[tuple[int, int]] = []
    for part in Candidates(collection(keys), limits, focus).pairs(DECISION, start):
        result += zip(part.a.tolist(), part.b.tolist(), strict=True)
    assert len(result) == len(set(result))
    return set(result)


def expected(keys: NDArray[np.int64], limits: Limits) -> Pairs:
    """The rule itself, bucket by bucket."""

    def bucket(members: list[int], by: range, depth: int) -> Pairs:
        if len(members) <= limits.bucket:
            return set(itertools.combinations(members, 2))
        pairs = {(a, b) for a in members[: limits.representatives] for b in members if a < b}
        for finer in by if depth < limits.depth else ():
            for value in {int(keys[m, finer]) for m in members}:
                following = range(finer + 1, min(finer + 2, keys.shape[1]))
                pairs |= bucket([m for m in members if keys[m, finer] == value], following, depth + 1)
        return pairs

    pairs: Pairs = set()
    for column in range(keys.shape[1]):
        for value in set(keys[:, column].tolist()):
            pairs |= bucket(np.flatnonzero(keys[:, column] == value).tolist(), range(column + 1, keys.shape[1]), 0)
    return pairs


@pytest.mark.parametrize("seed", range(12))
def test_candidates_follow_the_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, rng.integers(2, 12), (60, 4))
    limits = Limits(
        bucket=int(rng.integers(2, 20)), representatives=int(rng.integers(1, 4)), depth=int(rng.integers(0, 4))
    )
    assert found(keys, limits) == expected(keys, limits)


def test_going_on_gives_the_rest() -> None:
    keys = np.random.default_rng(1).integers(0, 9, (50, 3))
    limits = Limits(bucket=8, representatives=2)
    assert found(keys, limits, start=20) == {pair for pair in expected(keys, limits) if pair[0] >= 20}


def test_focus_chooses_pairs() -> None:
    keys = np.random.default_rng(2).integers(0, 9, (50, 3))
    focus = np.zeros(50, bool)
    focus[[3, 30]] = True
    limits = Limits(bucket=8, representatives=2)
    assert found(keys, limits, focus=focus) == {p for p in expected(keys, limits) if p[0] in (3, 30) or p[1] in (3, 30)}


@pytest.mark.parametrize("seed", range(40))
def test_what_is_not_compared_again_has_not_changed(seed: int) -> None:
    """Take contents away: every pair that is lost or won has one of them or one that is found to be unsettled."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 4, (60, 3))
    limits = Limits(bucket=int(rng.integers(2, 16)), representatives=int(rng.integers(1, 5)))
    changed = rng.random(60) < 0.1
    left = np.flatnonzero(~changed)
    before = expected(keys, limits)
    after = {(int(left[a]), int(left[b])) for a, b in expected(keys[left], limits)}
    doubtful: set[int] = set()
    for column in range(3):
        for level in levels(column, 3, collection(keys).key, limits):
            doubtful |= set(unsettled(level, changed, limits).tolist())
    touched = doubtful | set(np.flatnonzero(changed).tolist())
    assert all(a in touched or b in touched for a, b in before ^ after)


def test_large_buckets_cost_little_and_are_named() -> None:
    candidates = Candidates(collection(np.zeros((20_000, 2), np.int64)), Limits(bucket=200, representatives=16))
    pairs = sum(len(part.a) for part in candidates.pairs(DECISION))
    assert pairs == sum(20_000 - 1 - rank for rank in range(16))
    assert (candidates.limited.buckets, candidates.limited.largest) == (2, 20_000)


def test_copies_are_collapsed_to_their_first_row() -> None:
    made = collection(np.zeros((5, 1), np.int64), np.array([30, 10, 30, 20, 10]))
    assert made.fingerprints.tolist() == [10, 20, 30]
    assert made.copies.tolist() == [2, 1, 2]
    assert made.order.tolist() == [1, 2, 0]  # 30 comes first, then 10, then 20


def test_scores_equal_those_of_the_search() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 257, 500), rng.integers(0, 257, 500)
    both = np.minimum(np.minimum(a, b), rng.integers(0, 257, 500))
    both = np.maximum(both, a + b - 256)
    expected_scores = [jaccard(x, y, z, 256) for x, y, z in zip(a.tolist(), b.tolist(), both.tolist(), strict=True)]
    assert jaccards(a, b, both, 256).tolist() == expected_scores


def test_the_limit_follows_from_the_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be afforded is compared all with all; it depends on the keys alone, not on their order."""
    rng = np.random.default_rng(3)
    few = collection(np.concatenate([np.zeros((1500, 2)), rng.integers(1, 10**9, (1500, 2))]).astype(np.int64))
    asked = Limits()
    assert affordable(2, few.key, asked, len(few)).bucket >= 1500
    monkeypatch.setattr(buckets, "FREE", 1_000_000)
    monkeypatch.setattr(buckets, "BUDGET", 50)
    assert affordable(2, few.key, asked, len(few)).bucket == 800
    assert affordable(2, few.key, Limits(bucket=7), len(few)).bucket == 7


def test_missing_pairs_are_estimated() -> None:
    """Buckets of equal filters, so that all pairs are similar and the true number of missing ones is known."""
    rng = np.random.default_rng(9)
    keys = np.stack([np.zeros(3000, np.int64), rng.integers(0, 30, 3000)], axis=1)
    candidates = Candidates(collection(keys), Limits(bucket=150, representatives=4))
    out = sum(len(part.a) for part in candidates.pairs(DECISION))
    total = 3000 * 2999 // 2
    assert candidates.limited.pairs == pytest.approx(total, rel=0.02)
    assert candidates.limited.missing == pytest.approx(total - out, rel=0.03)
    assert candidates.limited.drawn > 15_000


@pytest.mark.parametrize("first", [0, 2**31 + 5, 2**39])
def test_pairs_of_more_contents_than_32_bits_number(first: int) -> None:
    a, b = first + np.array([0, 1, 2**24 - 1]), first + np.array([1, 9, 2**24])
    found_a, found_b = unpack(pack(a, b, first), first, np.int64)
    assert (found_a.tolist(), found_b.tolist()) == (a.tolist(), b.tolist())
    assert (node_type(2**31 - 1), node_type(2**31)) == (np.int32, np.int64)


def test_large_numbers_of_contents_take_the_wide_type(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = np.random.default_rng(1).integers(0, 9, (50, 3))
    limits = Limits(bucket=8, representatives=2)
    monkeypatch.setattr(buckets, "node_type", lambda contents: np.int64)
    monkeypatch.setattr(pairs_module, "node_type", lambda contents: np.int64)
    monkeypatch.setattr(pairs_module, "BLOCK_NODES", 7)
    assert found(keys, limits) == expected(keys, limits)


def test_empty() -> None:
    assert found(np.empty((0, 3), np.int64), Limits()) == set()
    nothing = Runs(np.empty(0, np.int32), *(np.empty(0, np.int64) for _ in range(4)))
    assert unsettled(nothing, np.empty(0, bool), Limits()).tolist() == []


@given(
    st.lists(st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.integers(0, 40).map(lambda n: n << 57)))
)
@example([])
@example([7])
@example([0] * 70)
@example([number << 40 for number in range(40)] * 2)  # keys that differ in their upper bits only
def test_who_is_not_alone_is_found_by_shortened_keys(keys: list[int]) -> None:
    """The first level, which sorts shortened keys part by part, is what an exact sort of all contents gives."""
    column = np.array(keys, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "PART", 7)
        found = next(levels(0, 1, lambda _, members: column, Limits(bucket=2**40)))
    wanted = runs(np.arange(len(column), dtype=np.int32), column)
    for part in ("members", "number", "rank", "size", "outer"):
        assert getattr(found, part).tolist() == getattr(wanted, part).tolist()

"""Learned codes: spectral and linear spectral hashing, Hamming balls, pieces."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest

from dbsim.hashing.documents import Documents
from dbsim.hashing.families.linear_spectral import LinearSpectral
from dbsim.hashing.families.shared.codes import ball
from dbsim.hashing.families.shared.learned import directions, fit_space
from dbsim.hashing.families.spectral import Spectral, _modes
from dbsim.hashing.family import Family
from dbsim.hashing.keys import Plan
from tests.unit.family_helpers import documents

PLAN = Plan(8, 2)


def topics(count: int, words: int = 40, kinds: int = 4) -> tuple[list[str], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Texts whose words come mostly from one of a few topics."""
    rng = np.random.default_rng(7)
    kind = rng.integers(0, kinds, count)
    texts = [
        " ".join(f"t{k if rng.random() < 0.9 else rng.integers(kinds)}w{rng.integers(0, 60)}" for _ in range(words))
        for k in kind
    ]
    return texts, kind


@pytest.fixture(scope="module")
def sample() -> Documents:
    return documents(topics(600)[0])


def families() -> list[Family]:
    return [Spectral(bits=16, pieces=2, within=2), LinearSpectral(bits=16, pieces=2, within=2)]


@pytest.mark.parametrize("family", families(), ids=lambda family: type(family).__name__)
def test_similar_texts_have_similar_codes(family: Family, sample: Documents) -> None:
    model = family.fit(sample, PLAN)
    keys = family.keys(sample, PLAN, model)
    kind = topics(600)[1]
    distance = np.bitwise_count(keys[:, None, :] ^ keys[None, :, :]).sum(axis=2)
    same = kind[:, None] == kind[None, :]
    np.fill_diagonal(same, False)
    assert distance[same].mean() + 1 < distance[kind[:, None] != kind[None, :]].mean()


@pytest.mark.parametrize("family", families(), ids=lambda family: type(family).__name__)
def test_bits_are_balanced_on_the_sample(family: Family, sample: Documents) -> None:
    bits = family.code(sample, family.fit(sample, PLAN))  # type: ignore[attr-defined]
    assert bits.shape == (600, 16)
    assert set(np.unique(bits).tolist()) == {0, 1}
    assert np.abs(bits.mean(axis=0) - 0.5).mean() < 0.25


@pytest.mark.parametrize("family", families(), ids=lambda family: type(family).__name__)
def test_fitting_again_gives_the_same_numbers(family: Family, sample: Documents) -> None:
    first, second = family.fit(sample, PLAN), family.fit(sample, PLAN)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_linear_normals_are_the_eigenvectors_of_the_normalised_laplacian() -> None:
    """sgn(x·g_k) = sgn(v_k) on the sample itself, v_k the k-th eigenvector of D^(-½)·W·D^(-½) (Bodó 2012)."""
    made = documents(topics(80, words=30)[0])
    family = LinearSpectral(bits=4, pieces=1, within=1)
    model = family.fit(made, Plan(4, 1))
    _, matrix = fit_space(made)
    weights = (matrix @ matrix.T).toarray()
    degree = weights.sum(axis=1)
    values, eigen = np.linalg.eigh(weights / np.sqrt(np.outer(degree, degree)))
    assert values[-1] == pytest.approx(1.0)
    bits = family.code(made, model) * 2 - 1
    for number in range(4):
        agreed = (np.sign(eigen[:, -2 - number]) == bits[:, number]).mean()
        assert agreed in (0.0, 1.0)


def test_sparse_and_dense_decompositions_agree() -> None:
    _, matrix = fit_space(documents(topics(700, words=60, kinds=12)[0]))
    assert min(matrix.shape) > 400
    for centre in (True, False):
        quick, values = directions(matrix, 6, centre=centre)
        mean = np.asarray(matrix.mean(axis=0)).reshape(-1) if centre else 0.0
        _, exact, right = np.linalg.svd(matrix.toarray() - mean, full_matrices=False)
        assert values == pytest.approx(exact[:6], rel=1e-6)
        assert np.abs(np.sum(quick.T * right[:6], axis=1)) == pytest.approx(np.ones(6), abs=1e-4)


def test_modes_take_the_smallest_eigenvalues_first() -> None:
    # widths 4 and 1: k/width = .25 .5 .75 1 … against 1 2 3
    assert _modes(np.array([4.0, 1.0]), 6).T.tolist() == [[0, 1], [0, 2], [0, 3], [0, 4], [1, 1], [0, 5]]


@pytest.mark.parametrize(("bits", "radius"), [(8, 0), (8, 1), (8, 2), (16, 3)])
def test_ball_lists_every_number_within_the_radius(bits: int, radius: int) -> None:
    found = ball(bits, radius)
    assert len(found) == len(set(found.tolist())) == sum(comb(bits, k) for k in range(radius + 1))
    assert found[0] == 0
    assert np.bitwise_count(found).max() == radius


@pytest.mark.parametrize(("pieces", "within"), [(1, 2), (2, 3), (2, 5), (4, 3), (4, 7)])
def test_pieces_find_every_code_within_the_distance(pieces: int, within: int) -> None:
    rng = np.random.default_rng(1)
    family, plan = Spectral(bits=16, pieces=pieces, within=within), Plan(16 // pieces, pieces)
    codes = rng.integers(0, 1 << plan.rows, (2000, pieces))
    query = rng.integers(0, 1 << plan.rows, (1, pieces))
    near = np.bitwise_count(codes ^ query).sum(axis=1) <= within
    wanted = family.spread(query, plan)[0]
    found = np.array([any(code[i] in wanted[i] for i in range(pieces)) for code in codes])
    assert near.any()
    assert (found | ~near).all()
    assert found.sum() < 2000


def test_larger_distance_never_finds_less() -> None:
    plan = Plan(8, 2)
    wanted = [Spectral(bits=16, within=within).spread(np.array([[5, 77]]), plan)[0] for within in range(6)]
    for smaller, larger in itertools.pairwise(wanted):
        assert all(set(a.tolist()) <= set(b.tolist()) for a, b in zip(smaller, larger, strict=True))


@pytest.mark.parametrize("wrong", [{"bits": 15}, {"bits": 200, "pieces": 2}, {"within": -1}, {"bits": 60, "within": 9}])
def test_impossible_settings(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"bits|within"):
        Spectral(**wrong)


def test_degenerate_samples_give_a_clear_error() -> None:
    one, equal, none = documents(["a b c"]), documents(["a b c"] * 9), documents(["", "..."])
    with pytest.raises(ValueError, match="one text"):
        Spectral().fit(one, PLAN)
    with pytest.raises(ValueError, match="equal"):
        Spectral().fit(equal, PLAN)
    for family in families():
        with pytest.raises(ValueError, match="no words"):
            family.fit(none, PLAN)
    with pytest.raises(ValueError, match="cannot be learned"):
        LinearSpectral().fit(documents(topics(10)[0]), PLAN)
    with pytest.raises(ValueError, match="directions"):
        LinearSpectral(bits=4, pieces=1).fit(documents(["a b c d e f", "g h i j k l"] * 20), Plan(4, 1))


def test_fewer_texts_than_bits_still_give_a_spectral_code() -> None:
    made = documents(topics(5)[0])
    family = Spectral(bits=32)
    keys = family.keys(made, Plan(16, 2), family.fit(made, Plan(16, 2)))
    assert keys.shape == (5, 2)
    assert (keys >= 0).all()
    assert len(np.unique(keys, axis=0)) == 5


def test_unknown_words_have_a_defined_code(sample: Documents) -> None:
    for family in families():
        keys = family.keys(documents(["never seen before", ""]), PLAN, family.fit(sample, PLAN))
        assert keys.shape == (2, 2)
        assert np.array_equal(keys[0], keys[1])

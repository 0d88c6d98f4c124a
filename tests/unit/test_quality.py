"""Quality measures against numbers computed by hand from their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.kernels.grouping.quality import expected_density, f_measure, minimum_cut, partial_connectivity
from tests.statistics.test_groups import TRIANGLES, graph

SPLIT = np.array([0, 0, 0, 3, 3, 3])


def test_f_measure_by_hand() -> None:
    reference, labels = np.array([0, 0, 0, 1, 1]), np.array([5, 5, 7, 7, 7])
    # class 0: group 5 has precision 1 and recall 2/3; class 1: group 7 has precision 2/3 and recall 1
    assert f_measure(labels, reference) == pytest.approx(3 / 5 * 0.8 + 2 / 5 * 0.8)
    assert f_measure(reference, reference) == 1.0


def test_expected_density_by_hand() -> None:
    made = graph(4, [(0, 1, 1.0), (2, 3, 1.0)])
    # w(G) = 4 + 2, so 4^θ = 6 and 2^θ = √6; each half weighs 2 + 1
    assert expected_density(made, np.array([0, 0, 2, 2])) == pytest.approx(3 / math.sqrt(6))
    assert expected_density(made, np.array([0, 0, 0, 0])) == pytest.approx(1.0)


def test_expected_density_prefers_the_right_groups() -> None:
    made = graph(6, TRIANGLES)
    assert expected_density(made, SPLIT) > expected_density(made, np.array([0, 1, 0, 1, 0, 1]))


def test_partial_connectivity_by_hand() -> None:
    made = graph(6, TRIANGLES)
    # a triangle of 0.9, 0.8 and 0.7 falls apart at its lightest corner: 0.8 + 0.7
    assert partial_connectivity(made, SPLIT) == pytest.approx(2 * 3 * 1.5)
    assert partial_connectivity(made, np.zeros(6, np.int64)) == pytest.approx(6 * 0.5)
    assert partial_connectivity(made, np.arange(6)) == 0.0


@pytest.mark.parametrize("seed", range(10))
def test_minimum_cut_equals_trying_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 8))
    weights = np.triu(rng.uniform(0, 1, (size, size)) * (rng.random((size, size)) < 0.7), 1)
    weights += weights.T
    sides = [set(side) for length in range(1, size) for side in itertools.combinations(range(size), length)]
    cuts = [sum(weights[a, b] for a in side for b in set(range(size)) - side) for side in sides]
    assert minimum_cut(weights) == pytest.approx(min(cuts))


def test_no_edges() -> None:
    empty = Graph(3, np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    assert partial_connectivity(empty, np.array([0, 0, 2])) == 0.0
    assert expected_density(empty, np.array([0, 1, 2])) == pytest.approx(1.0)

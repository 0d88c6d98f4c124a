"""Random walks: uniform in the end, whatever the degrees, and by when."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from dbsim.evaluate.sampling.walk import Walk


def star(leaves: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(leaves, np.int64), np.arange(1, leaves + 1)


def test_second_eigenvalue_of_a_complete_graph() -> None:
    """K₄ padded to d = 6: (3 + 3)/6 = 1 once, (-1 + 3)/6 = 1/3 three times."""
    a, b = np.triu_indices(4, 1)
    assert Walk.on(4, a, b).degree == 6
    assert Walk.on(4, a, b).second_eigenvalue(0) == pytest.approx(1 / 3)


def test_large_and_small_graphs_agree() -> None:
    """A cycle of n nodes padded to d = 4: (2 + 2·cos(2π/n))/4, once by all eigenvalues, once by a few."""
    for nodes in (50, 600):
        a = np.arange(nodes)
        walk = Walk.on(nodes, a, (a + 1) % nodes)
        assert walk.second_eigenvalue(0) == pytest.approx((1 + np.cos(2 * np.pi / nodes)) / 2, abs=1e-9)


def test_a_star_is_sampled_uniformly_though_its_centre_has_all_the_edges() -> None:
    walk = Walk.on(13, *star(12))
    drawn = walk.sample(0, 3000, walk.gap(0), np.random.default_rng(4))
    assert chisquare(np.bincount(drawn, minlength=13)).pvalue > 0.001


def test_without_padding_the_walk_prefers_the_centre() -> None:
    """The bias that the source warns of: on the bare star every second step is the centre."""
    a, b = star(12)
    bare = Walk(Walk.on(13, a, b).neighbours, 1)
    rng = np.random.default_rng(5)
    node, visits = 0, np.zeros(13)
    for _ in range(3000):
        near = bare.neighbours.indices[bare.neighbours.indptr[node] : bare.neighbours.indptr[node + 1]]
        node = int(rng.choice(near))
        visits[node] += 1
    assert chisquare(visits).pvalue < 1e-6


def test_edges_count_once_and_loops_not() -> None:
    a, b = np.array([0, 1, 0, 2]), np.array([1, 0, 1, 2])
    walk = Walk.on(3, a, b)
    assert walk.neighbours.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert walk.reached(0).tolist() == [0, 1]


def test_a_lonely_node_stays_where_it_is() -> None:
    walk = Walk.on(2, np.empty(0, np.int64), np.empty(0, np.int64))
    assert walk.second_eigenvalue(1) == 0.0
    assert walk.sample(1, 5, 3, np.random.default_rng(0)).tolist() == [1] * 5


def test_simulated_loops_equal_walked_ones() -> None:
    """Staying times drawn at once have the distribution of single steps."""
    walk = Walk.on(4, *star(3), degree=12)
    drawn = walk.sample(1, 4000, 1, np.random.default_rng(6))
    stays = np.mean(drawn[1:] == drawn[:-1])
    degrees = np.array([3, 1, 1, 1])
    assert stays == pytest.approx(np.mean(1 - degrees[drawn[:-1]] / 12), abs=0.03)

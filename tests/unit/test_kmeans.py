"""k-means: the means are means, the error falls, empty clusters are filled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dbsim.dedupe.kernels.grouping.kmeans import assign, kmeans


def clouds(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = np.eye(4) * 5
    truth = np.repeat(np.arange(4), 25)
    return centres[truth] + rng.normal(0, 0.3, (100, 4)), truth


def test_clouds_are_found() -> None:
    points, truth = clouds()
    means = kmeans(csr_array(points), 4)
    for cloud in range(4):
        assert len(set(means.labels[truth == cloud])) == 1
    assert len(set(means.labels)) == 4


@given(st.integers(0, 1000), st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_centroids_are_means_and_the_error_is_theirs(seed: int, count: int) -> None:
    points = np.round(np.random.default_rng(seed).random((12, 3)), 2)
    means = kmeans(csr_array(points), count, seed=seed)
    for label in range(count):
        assert np.allclose(means.centroids[label], points[means.labels == label].mean(axis=0))
    assert means.error == pytest.approx(((points - means.centroids[means.labels]) ** 2).sum(), abs=1e-9)
    nearest = ((points[:, None] - means.centroids[None]) ** 2).sum(axis=2)
    own = nearest[np.arange(12), means.labels]
    assert (own <= nearest.min(axis=1) + 1e-9).all()
    assert np.allclose(nearest[np.arange(12), assign(csr_array(points), means.centroids)], nearest.min(axis=1))


def test_equal_documents_still_give_every_cluster_a_member() -> None:
    assert sorted(set(kmeans(csr_array(np.ones((5, 2))), 3).labels)) == [0, 1, 2]


def test_the_same_seed_gives_the_same_clusters() -> None:
    points = csr_array(np.random.default_rng(3).random((60, 5)))
    assert (kmeans(points, 7, seed=2).labels == kmeans(points, 7, seed=2).labels).all()


@pytest.mark.parametrize("count", [0, 6])
def test_impossible_numbers_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} clusters of 5 documents"):
        kmeans(csr_array(np.ones((5, 2))), count)

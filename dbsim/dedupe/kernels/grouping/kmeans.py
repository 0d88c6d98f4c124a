"""k-means (Potthast 2006, appendix A.1.2): documents × terms, K → labels, centroids, squared error (numpy, scipy)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

Labels = NDArray[np.int64]
Matrix = NDArray[np.float64]
ROUNDS = 100  # it stops by itself after some ten; the rest is for safety
RESTARTS = 4


@dataclass(frozen=True)
class Means:
    """`labels[i]` is the centroid of document i, `error` = Σ ‖document - its centroid‖²."""

    labels: Labels
    centroids: Matrix
    error: float


def kmeans(matrix: scipy.sparse.csr_array, count: int, *, seed: int = 0, restarts: int = RESTARTS) -> Means:
    """The best of some starts; the same seed gives the same clusters."""
    if not 1 <= count <= matrix.shape[0]:
        raise ValueError(f"{count} clusters of {matrix.shape[0]} documents are not possible")
    rng = np.random.default_rng(seed)
    return min((_run(matrix, count, rng) for _ in range(restarts)), key=lambda means: means.error)


def assign(matrix: scipy.sparse.csr_array, centroids: Matrix) -> Labels:
    """The nearest centroid of each document, the first of equally near ones."""
    return np.asarray(_distances(matrix, centroids).argmin(axis=1), np.int64)


def _run(matrix: scipy.sparse.csr_array, count: int, rng: np.random.Generator) -> Means:
    centroids = _start(matrix, count, rng)
    labels = np.full(matrix.shape[0], -1, np.int64)
    for _ in range(ROUNDS):
        distances = _distances(matrix, centroids)
        new = np.asarray(distances.argmin(axis=1), np.int64)
        _fill_empty(new, distances, count)
        if (new == labels).all():
            break
        labels = new
        centroids = _means(matrix, labels, count)
    error = float(np.maximum(_distances(matrix, centroids)[np.arange(len(labels)), labels], 0.0).sum())
    return Means(labels, centroids, error)


def _start(matrix: scipy.sparse.csr_array, count: int, rng: np.random.Generator) -> Matrix:
    """Documents far from one another (k-means++): each is drawn with its squared distance to those chosen."""
    chosen = [int(rng.integers(matrix.shape[0]))]
    nearest = _distances(matrix, matrix[chosen].toarray())[:, 0]
    while len(chosen) < count:
        weights = np.maximum(nearest, 0.0)
        weights[chosen] = 0.0
        total = weights.sum()
        free = np.setdiff1d(np.arange(matrix.shape[0]), chosen)
        one = int(rng.choice(len(weights), p=weights / total)) if total > 0 else int(rng.choice(free))
        chosen.append(one)
        nearest = np.minimum(nearest, _distances(matrix, matrix[[one]].toarray())[:, 0])
    return np.asarray(matrix[chosen].toarray())


def _distances(matrix: scipy.sparse.csr_array, centroids: Matrix) -> Matrix:
    """documents × centroids: squared."""
    own = np.asarray(matrix.power(2).sum(axis=1)).reshape(-1, 1)
    return np.asarray(own - 2.0 * (matrix @ centroids.T) + (centroids**2).sum(axis=1)[None, :])


def _means(matrix: scipy.sparse.csr_array, labels: Labels, count: int) -> Matrix:
    members = scipy.sparse.csr_array(
        (np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(count, len(labels))
    )
    sizes = np.bincount(labels, minlength=count)
    return np.asarray((members @ matrix).toarray() / np.maximum(sizes, 1)[:, None])


def _fill_empty(labels: Labels, distances: Matrix, count: int) -> None:
    """A centroid without documents takes the one farthest from its own, of a cluster that keeps another."""
    for empty in np.flatnonzero(np.bincount(labels, minlength=count) == 0).tolist():
        own = distances[np.arange(len(labels)), labels]
        shared = np.bincount(labels, minlength=count)[labels] > 1
        labels[int(np.where(shared, own, -np.inf).argmax())] = empty

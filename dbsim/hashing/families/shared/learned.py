"""What the two spectral families share: a sample → vocabulary and directions in it; Documents → projections on them."""

from __future__ import annotations

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.family import Model
from dbsim.hashing.vectors import UNIT, Vectors, fit_frequencies, vectors
from dbsim.text.arithmetic import Hashes

VOCABULARY = 5000  # the most frequent terms span the space (Bodó 2012)
GRAIN = 1 << 24  # directions are stored as multiples of 1/GRAIN
SMALL = 400  # texts or terms up to which the dense decomposition is quicker and safer
TINY = 1e-9

Matrix = NDArray[np.float64]


def fit_space(documents: Documents) -> tuple[Model, scipy.sparse.csr_array]:
    """Document frequencies and vocabulary, and the sample's vectors over that vocabulary."""
    model = fit_frequencies(documents)
    found = vectors(documents, model)
    if not len(found.terms):
        raise ValueError("the sampled texts have no words: fill the table before the first sync")
    frequency = np.bincount(found.matrix.indices, minlength=len(found.terms))
    chosen = np.lexsort((found.terms, -frequency))[:VOCABULARY]
    model["vocabulary"] = np.sort(found.terms[chosen]).astype(np.int64)
    matrix = restrict(found, model["vocabulary"].astype(np.uint64))
    return model, matrix[np.diff(matrix.indptr) > 0]


def restrict(found: Vectors, vocabulary: Hashes) -> scipy.sparse.csr_array:
    """The columns of the vocabulary, in its order; other terms are left out."""
    place = np.searchsorted(vocabulary, found.terms)
    place[place == len(vocabulary)] = 0
    known = vocabulary[place] == found.terms if len(vocabulary) else np.zeros(len(place), bool)
    entry = known[found.matrix.indices]
    counts = np.concatenate([[0], np.cumsum(entry)])[found.matrix.indptr]
    columns = place[found.matrix.indices[entry]]
    return scipy.sparse.csr_array(
        (found.matrix.data[entry], columns, counts), shape=(found.matrix.shape[0], len(vocabulary))
    )


def directions(matrix: scipy.sparse.csr_array, count: int, *, centre: bool) -> tuple[Matrix, NDArray[np.float64]]:
    """terms × at most `count` right singular vectors, largest first, and the singular values; signs are fixed."""
    mean = np.asarray(matrix.mean(axis=0)).reshape(-1) if centre else np.zeros(matrix.shape[1])
    if min(matrix.shape) <= max(SMALL, 2 * count):
        _, values, right = np.linalg.svd(matrix.toarray() - mean, full_matrices=False)
    else:
        operator = scipy.sparse.linalg.LinearOperator(
            matrix.shape,
            matvec=lambda x: matrix @ x.reshape(-1) - mean @ x.reshape(-1),
            rmatvec=lambda y: matrix.T @ y.reshape(-1) - mean * y.sum(),
            dtype=np.float64,
        )
        start = np.linspace(1.0, 2.0, min(matrix.shape))  # the same start, the same result
        _, values, right = scipy.sparse.linalg.svds(operator, k=count, v0=start)
        order = np.argsort(-values)
        values, right = values[order], right[order]
    kept = values[:count] > TINY * max(float(values[0]), TINY)
    vectors_ = right[:count][kept]
    largest = vectors_[np.arange(len(vectors_)), np.abs(vectors_).argmax(axis=1)]
    return (vectors_ * np.sign(largest)[:, None]).T, values[:count][kept]


def stored(normals: Matrix) -> NDArray[np.int32]:
    return np.round(normals * GRAIN).astype(np.int32)


def projections(documents: Documents, model: Model) -> Matrix:
    """documents × directions, as sums of whole numbers."""
    matrix = restrict(vectors(documents, model), model["vocabulary"].astype(np.uint64))
    return on_normals(matrix, model["normals"].astype(np.int64))


def on_normals(matrix: scipy.sparse.csr_array, normals: NDArray[np.int64]) -> Matrix:
    weights = matrix.copy()
    weights.data = np.round(weights.data * UNIT).astype(np.int64)
    return np.asarray(weights @ normals) / (UNIT * GRAIN)

"""tf-idf vectors of any vocabulary: Documents → Vectors (term hashes, documents × terms as a sparse matrix).

A term is its 62-bit hash, so that no vocabulary is stored and unseen words are as good as others. Only document
frequencies are fitted. Weights are rounded to 2⁻³⁰, so that projections are sums of whole numbers: the same keys on
every machine, in whatever order a library adds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.family import Model
from dbsim.text.arithmetic import Hashes, combine
from dbsim.text.features import Features

UNIT = 1 << 30  # weights are multiples of 1/UNIT
VOCABULARY = 1 << 16  # terms whose document frequency is stored; the rest counts as rare


@dataclass(frozen=True)
class Vectors:
    """`matrix[i, j]` is the weight of `terms[j]` in document i; terms are sorted."""

    terms: Hashes
    matrix: scipy.sparse.csr_array


def fit_frequencies(documents: Documents) -> Model:
    """Document frequencies of the terms that occur in two documents of the sample or more."""
    counted = [_count(field.terms, number) for number, field in enumerate(documents.fields)]
    terms = np.concatenate([part.terms for part in counted])
    frequency = np.concatenate([np.bincount(part.matrix.indices, minlength=len(part.terms)) for part in counted])
    kept = np.flatnonzero(frequency > 1)
    kept = kept[np.lexsort((terms[kept], -frequency[kept]))][:VOCABULARY]
    kept = kept[np.argsort(terms[kept])]
    return {
        "terms": terms[kept].astype(np.int64),
        "frequencies": frequency[kept].astype(np.int32),
        "documents": np.array([int(documents.present.sum())], np.int64),
    }


def vectors(documents: Documents, model: Model, norm: float = 2.0) -> Vectors:
    """tf·idf, each field of length weight^(1/norm) under the given norm, so that the whole has length one.

    With that scaling the similarity of two documents is the weighted mean of their fields' similarities.
    """
    parts = [_count(field.terms, number) for number, field in enumerate(documents.fields)]
    weighted = [_weigh(part, inverse_frequency(part.terms, model), norm) for part in parts]
    present = np.stack([np.diff(matrix.indptr) > 0 for matrix in weighted]) * np.array(documents.weights)[:, None]
    shares = present / np.maximum(present.sum(axis=0), 1e-300)
    for matrix, share in zip(weighted, shares, strict=True):
        matrix.data *= np.repeat(share ** (1 / norm), np.diff(matrix.indptr))
        matrix.data = np.maximum(np.round(matrix.data * UNIT), 1.0) / UNIT
    return _join([part.terms for part in parts], weighted)


def inverse_frequency(terms: Hashes, model: Model) -> NDArray[np.float64]:
    """1 + ln((1+n)/(1+df)); a term not stored has df 1."""
    stored = model["terms"].astype(np.uint64)
    frequency = np.ones(len(terms))
    if len(stored):
        place = np.minimum(np.searchsorted(stored, terms), len(stored) - 1)
        frequency = np.where(stored[place] == terms, model["frequencies"][place].astype(float), 1.0)
    size = float(model["documents"][0])
    return 1.0 + np.log(np.maximum((1.0 + size) / (1.0 + frequency), 1.0))


def align(left: Vectors, right: Vectors) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Both matrices over the same columns."""
    terms = np.union1d(left.terms, right.terms)
    return tuple(_onto(part, terms) for part in (left, right))  # type: ignore[return-value]


def _count(features: Features, field: int) -> Vectors:
    """Term frequencies; equal terms of different fields are different terms."""
    hashes = features.hashes
    if field:
        hashes = combine([hashes, np.full_like(hashes, field)])
    terms, columns = np.unique(hashes, return_inverse=True)
    ones = np.ones(len(hashes))
    matrix = scipy.sparse.csr_array(
        (ones, columns.reshape(-1), features.offsets.copy()), shape=(len(features), len(terms))
    )
    matrix.sum_duplicates()
    return Vectors(terms, matrix)


def _weigh(part: Vectors, factors: NDArray[np.float64], norm: float) -> scipy.sparse.csr_array:
    """Columns times their factor, rows of length one: (Σ x^norm)^(1/norm)."""
    matrix = part.matrix
    data = matrix.data * factors[matrix.indices]
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    lengths = np.bincount(rows, data**norm, matrix.shape[0]) ** (1 / norm)
    return scipy.sparse.csr_array((data / lengths[rows], matrix.indices, matrix.indptr), shape=matrix.shape)


def _join(terms: list[Hashes], matrices: list[scipy.sparse.csr_array]) -> Vectors:
    every = np.unique(np.concatenate(terms))
    total = _onto(Vectors(terms[0], matrices[0]), every)
    for some, matrix in zip(terms[1:], matrices[1:], strict=True):
        total = scipy.sparse.csr_array(total + _onto(Vectors(some, matrix), every))
    return Vectors(every, total)


def _onto(part: Vectors, terms: Hashes) -> scipy.sparse.csr_array:
    columns = np.searchsorted(terms, part.terms)[part.matrix.indices]
    return scipy.sparse.csr_array(
        (part.matrix.data, columns, part.matrix.indptr), shape=(part.matrix.shape[0], len(terms))
    )

"""Exact similarity of texts: (texts per field, pairs of documents) → the family's measure, over all fields."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.hashing.signer import Signer
from dbsim.text.features import Features

MATRIX = 250  # pairs at once where a family compares all texts with all


def compare(
    signer: Signer, columns: Sequence[Sequence[str]], a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    """`columns[field][document]`; fields that are missing in one document of a pair do not count."""
    if signer.family.measure != "jaccard":
        return _measure(signer, columns, a, b)
    total, weight = np.zeros(len(a)), np.zeros(len(a))
    for number, (field, column) in enumerate(zip(signer.fields, columns, strict=True)):
        features = signer.features(number, column)
        value, present = jaccard(features, a, b)
        if len(columns) == 1:
            return value
        total += np.where(present, field.weight * value, 0.0)
        weight += np.where(present, field.weight, 0.0)
    return np.divide(total, weight, out=np.zeros(len(a)), where=weight > 0)


def _measure(
    signer: Signer, columns: Sequence[Sequence[str]], a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Another measure, which families compute of all texts with all: of a few at a time."""
    result = np.zeros(len(a))
    for start in range(0, len(a), MATRIX):
        part = slice(start, start + MATRIX)
        (left, x), (right, y) = (np.unique(side[part], return_inverse=True) for side in (a, b))
        some = [[[column[number] for number in side.tolist()] for column in columns] for side in (left, right)]
        result[part] = signer.similarity(*some)[x, y]
    return result


def jaccard(
    features: Features, a: NDArray[np.int64], b: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(similarity of the feature sets, whether both have any) of each pair of documents."""
    _, columns = np.unique(features.hashes, return_inverse=True)
    width = int(columns.max(initial=0)) + 1
    entries = np.unique(features.documents * width + columns)
    rows = np.concatenate(([0], np.cumsum(np.bincount(entries // width, minlength=len(features)))))
    matrix = scipy.sparse.csr_array((np.ones(len(entries)), entries % width, rows), shape=(len(features), width))
    sizes = np.diff(rows)
    common = np.asarray((matrix[a] * matrix[b]).sum(axis=1)).reshape(-1)
    union = sizes[a] + sizes[b] - common
    present = (sizes[a] > 0) & (sizes[b] > 0)
    return np.divide(common, union, out=np.zeros(len(a)), where=union > 0), present

"""Exact similarity of texts: (texts per field, pairs of documents) → the family's measure, over all fields."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.hashing.signer import Signer
from dbsim.text.features import Features
from dbsim.text.tokens import offsets_of

NO_HASH = np.uint64(2**64 - 1)  # greater than all
MATRIX = 250  # pairs at once where a family compares all texts with all


def compare(
    signer: Signer, columns: Sequence[Sequence[str]], a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    """`columns[field][document]`."""
    if signer.family.measure != "jaccard":
        return _measure(signer, columns, a, b)
    sets = [distinct(features) for features in features_of(signer, columns)]
    return weighted([field.weight for field in signer.fields], sets, a, b)


def features_of(signer: Signer, columns: Sequence[Sequence[str]]) -> list[Features]:
    return [signer.features(number, column) for number, column in enumerate(columns)]


def weighted(
    weights: Sequence[float], fields: Sequence[Features], a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The mean of the fields' similarities; fields that are missing in one document of a pair do not count.

    `fields` are `distinct`.
    """
    if len(fields) == 1:
        return jaccard(fields[0], a, b)[0]
    total, weight = np.zeros(len(a)), np.zeros(len(a))
    for own, features in zip(weights, fields, strict=True):
        value, present = jaccard(features, a, b)
        total += np.where(present, own * value, 0.0)
        weight += np.where(present, own, 0.0)
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
    sets: Features, a: NDArray[np.int64], b: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(similarity of the feature sets, whether both have any) of each pair of documents, which are `distinct`.

    Hashes have 62 bits, so that they are columns of a sparse matrix as they are: what two rows have in common is found
    by walking along both.
    """
    ones, columns, sizes = np.ones(len(sets.hashes), np.int8), sets.hashes.view(np.int64), np.diff(sets.offsets)
    matrix = scipy.sparse.csr_array((ones, columns, sets.offsets), shape=(len(sizes), 1 << 62))
    matrix.has_canonical_format = True
    common = np.diff((matrix[a] * matrix[b]).indptr)
    union = sizes[a] + sizes[b] - common
    present = (sizes[a] > 0) & (sizes[b] > 0)
    return np.divide(common, union, out=np.zeros(len(a)), where=union > 0), present


def distinct(features: Features) -> Features:
    """Each document's hashes once, in ascending order."""
    given = np.diff(features.offsets)
    hashes, counts = np.empty(len(features.hashes), np.uint64), np.zeros(len(given), np.int64)
    classes = np.frexp(given)[1]  # documents of one class have less than twice as many as each other
    taken: list[tuple[NDArray[np.int64], NDArray[np.uint64]]] = []
    for size in np.unique(classes[given > 0]).tolist():
        chosen = np.flatnonzero(classes == size)
        table = _table(features, chosen, given[chosen])
        table.sort(axis=1)
        new = table != NO_HASH
        new[:, 1:] &= table[:, 1:] != table[:, :-1]
        counts[chosen] = new.sum(axis=1)
        taken.append((chosen, table[new]))
    offsets = offsets_of(counts)
    for chosen, values in taken:
        own = offsets_of(counts[chosen])
        hashes[np.repeat(offsets[chosen] - own[:-1], counts[chosen]) + np.arange(len(values))] = values
    return Features(hashes[: offsets[-1]], offsets)


def _table(features: Features, documents: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A row a document, filled up behind its hashes."""
    inside = np.arange(counts.max()) < counts[:, None]
    table = np.full(inside.shape, NO_HASH)
    own = offsets_of(counts)
    places = np.repeat(features.offsets[documents] - own[:-1], counts) + np.arange(own[-1])
    table[inside] = features.hashes[places]
    return table

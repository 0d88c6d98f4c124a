"""Pairs of rows that share a key: int64 (rows × keys) → places a, b (pairs), each pair once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST_BUCKET = 1000  # rows; of a larger one (a default value in every field) pairs of neighbours are taken

Places = NDArray[np.int64]


def candidate_pairs(keys: NDArray[np.int64]) -> tuple[Places, Places]:
    """a < b."""
    rows = len(keys)
    found = [np.empty(0, np.int64)]
    for column in keys.T:
        found.append(np.unique(_pairs_of(column) @ np.array([rows, 1])))
    codes = np.unique(np.concatenate(found))
    return codes // max(rows, 1), codes % max(rows, 1)


def _pairs_of(column: NDArray[np.int64]) -> NDArray[np.int64]:
    """pairs × 2, of one key."""
    order = np.argsort(column, kind="stable")
    _, starts, counts = np.unique(column[order], return_index=True, return_counts=True)
    found = []
    for size in np.unique(counts[counts > 1]).tolist():
        members = order[starts[counts == size][:, None] + np.arange(size)]  # buckets × size, ascending
        first, second = (
            np.triu_indices(size, 1) if size <= LARGEST_BUCKET else (np.arange(size - 1), np.arange(1, size))
        )
        found.append(np.stack([members[:, first].reshape(-1), members[:, second].reshape(-1)], axis=1))
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)

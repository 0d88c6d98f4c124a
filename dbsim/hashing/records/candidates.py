"""Pairs of rows that share a key: int64 (rows × keys) → places a, b (pairs), each pair once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST_BUCKET = 1000  # rows; of a larger one (a default value in every field) pairs of neighbours are taken

Places = NDArray[np.int64]


def candidate_pairs(keys: NDArray[np.int64]) -> tuple[Places, Places]:
    """a < b."""
    rows = len(keys)
    found = [np.empty(0, np.int64), *(_codes_of(column, rows) for column in keys.T)]
    codes = np.sort(np.concatenate(found))  # a tenth of the time of np.unique, which hashes them
    codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])] if len(codes) else codes
    return codes // max(rows, 1), codes % max(rows, 1)


def _codes_of(column: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """Of one key: a · rows + b of every pair, each once because a row is in one bucket."""
    order = np.argsort(column, kind="stable")
    values = column[order]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])) if rows else order
    counts = np.diff(starts, append=rows)
    found = [np.empty(0, np.int64)]
    for size in np.unique(counts[counts > 1]).tolist():
        members = order[starts[counts == size][:, None] + np.arange(size)]  # buckets × size, ascending
        first, second = (
            np.triu_indices(size, 1) if size <= LARGEST_BUCKET else (np.arange(size - 1), np.arange(1, size))
        )
        found.append((members[:, first] * rows + members[:, second]).reshape(-1))
    return np.concatenate(found)

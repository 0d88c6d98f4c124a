"""How long a field's filters are: features of a sample's texts, threshold → bits, sampling; and which rows saturate.

The error that counts is the predicted one of two rows of that length exactly at the threshold (`hashing/error.py`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.error import predicted_errors, standard_errors

SMALLEST, LARGEST = 1024, 4096  # bits; 256 bits would be off by 0.034 for short texts, 4,096 are 512 bytes a row
MOST_SAMPLED = 1 << 12
ERROR = 0.015  # standard error at the threshold …
SHARE = 0.95  # … for so many of the rows


def choose_size(features: NDArray[np.int64], threshold: float) -> tuple[int, int]:
    """The shortest filter that keeps the error for 95 % of the texts, sampling features only where that helps.

    A table whose texts differ too much in length gets what keeps it for the most rows; the others saturate, are known
    by their count, and are decided by their texts.
    """
    present = features[features > 0]
    if not len(present):
        return SMALLEST, 1
    best, most = (SMALLEST, 1), -1.0
    for size in (SMALLEST, 2 * SMALLEST, LARGEST):
        sample = 1
        while sample <= MOST_SAMPLED:
            kept = np.maximum(present / sample, 1.0)
            share = float((predicted_errors(size, kept, threshold, sample) <= ERROR).mean())
            if share >= SHARE:
                return size, sample
            if share > most:
                best, most = (size, sample), share
            sample *= 2
    return best


@lru_cache(maxsize=64)
def saturated_from(size: int, threshold: float) -> int:
    """The count of set bits from which a filter says no more than "many", for pairs around this threshold."""
    counts = np.arange(1, size + 1)
    full = np.isinf(standard_errors(size, counts, counts, threshold))
    return int(counts[full][0]) if full.any() else size + 1

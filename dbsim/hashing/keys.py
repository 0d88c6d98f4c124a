"""From (threshold, recall) to a plan, and from a signature to bucket keys: uint64 (documents × positions) → int64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes, combine_rows

MAX_KEYS = 24  # index columns: more of them cost more to write than they save in candidates (design, section 11)
LIMIT_KEYS = 64  # for thresholds so low that even one row per key needs more


@dataclass(frozen=True)
class Plan:
    """How many bucket keys a document has, and how many rows must agree in each."""

    rows: int
    keys: int

    @property
    def positions(self) -> int:
        return self.rows * self.keys

    def recall(self, row_collision: float) -> float:
        """Probability that at least one key agrees."""
        return float(1.0 - (1.0 - row_collision**self.rows) ** self.keys)


def choose_plan(collision: Callable[[float], float], threshold: float, recall: float, max_keys: int = MAX_KEYS) -> Plan:
    """The largest number of rows, then the fewest keys, that still find a pair at the threshold with this recall."""
    probability = collision(threshold)
    best = None
    for rows in range(1, 129):
        keys = _keys_needed(probability**rows, recall)
        if keys > max_keys:
            break
        best = Plan(rows, keys)
    if best is None:
        keys = _keys_needed(probability, recall)
        if keys > LIMIT_KEYS:
            raise ValueError(
                f"threshold {threshold} with recall {recall} would need {keys} keys, "
                f"more than {LIMIT_KEYS}: raise the threshold or lower the recall"
            )
        best = Plan(1, keys)
    return best


def _keys_needed(key_collision: float, recall: float) -> int:
    if key_collision >= 1.0:
        return 1
    if key_collision < 1e-12:
        return 10**12
    return max(math.ceil(math.log(1.0 - recall) / math.log1p(-key_collision) - 1e-9), 1)


def band(signature: Hashes, plan: Plan) -> NDArray[np.int64]:
    """Combine each run of `rows` positions into one key; 62-bit numbers, so they fit a signed 64-bit column."""
    rows = signature.reshape(-1, plan.rows)
    if plan.rows == 1:
        return rows.reshape(-1, plan.keys).astype(np.int64)
    return combine_rows(rows).reshape(-1, plan.keys).astype(np.int64)

"""From (threshold, recall) to a plan, and from a signature to bucket keys: uint64 (documents × positions) → int64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes, combine, combine_rows

WORD = 62  # bits of a key that is not a hash: it stays positive in a signed 64-bit column
MAX_KEYS = 24  # index columns: more of them cost more to write than they save in candidates (design, section 11)
MAX_ROWS = 16  # at threshold 0.9 a pair of similarity 0.6 then shares a key once in 200: more rows only cost more keys
LIMIT_ROWS = 128  # that a user may ask for
LIMIT_KEYS = 64  # for thresholds so low that even one row per key needs more
SPARED = 0.6  # share of the misses that were allowed which a plan leaves to chance


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


def choose_plan(
    collision: Callable[[float], float],
    threshold: float,
    recall: float,
    max_keys: int = MAX_KEYS,
    max_rows: int = MAX_ROWS,
) -> Plan:
    """The largest number of rows, then the fewest keys, that still find a pair at the threshold with this recall."""
    probability = collision(threshold)
    best = None
    for rows in range(1, max_rows + 1):
        keys = keys_needed(probability**rows, recall)
        if keys > max_keys:
            break
        best = Plan(rows, keys)
    if best is None:
        keys = keys_needed(probability, recall)
        if keys > LIMIT_KEYS:
            raise ValueError(
                f"threshold {threshold} with recall {recall} would need {keys} keys, "
                f"more than {LIMIT_KEYS}: raise the threshold or lower the recall"
            )
        best = Plan(1, keys)
    return best


def aimed(recall: float) -> float:
    """What a plan is made for, so that a table has the recall asked for and not only the average of all tables.

    Rows of one template share the same features, so their pairs are found or missed together: on generated notices the
    share found of pairs exactly at the threshold varied by 0.02 to 0.07 from secret to secret around the formula's.
    """
    return 1.0 - (1.0 - recall) * (1.0 - SPARED)


def bucket_plan(near: float, far: float, documents: int, bucket: int) -> Plan:
    """k and l of Gionis, Indyk and Motwani (Potthast 2006, §3.2): P(far)^k = b/n, and a near pair found with 1 - 1/e.

    `near` and `far` are the row's collision probabilities at the distances r and r·(1+ε). The source prints l as
    b^(-ρ)/n; with its own numbers (l = 65) it can only be (b/n)^(-ρ), ρ = ln P(near) / ln P(far). Both are rounded
    to the nearest whole number here, k at least 1.
    """
    if documents <= bucket:
        return Plan(1, 1)
    if not 0 < far < near < 1:
        raise ValueError(f"collision probabilities {near:.3g} and {far:.3g} do not separate near from far")
    rows = math.log(bucket / documents) / math.log(far)
    keys = (documents / bucket) ** (math.log(near) / math.log(far))
    return Plan(max(round(rows), 1), max(round(keys), 1))


def keys_needed(key_collision: float, recall: float) -> int:
    """So that at least one of them agrees with this probability."""
    if key_collision >= 1.0:
        return 1
    if key_collision < 1e-12:
        return 10**12
    return max(math.ceil(math.log(1.0 - recall) / math.log1p(-key_collision) - 1e-9), 1)


def band(signature: Hashes, plan: Plan) -> NDArray[np.int64]:
    """Combine each run of `rows` positions into one key; 62-bit numbers, so they fit a signed 64-bit column.

    Both lanes of 31 bits are combined by themselves: positions that fill the lower one only (numbers below 2³¹) give
    keys of 31 bits, of which a million rows share hundreds by chance. A family mixes such numbers first.
    """
    rows = signature.reshape(-1, plan.rows)
    if plan.rows == 1:
        return rows.reshape(-1, plan.keys).astype(np.int64)
    return combine_rows(rows).reshape(-1, plan.keys).astype(np.int64)


def bit_keys(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """n × rows of 0 and 1 → n keys: the bits themselves, the first the highest; a hash of them when they are many."""
    words = [_pack(bits[:, start : start + WORD]) for start in range(0, bits.shape[1], WORD)]
    return words[0] if len(words) == 1 else combine([word.astype(np.uint64) for word in words]).astype(np.int64)


def _pack(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    key = np.zeros(len(bits), np.int64)
    for column in bits.T:
        key = (key << 1) | column
    return key

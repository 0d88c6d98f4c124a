"""Multi-probe look-up (Lv et al. 2007): rows with their second choices → keys × (1 + probes).

A query looks not only into its own bucket but also into those that a near-duplicate most likely fell into: the ones
that differ in a row whose value lies close to a border. One or two rows are changed, the cheapest changes first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.family import Keys
from dbsim.hashing.keys import Plan


@dataclass(frozen=True)
class Rows:
    """`values` and `others` are documents × positions; `costs` is how far a value is from becoming the other one."""

    values: NDArray[np.int64]
    others: NDArray[np.int64]
    costs: NDArray[np.float64]


def probe(rows: Rows, plan: Plan, count: int, combine: Callable[[NDArray[np.int64]], Keys]) -> Keys:
    """documents × keys × (1 + count); `combine` turns (n × plan.rows) values into n keys."""
    size = len(rows.values) * plan.keys
    values = rows.values.reshape(size, plan.rows)
    others = rows.others.reshape(size, plan.rows)
    found = np.repeat(values[:, None, :], count + 1, axis=1)
    first, second = _cheapest(rows.costs.reshape(size, plan.rows) ** 2, count)
    every = np.arange(size)
    for number in range(first.shape[1]):
        for column in (first[:, number], second[:, number]):
            found[every, number + 1, column] = others[every, column]
    keys = combine(found.reshape(-1, plan.rows))
    return keys.reshape(len(rows.values), plan.keys, count + 1)


def _cheapest(costs: NDArray[np.float64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The `count` cheapest single rows and pairs of rows; a single row is the pair of itself."""
    rows = costs.shape[1]
    one, two = np.triu_indices(rows)
    total = costs[:, one] + np.where(one == two, 0.0, costs[:, two])
    order = np.argsort(total, axis=1, kind="stable")[:, :count]
    return one[order], two[order]

"""One partner at most for every row of two collections: scored pairs → which of them stay (pure numpy and scipy).

Inside each component of the pairs the sum of the scores is as large as it can be; ties go to the earlier rows.
"""

from __future__ import annotations

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
CELLS = 4_000_000  # of a component's table of scores; in larger ones the best pairs are taken first


def one_to_one(a: Numbers, b: Numbers, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """`a` and `b` are numbers of rows on either side; every pair once."""
    kept = np.zeros(len(a), bool)
    if not len(a):
        return kept
    left, right = np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]
    rows = int(left.max()) + 1
    nodes = rows + int(right.max()) + 1
    matrix = scipy.sparse.coo_array((np.ones(len(a), np.int8), (left, rows + right)), shape=(nodes, nodes))
    component = scipy.sparse.csgraph.connected_components(matrix, directed=False)[1][left]
    order = np.argsort(component, kind="stable")
    for pairs in np.split(order, np.flatnonzero(np.diff(component[order])) + 1):
        kept[pairs[_best(left[pairs], right[pairs], scores[pairs])]] = True
    return kept


def _best(a: Numbers, b: Numbers, scores: NDArray[np.float64]) -> Numbers:
    """Places of the pairs that stay, of one component."""
    if len(a) == 1:
        return np.zeros(1, np.int64)
    one, left = np.unique(a, return_inverse=True)
    two, right = np.unique(b, return_inverse=True)
    if len(one) * len(two) > CELLS:
        return _greedy(left, right, scores)
    table = np.zeros((len(one), len(two)))
    place = np.full(table.shape, -1, np.int64)
    table[left, right] = scores
    place[left, right] = np.arange(len(a))
    found = place[scipy.optimize.linear_sum_assignment(table, maximize=True)]
    return np.asarray(found[found >= 0])


def _greedy(a: Numbers, b: Numbers, scores: NDArray[np.float64]) -> Numbers:
    taken: tuple[set[int], set[int]] = (set(), set())
    found = []
    for place in np.lexsort((b, a, -scores)).tolist():
        x, y = int(a[place]), int(b[place])
        if x not in taken[0] and y not in taken[1]:
            taken[0].add(x)
            taken[1].add(y)
            found.append(place)
    return np.array(found, np.int64)

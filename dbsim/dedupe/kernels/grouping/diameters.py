"""How far apart the members of a group are: (labels, scores of pairs) → one minus the lowest (pure numpy)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.grouping.graph import Graph, Labels, Nodes, Scorer

ALL_PAIRS = 256  # nodes of a group up to which its diameter is exact


def diameters(labels: Labels, score: Scorer) -> NDArray[np.float64]:
    """For every node, one minus the lowest score of two members of its group.

    In a group of more than ALL_PAIRS nodes two sweeps (the member farthest from
    the first, then the one farthest from that) give a lower bound of the diameter.
    """
    result = np.zeros(len(labels))
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    several = np.flatnonzero(sizes > 1)
    found = [order[starts[number] : starts[number] + sizes[number]] for number in several.tolist()]
    for batch in _batches([members for members in found if len(members) <= ALL_PAIRS]):
        pairs = [_all_pairs(len(members)) for members in batch]
        a = np.concatenate([members[i] for members, (i, _) in zip(batch, pairs, strict=True)])
        b = np.concatenate([members[j] for members, (_, j) in zip(batch, pairs, strict=True)])
        widths = np.array([len(i) for i, _ in pairs])
        lowest = np.minimum.reduceat(score(a, b), np.cumsum(widths) - widths)
        for members, value in zip(batch, lowest.tolist(), strict=True):
            result[members] = 1 - value
    for members in found:
        if len(members) > ALL_PAIRS:
            result[members] = _two_sweeps(members, score)
    return result


@lru_cache(maxsize=ALL_PAIRS)
def _all_pairs(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.triu_indices(size, 1)


def _two_sweeps(members: NDArray[np.int64], score: Scorer) -> float:
    first = score(np.full(len(members), members[0]), members)
    far = members[int(first.argmin())]
    others = members[members != far]
    return 1 - min(float(first.min()), float(score(np.full(len(others), far), others).min()))


def _batches(groups: list[NDArray[np.int64]], pairs: int = 1 << 18) -> list[list[NDArray[np.int64]]]:
    """Groups together that have about so many pairs."""
    found: list[list[NDArray[np.int64]]] = []
    room = 0
    for members in groups:
        cost = len(members) * (len(members) - 1) // 2
        if room < cost or not found:
            found.append([])
            room = pairs
        found[-1].append(members)
        room -= cost
    return found


class Known:
    """Scores of the graph's edges, to complete by a function for all other pairs."""

    def __init__(self, graph: Graph) -> None:
        self._nodes = np.int64(graph.nodes)
        keys = self._key(graph.a, graph.b)
        order = np.argsort(keys)
        self._keys, self._weights = keys[order], graph.weights[order]

    def _key(self, a: Nodes, b: Nodes) -> NDArray[np.int64]:
        return np.minimum(a, b) * self._nodes + np.maximum(a, b)

    def completed(self, score: Scorer) -> Scorer:
        def complete(a: Nodes, b: Nodes) -> NDArray[np.float64]:
            result = np.ones(len(a))  # a node with itself
            missing = a != b
            if len(self._keys):
                keys = self._key(a, b)
                place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
                there = self._keys[place] == keys
                result[there] = self._weights[place[there]]
                missing &= ~there
            if missing.any():
                result[missing] = score(a[missing], b[missing])
            return result

        return complete

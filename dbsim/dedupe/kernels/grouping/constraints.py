"""Group a similarity graph so that decisions hold: (Graph, same, different) → labels (pure numpy and scipy).

Rows decided to be the same become one node. Then pairs are taken from the most similar one on, and one that would
bring together, directly or through others, what was decided to be different is left out; what is left is grouped as
usual. Everything happens inside the components of pairs and decisions, so that regrouping one gives what regrouping
all would give. Without decisions nothing is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.grouping.graph import Graph, Labels, components

Nodes = NDArray[np.int64]
Grouping = Callable[[Graph], Labels]
NONE = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Constraints:
    """Pairs of nodes (n × 2) that must be together, in the order in which they count, and that must not."""

    same: Nodes = field(default_factory=lambda: NONE)
    different: Nodes = field(default_factory=lambda: NONE)

    def __bool__(self) -> bool:
        return bool(len(self.same) or len(self.different))


class Pieces:
    """Disjoint sets of nodes, some of which must not come together."""

    def __init__(self, nodes: int, apart: Nodes) -> None:
        self._parent = list(range(nodes))
        self._apart: dict[int, set[int]] = {}  # root → roots it must not be joined with
        for a, b in apart.tolist():
            self._apart.setdefault(a, set()).add(b)
            self._apart.setdefault(b, set()).add(a)

    def root(self, node: int) -> int:
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def join(self, a: int, b: int) -> bool:
        """Whether they are together now; the smaller root stays."""
        a, b = sorted((self.root(a), self.root(b)))
        if a == b:
            return True
        if b in self._apart.get(a, ()):
            return False
        self._parent[b] = a
        for other in self._apart.pop(b, set()):
            self._apart[other].discard(b)
            self._apart[other].add(a)
            self._apart.setdefault(a, set()).add(other)
        return True

    def labels(self) -> Labels:
        return np.array([self.root(node) for node in range(len(self._parent))], np.int64)


def split(
    graph: Graph, exact: NDArray[np.bool_], owners: Nodes, own: NDArray[np.float64]
) -> tuple[Graph, NDArray[np.bool_]]:
    """Nodes taken out of others, numbered behind them: owners[i] is where node graph.nodes + i comes from.

    Each has its owner's pairs, and is a copy of its owner and of what else was taken out of it; `own` is what copies
    of a node score.
    """
    if not len(owners):
        return graph, exact
    parts: dict[int, list[int]] = {}
    for place, owner in enumerate(owners.tolist()):
        parts.setdefault(owner, [owner]).append(graph.nodes + place)
    touched = np.flatnonzero(np.isin(graph.a, owners) | np.isin(graph.b, owners))
    more: list[tuple[int, int, float, bool]] = []
    for a, b, weight, sure in zip(
        *(column[touched].tolist() for column in (graph.a, graph.b, graph.weights, exact)), strict=True
    ):
        pairs = product(parts.get(a, [a]), parts.get(b, [b]))
        more += [(*sorted(pair), weight, sure) for pair in pairs if pair != (a, b)]
    for owner, whole in parts.items():
        more += [(*pair, float(own[owner]), bool(own[owner] == 1)) for pair in combinations(whole, 2)]
    a, b, weights, sure = (np.array(column) for column in zip(*more, strict=True))
    wider = Graph(
        graph.nodes + len(owners),
        np.concatenate([graph.a, a.astype(graph.a.dtype)]),
        np.concatenate([graph.b, b.astype(graph.b.dtype)]),
        np.concatenate([graph.weights, weights]),
    )
    return wider, np.concatenate([exact, sure.astype(bool)])


def constrain(graph: Graph, constraints: Constraints, group: Grouping) -> Labels:
    """Labels as `group` gives them, except in components that decisions are about.

    `graph` has only pairs that reach the threshold. Of decisions that contradict each other "different" counts, and of
    those for "same" the earlier ones in the list.
    """
    labels = group(graph)
    if not constraints:
        return labels
    decided = np.concatenate([constraints.same, constraints.different])
    links = Graph(
        graph.nodes,
        np.concatenate([graph.a, constraints.same[:, 0]]),
        np.concatenate([graph.b, constraints.same[:, 1]]),
        np.ones(len(graph.a) + len(constraints.same)),
    )
    whole = components(links)
    chosen = np.flatnonzero(np.isin(whole, whole[decided.reshape(-1)]))
    place = np.full(graph.nodes, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    inside = place[graph.a] >= 0
    part = Graph(len(chosen), place[graph.a[inside]], place[graph.b[inside]], graph.weights[inside])
    labels[chosen] = chosen[_grouped(part, place[constraints.same], place[constraints.different], group)]
    return labels


def _grouped(graph: Graph, same: Nodes, different: Nodes, group: Grouping) -> Labels:
    """One class of rows that are the same is one node, numbered like its first row."""
    pieces = Pieces(graph.nodes, different)
    for a, b in same.tolist():
        pieces.join(a, b)
    first, classes = np.unique(pieces.labels(), return_inverse=True)
    smaller = _merged(len(first), classes[graph.a], classes[graph.b], graph.weights)
    labels = group(_separated(smaller, classes[different]))
    return first[labels[classes]].astype(np.int64)


def _merged(nodes: int, a: Nodes, b: Nodes, weights: NDArray[np.float64]) -> Graph:
    """Each pair of classes once, with its highest weight."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((-weights, high, low))
    low, high, weights = low[order], high[order], weights[order]
    new = (low != high) & ((np.diff(low, prepend=-1) != 0) | (np.diff(high, prepend=-1) != 0))
    return Graph(nodes, low[new], high[new], weights[new])


def _separated(graph: Graph, different: Nodes) -> Graph:
    """Without the pairs that would bring together what is different, the least similar ones first."""
    pieces = Pieces(graph.nodes, different[different[:, 0] != different[:, 1]])
    kept = np.zeros(len(graph.a), bool)
    order = np.lexsort((graph.b, graph.a, -graph.weights))
    for place, a, b in zip(order.tolist(), graph.a[order].tolist(), graph.b[order].tolist(), strict=True):
        kept[place] = pieces.join(a, b)
    return Graph(graph.nodes, graph.a[kept], graph.b[kept], graph.weights[kept])

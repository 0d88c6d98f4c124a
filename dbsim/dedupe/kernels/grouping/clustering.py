"""Group the nodes of a similarity graph: Graph → labels (pure numpy and scipy).

Nodes are numbered in the order of the table's primary key. A node's label is the smallest node of its group, its own
number if it is alone. Every method works component by component and breaks ties by the smaller number, so that
groups depend on nothing but the graph, and regrouping one component gives what regrouping all would give.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.dedupe.kernels.grouping.correlation import correlation

Labels = NDArray[np.int64]
Nodes = NDArray[np.int64] | NDArray[np.int32]
Scorer = Callable[[Labels, Labels], NDArray[np.float64]]
CHUNK = 1 << 16  # edges as Python numbers at once
CORRELATION = "correlation"  # the only one that hears what speaks against: pairs below the threshold count
ALL_PAIRS = 256  # nodes of a group up to which its diameter is exact


@dataclass(frozen=True)
class Graph:
    """Undirected edges a[i] - b[i] with similarities; each edge once."""

    nodes: int
    a: Nodes
    b: Nodes
    weights: NDArray[np.float64]

    def at_least(self, threshold: float) -> Graph:
        kept = self.weights >= threshold
        return self if kept.all() else self.where(kept)

    def where(self, kept: NDArray[np.bool_]) -> Graph:
        return Graph(self.nodes, self.a[kept], self.b[kept], self.weights[kept])

    def rows(self) -> scipy.sparse.csr_array:
        """Symmetric adjacency; neighbours of a node in ascending order."""
        ends = (np.concatenate([self.a, self.b]), np.concatenate([self.b, self.a]))
        matrix = scipy.sparse.coo_array((np.tile(self.weights, 2), ends), shape=(self.nodes, self.nodes)).tocsr()
        matrix.sort_indices()
        return scipy.sparse.csr_array(matrix)


def components(graph: Graph) -> Labels:
    """Everything that hangs together by a chain of similar pairs."""
    matrix = scipy.sparse.coo_array(
        (np.ones(len(graph.a), np.int8), (graph.a, graph.b)), shape=(graph.nodes, graph.nodes)
    )
    count, found = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    first = np.full(count, graph.nodes, np.int64)
    np.minimum.at(first, found, np.arange(graph.nodes))
    labels: Labels = first[found]
    return labels


def tight(graph: Graph) -> Labels:
    """Every member is similar to its group's first node.

    In order, a node joins the most similar of the earlier nodes that lead a group, or leads a group of its own. Nodes
    added at the end therefore never change the groups of those before them.
    """
    low, high = np.minimum(graph.a, graph.b), np.maximum(graph.a, graph.b)
    order = np.lexsort((low, -graph.weights, high))
    labels = list(range(graph.nodes))
    for start in range(0, len(order), CHUNK):
        part = order[start : start + CHUNK]
        for earlier, node in zip(low[part].tolist(), high[part].tolist(), strict=True):
            if labels[node] == node and labels[earlier] == earlier:
                labels[node] = earlier
    return np.array(labels, np.int64)


def majorclust(graph: Graph) -> Labels:
    """MajorClust (Stein and Niggemann 1999): a node goes where most of its similarity is, until none moves.

    The sources visit the nodes and break ties at random; here both follow the order of the nodes. A move strictly
    raises the similarity inside the groups, so it ends.
    """
    matrix = graph.rows()
    offsets, others, weights = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    labels = list(range(graph.nodes))
    active = np.flatnonzero(np.diff(matrix.indptr)).tolist()
    moved = True
    while moved:
        moved = False
        for node in active:
            pull: dict[int, float] = {}
            for place in range(offsets[node], offsets[node + 1]):
                label = labels[others[place]]
                pull[label] = pull.get(label, 0.0) + weights[place]
            best = min(pull, key=lambda label: (-pull[label], label))
            if pull[best] > pull.get(labels[node], 0.0):
                labels[node] = best
                moved = True
    return _smallest(np.array(labels, np.int64))


def average_link(graph: Graph, threshold: float) -> Labels:
    """Group-average link: join the two groups with the highest mean similarity while it reaches the threshold.

    A pair without an edge counts as 0, so only groups joined by an edge can be next.
    """
    sums: list[dict[int, float]] = [{} for _ in range(graph.nodes)]
    heap = []
    for a, b, weight in zip(graph.a.tolist(), graph.b.tolist(), graph.weights.tolist(), strict=True):
        sums[a][b] = sums[b][a] = weight
        heap.append((-weight, min(a, b), max(a, b), 1, 1))
    heapq.heapify(heap)
    sizes = [1] * graph.nodes  # 0 once joined to another
    labels = list(range(graph.nodes))
    while heap:
        mean, a, b, size_a, size_b = heapq.heappop(heap)
        if -mean < threshold:
            break
        if sizes[a] != size_a or sizes[b] != size_b:
            continue  # one of them has grown or is gone since
        sizes[a], sizes[b], labels[b] = size_a + size_b, 0, a
        for other, weight in sums[b].items():
            del sums[other][b]
            if other != a:
                sums[a][other] = sums[other][a] = sums[a].get(other, 0.0) + weight
        sums[b] = {}
        for other, weight in sums[a].items():
            first, second = min(a, other), max(a, other)
            value = -weight / (sizes[a] * sizes[other])
            heapq.heappush(heap, (value, first, second, sizes[first], sizes[second]))
    for node in range(graph.nodes):  # a group's label is smaller than its members, so it is final by now
        labels[node] = labels[labels[node]]
    return np.array(labels, np.int64)


def complete_link(graph: Graph) -> Labels:
    """Every two members of a group have an edge: join the two groups whose least similar members are most similar.

    A pair without an edge is not similar, so groups are cliques of the graph, whatever threshold it was cut at.
    """
    links: list[dict[int, tuple[int, float]]] = [{} for _ in range(graph.nodes)]  # edges between groups, the lowest
    heap = []
    for a, b, weight in zip(graph.a.tolist(), graph.b.tolist(), graph.weights.tolist(), strict=True):
        links[a][b] = links[b][a] = (1, weight)
        heap.append((-weight, min(a, b), max(a, b), 1, 1))
    heapq.heapify(heap)
    sizes = [1] * graph.nodes  # 0 once joined to another
    labels = list(range(graph.nodes))
    while heap:
        _, a, b, size_a, size_b = heapq.heappop(heap)
        if sizes[a] != size_a or sizes[b] != size_b:
            continue  # one of them has grown or is gone since
        sizes[a], sizes[b], labels[b] = size_a + size_b, 0, a
        for other, (count, lowest) in links[b].items():
            del links[other][b]
            if other != a:
                known, least = links[a].get(other, (0, 1.0))
                links[a][other] = links[other][a] = (known + count, min(least, lowest))
        links[b] = {}
        for other, (count, lowest) in links[a].items():
            if count == sizes[a] * sizes[other]:
                first, second = min(a, other), max(a, other)
                heapq.heappush(heap, (-lowest, first, second, sizes[first], sizes[second]))
    for node in range(graph.nodes):  # a group's label is smaller than its members, so it is final by now
        labels[node] = labels[labels[node]]
    return np.array(labels, np.int64)


def group(graph: Graph, by: str, threshold: float) -> Labels:
    """Labels by the name of the method: what every engine, and every kind of score, groups with."""
    graph = graph if by == CORRELATION else graph.at_least(threshold)
    used = np.unique(np.concatenate([graph.a, graph.b]))  # most nodes are alone, and need no place in a Python list
    a, b = np.searchsorted(used, graph.a), np.searchsorted(used, graph.b)
    labels = np.arange(graph.nodes)
    labels[used] = used[_METHODS[by](Graph(len(used), a, b, graph.weights), threshold)]
    return labels


_METHODS: dict[str, Callable[[Graph, float], Labels]] = {
    "tight": lambda graph, _: tight(graph),
    "complete": lambda graph, _: complete_link(graph),
    "components": lambda graph, _: components(graph),
    "majorclust": lambda graph, _: majorclust(graph),
    "average": average_link,
    CORRELATION: lambda graph, threshold: correlation(graph.nodes, graph.a, graph.b, graph.weights, threshold),
}
METHODS = tuple(_METHODS)


def _smallest(labels: Labels) -> Labels:
    """Rename each group after its smallest node."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    renamed: Labels = first[inverse].astype(np.int64)
    return renamed


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

"""Agglomerative groups by the mean, or by the least similar pair, of two groups: Graph → labels."""

from __future__ import annotations

import heapq

import numpy as np

from dbsim.dedupe.kernels.grouping.graph import Graph, Labels


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

"""Groups around their first nodes: Graph → labels (pure numpy)."""

from __future__ import annotations

import numpy as np

from dbsim.dedupe.kernels.grouping.graph import Graph, Labels

CHUNK = 1 << 16  # edges as Python numbers at once


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

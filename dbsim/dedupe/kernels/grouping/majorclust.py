"""MajorClust (Stein and Niggemann 1999): Graph → labels."""

from __future__ import annotations

import numpy as np

from dbsim.dedupe.kernels.grouping.graph import Graph, Labels, named_after_smallest


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
    return named_after_smallest(np.array(labels, np.int64))

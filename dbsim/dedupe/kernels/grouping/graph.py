"""A similarity graph and what hangs together in it: Graph → labels (pure numpy and scipy).

Nodes are numbered in the order of the table's primary key. A node's label is the smallest node of its group, its own
number if it is alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

Labels = NDArray[np.int64]
Nodes = NDArray[np.int64] | NDArray[np.int32]
Scorer = Callable[[Labels, Labels], NDArray[np.float64]]


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


def named_after_smallest(labels: Labels) -> Labels:
    """Rename each group after its smallest node."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    renamed: Labels = first[inverse].astype(np.int64)
    return renamed

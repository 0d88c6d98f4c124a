"""The ways of grouping by name: Graph → labels. A grouping is one module and a line here.

Every method works component by component and breaks ties by the smaller number, so that groups depend on nothing but
the graph, and regrouping one component gives what regrouping all would give.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dbsim.dedupe.kernels.grouping.correlation import correlation
from dbsim.dedupe.kernels.grouping.graph import Graph, Labels, components
from dbsim.dedupe.kernels.grouping.linkage import average_link, complete_link
from dbsim.dedupe.kernels.grouping.majorclust import majorclust
from dbsim.dedupe.kernels.grouping.tight import tight

CORRELATION = "correlation"  # the only one that hears what speaks against: pairs below the threshold count
METHODS: dict[str, Callable[[Graph, float], Labels]] = {
    "tight": lambda graph, _: tight(graph),
    "complete": lambda graph, _: complete_link(graph),
    "components": lambda graph, _: components(graph),
    "majorclust": lambda graph, _: majorclust(graph),
    "average": average_link,
    CORRELATION: lambda graph, threshold: correlation(graph.nodes, graph.a, graph.b, graph.weights, threshold),
}


def group(graph: Graph, by: str, threshold: float) -> Labels:
    """Labels by the name of the method: what every engine, and every kind of score, groups with."""
    graph = graph if by == CORRELATION else graph.at_least(threshold)
    used = np.unique(np.concatenate([graph.a, graph.b]))  # most nodes are alone, and need no place in a Python list
    a, b = np.searchsorted(used, graph.a), np.searchsorted(used, graph.b)
    labels = np.arange(graph.nodes)
    labels[used] = used[METHODS[by](Graph(len(used), a, b, graph.weights), threshold)]
    return labels

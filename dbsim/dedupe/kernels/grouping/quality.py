"""How good groups are (seed methods, appendix A): labels and a graph or reference labels → one number."""

from __future__ import annotations

import math

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.dedupe.kernels.grouping.graph import Graph, Labels


def f_measure(labels: Labels, reference: Labels) -> float:
    """For each reference class the best harmonic mean of precision and recall over all groups, weighted by size."""
    found, group = np.unique(labels, return_inverse=True)
    classes, class_ = np.unique(reference, return_inverse=True)
    shape = (len(classes), len(found))
    common = scipy.sparse.coo_array((np.ones(len(labels)), (class_, group)), shape=shape)
    common.sum_duplicates()
    class_sizes, group_sizes = np.bincount(class_), np.bincount(group)
    row, column = common.coords
    # 2·prec·rec / (prec + rec) with prec = both/|group| and rec = both/|class|
    values = 2 * common.data / (class_sizes[row] + group_sizes[column])
    best = np.zeros(len(classes))
    np.maximum.at(best, row, values)
    return float((class_sizes * best).sum() / len(labels))


def expected_density(graph: Graph, labels: Labels) -> float:
    """Σ |V_i|/|V| · w(G_i)/|V_i|^θ, |V|^θ = w(G), w(G) = |V| + Σ edge weights; above 1: denser than the whole."""
    if graph.nodes < 2:
        return 1.0
    theta = math.log(graph.nodes + float(graph.weights.sum())) / math.log(graph.nodes)
    _, group = np.unique(labels, return_inverse=True)
    sizes = np.bincount(group).astype(float)
    inside = group[graph.a] == group[graph.b]
    weights = sizes + np.bincount(group[graph.a[inside]], graph.weights[inside], minlength=len(sizes))
    return float((sizes / graph.nodes * weights / sizes**theta).sum())


def partial_connectivity(graph: Graph, labels: Labels) -> float:
    """Λ = Σ |C_i|·λ̄_i, where λ̄_i is the least weight of edges without which the group falls apart."""
    total = 0.0
    matrix = graph.rows()
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(members) > 1:
            total += len(members) * minimum_cut(matrix[members][:, members].toarray())
    return total


def minimum_cut(weights: NDArray[np.float64]) -> float:
    """Stoer and Wagner 1997, on a symmetric matrix of at least two nodes; scipy has only cuts between two nodes."""
    weights = np.array(weights, float)
    best = math.inf
    left = list(range(len(weights)))
    while len(left) > 1:
        pull = weights[left].sum(axis=0) * 0.0
        rest, last, before = set(left), -1, -1
        while rest:
            before, last = last, max(rest, key=lambda node: (pull[node], -node))
            cut = float(pull[last])
            rest.remove(last)
            pull = pull + weights[last]
        best = min(best, cut)
        weights[before] += weights[last]
        weights[:, before] += weights[:, last]
        weights[before, before] = 0.0
        left.remove(last)
    return best

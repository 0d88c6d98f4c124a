"""Clusters of documents (Potthast 2006, appendix A.1.2): texts → labels by k-means or a similarity graph; quality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.kernels.grouping.kmeans import Means, assign, kmeans
from dbsim.dedupe.kernels.grouping.quality import expected_density, f_measure, partial_connectivity
from dbsim.dedupe.kernels.grouping.registry import METHODS, group
from dbsim.errors import InvalidOption
from dbsim.hashing.family import Model
from dbsim.hashing.signer import Signer
from dbsim.hashing.vectors import Vectors, align, fit_frequencies, vectors

BLOCK = 1000  # documents compared at once
BY = ("kmeans", *METHODS)

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """`labels[i]` is the cluster of `keys[i]`, numbered by size, the largest first."""

    keys: list[Any]
    labels: Labels
    graph: Graph  # similarities from the threshold on
    error: float | None = None  # of k-means: Σ ‖document - its centroid‖²
    model: Model | None = None  # of k-means: what `assigned` needs

    def __len__(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    def __iter__(self) -> Iterator[list[Any]]:
        """The keys of each cluster."""
        order = np.argsort(self.labels, kind="stable")
        ends = np.cumsum(np.bincount(self.labels, minlength=len(self)))
        for members in np.split(order, ends[:-1]) if len(self) else []:
            yield [self.keys[place] for place in members]

    def expected_density(self) -> float:
        """ρ̄: above 1, the clusters are denser than the whole."""
        return expected_density(self.graph, self.labels)

    def partial_connectivity(self) -> float:
        """Λ: the sum over clusters of their size times the weight of their weakest cut."""
        return partial_connectivity(self.graph, self.labels)

    def f_measure(self, classes: Sequence[Any]) -> float:
        """How well the clusters agree with the known class of each of `keys`; those with None are left out."""
        places = [place for place, known in enumerate(classes) if known is not None]
        if not places:
            raise InvalidOption("none of the clustered rows has a known class")
        _, reference = np.unique([str(classes[place]) for place in places], return_inverse=True)
        return f_measure(self.labels[places], reference.astype(np.int64))


def clusters(
    signer: Signer,
    keys: Sequence[Any],
    texts: Sequence[Sequence[str]],
    *,
    by: str = "kmeans",
    count: int | None = None,
    threshold: float,
    seed: int = 0,
) -> Clusters:
    """`texts[field][document]`; `count` is k-means' K, the other methods find their own number."""
    if by not in BY:
        raise InvalidOption(f"clusters by {by!r} are not known: use {', '.join(BY)}")
    if (count is None) == (by == "kmeans"):
        raise InvalidOption("k-means needs `count`, the number of clusters; the other methods find it themselves")
    graph = similarity_graph(signer, texts, threshold)
    if by != "kmeans":
        return Clusters(list(keys), by_size(group(graph, by, threshold)), graph)
    fitted, found = _means(signer, texts, count or 0, seed)
    labels = by_size(found.labels)
    order = np.empty(len(found.centroids), np.int64)
    order[labels] = found.labels  # centroids in the order of their new numbers
    model = fitted | {"centroids": found.centroids[order]}
    return Clusters(list(keys), labels, graph, found.error, model)


def assigned(signer: Signer, texts: Sequence[Sequence[str]], model: Model) -> Labels:
    """The cluster of each text by the nearest stored centroid."""
    asked = vectors(signer.documents(texts), model)
    stored = Vectors(model["centroid_terms"], scipy.sparse.csr_array(model["centroids"]))
    left, right = align(asked, stored)
    return assign(left, right.toarray())


def similarity_graph(signer: Signer, texts: Sequence[Sequence[str]], threshold: float) -> Graph:
    """Every pair whose exact measure reaches the threshold, a block of documents at a time."""
    documents = len(texts[0])
    first, second, scores = [], [], []
    for start in range(0, documents, BLOCK):
        block = signer.similarity([column[start : start + BLOCK] for column in texts], texts)
        a, b = np.nonzero(np.triu(block >= threshold, k=start + 1))
        first.append(a + start)
        second.append(b)
        scores.append(block[a, b])
    if not first:
        return Graph(0, *(np.empty(0, np.int64),) * 2, np.empty(0))
    return Graph(documents, np.concatenate(first), np.concatenate(second), np.concatenate(scores))


def by_size(labels: Labels) -> Labels:
    """The largest cluster is 0; of equally large ones the one that begins first."""
    _, first, inverse, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    place = np.empty(len(sizes), np.int64)
    place[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return place[inverse.reshape(-1)]


def _means(signer: Signer, texts: Sequence[Sequence[str]], count: int, seed: int) -> tuple[Model, Means]:
    documents = signer.documents(texts)
    fitted = fit_frequencies(documents)
    found = vectors(documents, fitted)
    try:
        means = kmeans(found.matrix, count, seed=seed)
    except ValueError as error:
        raise InvalidOption(str(error)) from error
    return fitted | {"centroid_terms": found.terms.astype(np.int64)}, means

"""The group of every content: Graph → Assignment (pure numpy; a database, bulk and Spark all call this)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.clustering import Graph, Known, Scorer, diameters, group

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Assignment:
    """One entry for each content that belongs to a group; a group is named after its representative's content."""

    fingerprints: Numbers
    group_ids: Numbers
    scores: NDArray[np.float64]
    diameters: NDArray[np.float64]

    def rows(self, generation: int, keys: dict[int, tuple[Any, ...]], part: slice) -> Iterator[tuple[Any, ...]]:
        """For the table; a group whose representative is gone is left out, its change is still to be worked in."""
        columns = (self.fingerprints, self.group_ids, self.scores, self.diameters)
        for fingerprint, group_id, *values in zip(*(column[part].tolist() for column in columns), strict=True):
            if group_id in keys:
                yield (generation, fingerprint, group_id, *values, *keys[group_id])


def assign(
    fingerprints: Numbers,
    copies: Numbers,
    graph: Graph,
    by: str,
    threshold: float,
    score: Scorer,
    estimate: Scorer,
) -> Assignment:
    """Nodes of the graph are contents in the order of their first rows; a content with copies is a group by itself."""
    labels = group(graph, by, threshold)
    members = np.bincount(labels, minlength=graph.nodes)
    grouped = np.flatnonzero((members[labels] > 1) | (copies > 1))
    known = Known(graph)
    return Assignment(
        fingerprints[grouped],
        fingerprints[labels[grouped]],
        known.completed(score)(labels[grouped], grouped),
        diameters(labels, known.completed(estimate))[grouped],
    )

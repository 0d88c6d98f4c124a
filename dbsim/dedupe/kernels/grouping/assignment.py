"""The group of every content: Graph → Assignment (pure numpy; a database, bulk and Spark all call this)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.decide import Decision
from dbsim.dedupe.kernels.grouping.constraints import Constraints, constrain
from dbsim.dedupe.kernels.grouping.diameters import Known, diameters
from dbsim.dedupe.kernels.grouping.graph import Graph, Labels, Scorer, components
from dbsim.dedupe.kernels.grouping.registry import CORRELATION, group

Numbers = NDArray[np.int64]
EVERY_PAIR = 500  # nodes of a component up to which each pair of them is compared
AT_ONCE = 1 << 18  # pairs


@dataclass(frozen=True)
class Assignment:
    """One entry for each content that belongs to a group; a group is named after its representative's content."""

    fingerprints: Numbers
    contents: Numbers  # the same, except of a row that was taken out of its content
    group_ids: Numbers
    scores: NDArray[np.float64]
    diameters: NDArray[np.float64]
    exact: NDArray[np.bool_]  # the scores
    sizes: Numbers  # of the whole group, in rows
    lowest: NDArray[np.float64]  # score of a member of the group with its representative

    def rows(
        self, generation: int, keys: dict[int, tuple[Any, ...]], part: slice | Numbers
    ) -> Iterator[tuple[Any, ...]]:
        """For the table; a group whose representative is gone is left out, its change is still to be worked in."""
        columns = (self.fingerprints, self.contents, self.group_ids, self.scores, self.diameters, self.exact)
        figures = zip(self.sizes[part].tolist(), self.lowest[part].tolist(), strict=True)
        rows = zip(*(column[part].tolist() for column in columns), strict=True)
        for (fingerprint, content, group_id, *values), figure in zip(rows, figures, strict=True):
            if group_id in keys:
                summary = figure if fingerprint == group_id else (None, None)
                yield (generation, fingerprint, content, group_id, *values, *summary, *keys[group_id])


@dataclass(frozen=True)
class Scores:
    """Similarities of pairs that have no edge: to the representative, and for the diameter."""

    exact: Scorer
    estimate: Scorer
    decision: Decision

    def of(self, kept: Numbers) -> Scores:
        """Between these nodes, by their places among them."""
        exact, estimate = self.exact, self.estimate
        return replace(
            self, exact=lambda a, b: exact(kept[a], kept[b]), estimate=lambda a, b: estimate(kept[a], kept[b])
        )

    @property
    def representative(self) -> Scorer:
        return self.exact if self.known else self.estimate

    @property
    def known(self) -> bool:
        """Whether scores without an edge come from the texts."""
        return self.decision.verify is True or not self.decision.estimated

    @property
    def diameter(self) -> Scorer:
        """Of all pairs of a group, so the texts are asked only where there is nothing else."""
        return self.estimate if self.decision.estimated else self.exact


@dataclass(frozen=True)
class Contents:
    """The nodes of a graph, in the order of their first rows; `exact` tells of each edge whether its weight is.

    `own` is what rows of one content score: 1 of texts, of persons the probability that two equal rows are one person.
    """

    fingerprints: Numbers
    copies: Numbers
    graph: Graph
    exact: NDArray[np.bool_]
    own: NDArray[np.float64]

    def only(self, kept: Numbers) -> Contents:
        """These nodes, which have all the edges."""
        a, b = np.searchsorted(kept, self.graph.a), np.searchsorted(kept, self.graph.b)
        graph = Graph(len(kept), a, b, self.graph.weights)
        return Contents(self.fingerprints[kept], self.copies[kept], graph, self.exact, self.own[kept])

    @property
    def copied(self) -> NDArray[np.bool_]:
        """Those of several rows."""
        return self.copies > 1


def assign(
    contents: Contents, by: str, threshold: float, scores: Scores, constraints: Constraints | None = None
) -> Assignment:
    """A content whose copies reach the threshold is a group by itself; `constraints` are what people decided.

    Most contents have neither twin nor copy: they are left out before anything is counted, so that memory grows with
    what is found.
    """
    decided, graph = constraints or Constraints(), contents.graph
    parts = (graph.a, graph.b, np.flatnonzero(contents.copied), decided.same.ravel(), decided.different.ravel())
    kept = np.unique(np.concatenate([part.astype(np.int64) for part in parts]))
    decided = Constraints(np.searchsorted(kept, decided.same), np.searchsorted(kept, decided.different))
    contents, scores = contents.only(kept), scores.of(kept)
    compared = contents.graph.at_least(threshold)
    if by == CORRELATION:
        compared = _every_pair(compared, Known(contents.graph).completed(scores.representative))
    return _described(contents, constrain(compared, decided, lambda g: group(g, by, threshold)), threshold, scores)


def _described(contents: Contents, labels: Labels, threshold: float, scores: Scores) -> Assignment:
    """The groups of these labels, with what is shown of them."""
    graph, nodes = contents.graph, contents.graph.nodes
    members = np.bincount(labels, minlength=nodes)
    grouped = np.flatnonzero((members[labels] > 1) | (contents.copied & (contents.own >= threshold)))
    leaders, known = labels[grouped], Known(graph)
    certain = Known(replace(graph, weights=contents.exact.astype(np.float64)))
    found = known.completed(scores.representative)(leaders, grouped)
    itself = (leaders == grouped) & contents.copied[grouped]  # its rows, of which one is the representative
    found[itself] = contents.own[grouped[itself]]
    lowest = np.full(nodes, np.inf)
    np.minimum.at(lowest, leaders, found)
    sizes = np.bincount(labels, contents.copies, minlength=nodes).astype(np.int64)
    return Assignment(
        contents.fingerprints[grouped],
        contents.fingerprints[grouped],
        contents.fingerprints[leaders],
        found,
        _with_copies(contents, labels, diameters(labels, known.completed(scores.diameter)))[grouped],
        (certain.completed(lambda a, _: np.full(len(a), float(scores.known)))(leaders, grouped) > 0)
        & ~(itself & (found < 1)),
        sizes[leaders],
        lowest[leaders],
    )


def _with_copies(contents: Contents, labels: Labels, diameters: NDArray[np.float64]) -> NDArray[np.float64]:
    """At least as far apart as the copies of a member are."""
    widest = np.zeros(len(labels))
    np.maximum.at(widest, labels, np.where(contents.copied, 1 - contents.own, 0.0))
    found: NDArray[np.float64] = np.maximum(diameters, widest[labels])
    return found


def _every_pair(graph: Graph, score: Scorer) -> Graph:
    """All pairs inside each component, also those that do not reach the threshold; of a large one only its edges."""
    whole = components(graph)
    order = np.argsort(whole, kind="stable")
    starts = np.flatnonzero(np.diff(whole[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    found = [graph.where(sizes[np.searchsorted(whole[order][starts], whole[graph.a])] > EVERY_PAIR)]
    for size in np.unique(sizes[(sizes > 1) & (sizes <= EVERY_PAIR)]).tolist():
        i, j = np.triu_indices(size, 1)
        mine = starts[sizes == size]
        step = max(AT_ONCE // len(i), 1)
        for first in range(0, len(mine), step):
            members = order[mine[first : first + step, None] + np.arange(size)]
            a, b = members[:, i].reshape(-1), members[:, j].reshape(-1)
            found.append(Graph(graph.nodes, a, b, score(a, b)))
    columns = ([getattr(part, name) for part in found] for name in ("a", "b", "weights"))
    return Graph(graph.nodes, *(np.concatenate(column) for column in columns))

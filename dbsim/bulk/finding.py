"""Near-duplicate pairs and groups of gathered rows: Gathered → edges of contents → the group of every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.bulk.gathering import Gathered, Numbers
from dbsim.dedupe.kernels.buckets import affordable
from dbsim.dedupe.kernels.decide import Decision
from dbsim.dedupe.kernels.exact import compare
from dbsim.dedupe.kernels.grouping.assignment import Assignment, Contents, Scores, assign
from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.kernels.missing import Limited
from dbsim.dedupe.kernels.pairs import Candidates
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.hashing.signer import Signer
from dbsim.progress import Progress

EXACT = 1000  # pairs whose texts are compared at once


@dataclass(frozen=True)
class Edges:
    """Pairs of contents, by their numbers, in the order of (a, b); `exact` where the texts decided."""

    a: NDArray[Any]
    b: NDArray[Any]
    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]
    limited: Limited


@dataclass
class Finding:
    """One collection of rows, compared in one way."""

    rows: Gathered
    signer: Signer
    options: PairOptions
    progress: Progress
    limited: Limited = field(default_factory=Limited)

    @property
    def decision(self) -> Decision:
        return Decision(self.rows.collection.fields, self.options.threshold, self.options.verify)

    @cached_property
    def edges(self) -> Edges:
        collection, decision = self.rows.collection, self.decision
        limits = affordable(collection.columns, collection.key, self.options.limits, len(collection))
        candidates = Candidates(collection, limits)
        parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0, bool))]
        for found in candidates.pairs(decision, 0, lambda done, total: self.progress("comparing", done, total)):
            scores = found.scores.copy()
            scores[found.unsure] = self.exact(found.a[found.unsure], found.b[found.unsure])
            kept = scores >= self.options.threshold
            parts.append((found.a[kept], found.b[kept], scores[kept], found.unsure[kept]))
        a, b, scores, exact = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Edges(a, b, scores, exact, candidates.limited)

    @cached_property
    def row_places(self) -> Numbers:
        """Each row's place in the order of the keys."""
        found = self.rows.key_order()
        return np.arange(len(self.rows.rows)) if found is None else found

    @cached_property
    def row_contents(self) -> Numbers:
        return self.rows.content()

    @cached_property
    def first_rows(self) -> Numbers:
        """The row of each content that comes first in the order of the keys."""
        order = np.argsort(self.row_places)
        contents, first = np.unique(self.row_contents[order], return_index=True)
        assert len(contents) == len(self.rows.collection)
        found: Numbers = order[first]
        return found

    @cached_property
    def places(self) -> Numbers:
        """Each content's place in the order of the contents' first rows."""
        place = np.empty(len(self.first_rows), np.int64)
        place[np.argsort(self.row_places[self.first_rows])] = np.arange(len(place))
        return place

    def groups(self, options: GroupOptions) -> Assignment:
        edges, place = self.edges, self.places
        content = np.argsort(place)
        self.progress("grouping", 0, len(place))
        collection = self.rows.collection

        def estimate(x: Numbers, y: Numbers) -> NDArray[np.float64]:
            return collection.scores(content[x], content[y])

        def exact(x: Numbers, y: Numbers) -> NDArray[np.float64]:
            return self.exact(content[x], content[y])

        graph = Graph(len(place), place[edges.a], place[edges.b], edges.scores)
        fingerprints, copies = collection.fingerprints[content], collection.copies[content]
        scores = Scores(exact, estimate, self.decision)
        contents = Contents(fingerprints, copies, graph, edges.exact, np.ones(len(copies)))
        return assign(contents, options.by, options.threshold, scores)

    def exact(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.float64]:
        """Of pairs of contents, from their texts."""
        seen = self.rows.collection.order  # a content's number → its place among the stored texts
        result = np.zeros(len(a))
        for start in range(0, len(a), EXACT):
            part = slice(start, start + EXACT)
            wanted, places = np.unique(np.concatenate([a[part], b[part]]), return_inverse=True)
            columns = [store.read(seen[wanted]) for store in self.rows.texts]
            half = len(places) // 2
            result[part] = compare(self.signer, columns, places[:half], places[half:])
        return result

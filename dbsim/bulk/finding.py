"""Near-duplicate pairs and groups of gathered rows: Gathered → edges of contents → the group of every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dbsim.bulk.gathering import Gathered, Numbers
from dbsim.dedupe.kernels.assignment import Assignment, assign
from dbsim.dedupe.kernels.clustering import Graph
from dbsim.dedupe.kernels.exact import compare
from dbsim.dedupe.kernels.pairs import Candidates, Limited
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.hashing.signer import Signer
from dbsim.progress import Progress

EXACT = 1000  # pairs whose texts are compared at once
MARGIN = 0.08  # how far below the threshold an estimate is still looked at: four standard errors


@dataclass(frozen=True)
class Edges:
    """Pairs of contents, by their numbers, in the order of (a, b)."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    scores: NDArray[np.float64]
    limited: Limited


@dataclass
class Finding:
    """One collection of rows, compared in one way."""

    rows: Gathered
    signer: Signer
    options: PairOptions
    progress: Progress
    limited: Limited = field(default_factory=Limited)

    @cached_property
    def edges(self) -> Edges:
        collection, threshold = self.rows.collection, self.options.threshold
        candidates = Candidates(collection, self.options.limits)
        parts = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))]
        lowest = max(threshold - MARGIN, 0.0) if self.options.verify else threshold
        for found in candidates.pairs(lowest, 0, lambda done, total: self.progress("comparing", done, total)):
            a, b, scores = found.a, found.b, found.scores
            if self.options.verify:
                scores = self.exact(a, b)
                kept = scores >= threshold
                a, b, scores = a[kept], b[kept], scores[kept]
            parts.append((a, b, scores))
        a, b, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Edges(a, b, scores, candidates.limited)

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
            return collection.scores(content[x].astype(np.int32), content[y].astype(np.int32))

        def exact(x: Numbers, y: Numbers) -> NDArray[np.float64]:
            return self.exact(content[x], content[y])

        graph = Graph(len(place), place[edges.a], place[edges.b], edges.scores)
        fingerprints, copies = collection.fingerprints[content], collection.copies[content]
        score = exact if self.options.verify else estimate
        return assign(fingerprints, copies, graph, options.by, options.threshold, score, estimate)

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

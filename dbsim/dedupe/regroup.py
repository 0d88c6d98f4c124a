"""Group again what hangs together with changed contents: seeds → rows of dbsim_<index>_contents, as a full run's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from dbsim.dedupe.contents import Edges, firsts, incident
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.grouping.assignment import Contents, Scores
from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.links import Links, assign_with, links_of
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.signature_rows import Numbers

NOTHING = np.empty(0, np.int64)


class Changed(Protocol):
    """What is about to be written: contents whose stored pairs are replaced, and the new pairs."""

    compared: Numbers
    edges: Edges


@dataclass(frozen=True)
class Regrouped:
    """Of one result: contents whose groups are replaced, their new rows, and rows that are nodes of their own."""

    generation: int
    contents: Numbers
    rows: list[tuple[Any, ...]]
    apart: list[tuple[Any, ...]]


@dataclass
class Regroup:
    """One result's part in an update."""

    place: Workplace
    number: int  # of the pairing
    pairs: PairOptions
    options: GroupOptions
    update: Changed

    def run(
        self, connection: Connection, seeds: Numbers, generation: int, read: Callable[[Connection, Numbers], Collection]
    ) -> Regrouped:
        links = links_of(connection, self.place.context)
        nodes, edges = self._component(connection, seeds, self.options.threshold, links)
        around = read(connection, nodes)
        found = [
            first
            for first in firsts(connection, self.place.backend, self.place.tables, nodes)
            if around.find(np.array([first.fingerprint]))[1]  # a row may go while this is computed; then it is in vain
        ]
        fingerprints = np.array([first.fingerprint for first in found], np.int64)
        copies = np.array([first.copies for first in found], np.int64)
        edges = edges.where(np.isin(edges.a, fingerprints) & np.isin(edges.b, fingerprints))
        numbers = np.argsort(fingerprints)
        a, b = (numbers[np.searchsorted(fingerprints[numbers], end)] for end in (edges.a, edges.b))
        graph = Graph(len(found), a, b, edges.scores)
        place, _ = around.find(fingerprints)

        def estimate(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            return around.scores(place[x], place[y])

        def exact(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            return self.place.verifier.scores(fingerprints[x], fingerprints[y], connection)

        scores = Scores(exact, estimate, self.place.decision(self.pairs))
        contents = Contents(fingerprints, copies, graph, edges.exact, around.own(place, copies))
        made = assign_with(links, contents, self.options, scores)
        apart = links.apart.of(fingerprints)
        keys = {first.fingerprint: first.key for first in found} | apart.named
        return Regrouped(generation, nodes, list(made.rows(generation, keys, slice(None))), apart.rows(generation))

    def _component(
        self, connection: Connection, seeds: Numbers, threshold: float, links: Links
    ) -> tuple[Numbers, Edges]:
        """Everything that hangs together with the seeds once the update is done, and the pairs of it."""
        compared = self.update.compared
        new = self.update.edges.where(self.update.edges.scores >= threshold)
        known, front, parts = NOTHING, seeds, [new]
        while len(front):
            known = np.union1d(known, front)
            stored = incident(connection, self.place.backend, self.place.groups, self.number, front)
            valid = ~np.isin(stored.a, compared) & ~np.isin(stored.b, compared)
            parts.append(stored.where(valid & (stored.scores >= threshold)))
            fresh = new.where(np.isin(new.a, front) | np.isin(new.b, front))
            reached = np.concatenate([parts[-1].a, parts[-1].b, fresh.a, fresh.b, links.touching(front)])
            front = np.setdiff1d(reached, known)
        edges = Edges.concatenate(parts)
        edges = edges.where(np.isin(edges.a, known) & np.isin(edges.b, known))
        _, once = np.unique(np.stack([edges.a, edges.b]), axis=1, return_index=True)
        return known, edges.where(once)

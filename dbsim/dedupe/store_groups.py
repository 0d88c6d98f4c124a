"""From stored pairs to stored groups: edges → the group, representative, score and diameter of every content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select

from dbsim.dedupe.contents import edge_pages, firsts
from dbsim.dedupe.kernels.assignment import Assignment, assign
from dbsim.dedupe.kernels.clustering import Graph
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.signature_rows import Numbers
from dbsim.tables import group_state

BATCH = 5_000  # contents written in one transaction


@dataclass
class Regrouping:
    """All groups of an index anew, beside those shown until now."""

    place: Workplace
    options: GroupOptions
    pairs: PairOptions

    def run(self, collection: Collection) -> None:
        self.place.progress("grouping", 0, len(collection))
        assignment = self.assign(collection)
        generation = self._write(self._generation) + 1
        self._clear()
        total = len(assignment.fingerprints)
        for start in range(0, total, BATCH):
            part = slice(start, start + BATCH)
            wanted = np.unique(assignment.group_ids[part])
            found = self.place.read(partial(self._firsts, wanted=wanted))
            rows = list(assignment.rows(generation, {first.fingerprint: first.key for first in found}, part))
            self._write(partial(self._store, rows=rows))
            self.place.progress("storing groups", min(start + BATCH, total), total)
        self._write(partial(self._show, generation=generation))
        self._clear()

    def _write(self, work: Callable[[Connection], int]) -> int:
        return self.place.write(work)

    def assign(self, collection: Collection) -> Assignment:
        content = np.argsort(collection.order)  # the place in key order → the content's number
        graph = self._graph(collection)

        def estimate(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            return collection.scores(content[x].astype(np.int32), content[y].astype(np.int32))

        def exact(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            found = collection.fingerprints
            return self.place.verifier.scores(found[content[x]], found[content[y]])

        score = exact if self.pairs.verify else estimate
        fingerprints, copies = collection.fingerprints[content], collection.copies[content]
        return assign(fingerprints, copies, graph, self.options.by, self.options.threshold, score, estimate)

    def _graph(self, collection: Collection) -> Graph:
        """All stored pairs between contents that are still there, numbered in key order."""
        ends, scores = [np.empty((2, 0), np.int32)], [np.empty(0)]
        for page in edge_pages(self.place.context, self.place.groups, self.options.threshold):
            (a, there_a), (b, there_b) = collection.find(page.a), collection.find(page.b)
            there = there_a & there_b
            ends.append(collection.order[np.stack([a[there], b[there]])].astype(np.int32))
            scores.append(page.scores[there])
        a, b = np.concatenate(ends, axis=1)
        return Graph(len(collection), a, b, np.concatenate(scores))

    def _firsts(self, connection: Connection, wanted: Numbers) -> Any:
        return firsts(connection, self.place.backend, self.place.tables, wanted)

    def _generation(self, connection: Connection) -> int:
        return group_state.own(connection, self.place.groups, self.place.token).generation

    def _clear(self) -> None:
        """Remove what is not shown, little by little: a former generation, or the rest of a run that was stopped."""
        while self._write(self._remove_some):
            pass

    def _remove_some(self, connection: Connection) -> int:
        generation = group_state.load(connection, self.place.groups).generation
        contents = self.place.groups.contents
        old = contents.c.generation != generation
        some = select(contents.c.fingerprint).where(old).limit(BATCH)
        return connection.execute(delete(contents).where(old, contents.c.fingerprint.in_(some))).rowcount

    def _store(self, connection: Connection, rows: list[tuple[Any, ...]]) -> int:
        group_state.own(connection, self.place.groups, self.place.token)
        self.place.backend.insert_rows(connection, self.place.groups.contents, rows)
        return len(rows)

    def _show(self, connection: Connection, generation: int) -> int:
        """From one moment to the next the new groups are there."""
        group_state.own(connection, self.place.groups, self.place.token)
        values = {"generation": generation, "grouping": self.options.to_json(), "paired": True}
        group_state.save(connection, self.place.groups, **values)
        return generation

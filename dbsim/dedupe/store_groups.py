"""From stored pairs to stored groups: edges → the group, representative, score and diameter of every content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, select

from dbsim.dedupe.contents import edge_pages, firsts
from dbsim.dedupe.kernels.buckets import node_type
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.grouping.assignment import Assignment, Contents, Scores
from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.links import Links, assign_with, links_of
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.signature_rows import Numbers
from dbsim.tables import group_results, group_state
from dbsim.tables.group_tables import GroupTables

BATCH = 5_000  # contents written in one transaction
BEING_MADE = " ..."  # behind the name of a result whose groups are not complete; in ASCII, which every encoding has


@dataclass
class Regrouping:
    """All groups of an index anew, beside those shown until now."""

    place: Workplace
    options: GroupOptions
    pairs: PairOptions
    number: int  # of the pairing
    result: str  # its name

    def run(self, collection: Collection) -> None:
        self.place.progress("grouping", 0, len(collection))
        assignment = self.assign(collection)
        clear(self.place)
        generation = self._write(self._generation)
        total = len(assignment.fingerprints)
        # group by group, in the order of one B-tree, and of the one by which representatives are found: in the order of
        # the contents every batch would need pages from all over both
        order = np.lexsort((assignment.fingerprints, assignment.group_ids))
        for start in range(0, total, BATCH):
            part = order[start : start + BATCH]
            wanted = np.unique(assignment.group_ids[part])
            found = self.place.read(partial(self._firsts, wanted=wanted))
            keys = {first.fingerprint: first.key for first in found} | self.links.apart.named
            rows = list(assignment.rows(generation, keys, part))
            self._write(partial(self._store, rows=rows))
            self.place.progress("storing groups", min(start + BATCH, total), total)
        self._write(partial(self._store_apart, generation=generation))
        self._write(partial(self._show, generation=generation))
        self.place.verifier.unread.clear()
        clear(self.place)

    def _write(self, work: Callable[[Connection], int]) -> int:
        return self.place.write(work)

    def assign(self, collection: Collection) -> Assignment:
        content = np.empty_like(collection.order)  # the place in key order → the content's number
        content[collection.order] = np.arange(len(collection))
        graph, certain = self._graph(collection)

        def estimate(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            return collection.scores(content[x], content[y])

        def exact(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            found = collection.fingerprints
            return self.place.verifier.scores(found[content[x]], found[content[y]])

        scores = Scores(exact, estimate, self.place.decision(self.pairs))
        fingerprints, copies = collection.fingerprints[content], collection.copies[content]
        contents = Contents(fingerprints, copies, graph, certain, collection.own(content, copies))
        return assign_with(self.links, contents, self.options, scores)

    @cached_property
    def links(self) -> Links:
        """The decisions that this run respects; those made later are noted and worked in."""
        return self.place.read(lambda c: links_of(c, self.place.context))

    def _graph(self, collection: Collection) -> tuple[Graph, NDArray[np.bool_]]:
        """All stored pairs between contents that are still there, numbered in key order, and which are exact."""
        ends, scores, exact = [np.empty((2, 0), np.int64)], [np.empty(0)], [np.empty(0, bool)]
        node = node_type(len(collection))
        for page in edge_pages(self.place.context, self.place.groups, self.number, self.options.threshold):
            (a, there_a), (b, there_b) = collection.find(page.a), collection.find(page.b)
            there = there_a & there_b
            ends.append(collection.order[np.stack([a[there], b[there]])].astype(node))
            scores.append(page.scores[there])
            exact.append(page.exact[there])
        a, b = np.concatenate(ends, axis=1)
        return Graph(len(collection), a, b, np.concatenate(scores)), np.concatenate(exact)

    def _firsts(self, connection: Connection, wanted: Numbers) -> Any:
        return firsts(connection, self.place.backend, self.place.tables, wanted)

    def _generation(self, connection: Connection) -> int:
        """One that no other run takes: its first row is the result's, which is written at once."""
        self.place.backend.lock_all(connection, self.place.tables)
        group_state.own(connection, self.place.groups, self.number, self.place.token)
        generation = group_results.next_generation(connection, self.place.groups)
        values = {"pairing": self.number, "generation": generation, "grouping": "", "saved": False}
        group_results.put(connection, self.place.groups, self._made, **values)
        return generation

    @property
    def _made(self) -> str:
        """The name under which the new groups are kept until they are complete."""
        return f"{self.result}{BEING_MADE}"

    def _store(self, connection: Connection, rows: list[tuple[Any, ...]]) -> int:
        group_state.own(connection, self.place.groups, self.number, self.place.token)
        self.place.backend.make_room(connection, writing=True)
        self.place.backend.insert_rows(connection, self.place.groups.contents, rows)
        return len(rows)

    def _store_apart(self, connection: Connection, generation: int) -> int:
        group_state.own(connection, self.place.groups, self.number, self.place.token)
        rows = self.links.apart.rows(generation)
        self.place.backend.insert_rows(connection, self.place.groups.apart, rows)
        return len(rows)

    def _show(self, connection: Connection, generation: int) -> int:
        """From one moment to the next the new groups are there."""
        groups = self.place.groups
        group_state.own(connection, groups, self.number, self.place.token)
        before = group_results.find(connection, groups, self.result)
        connection.execute(delete(groups.results).where(groups.results.c.name == self._made))
        values = {"pairing": self.number, "generation": generation, "grouping": self.options.to_json()}
        group_results.put(connection, groups, self.result, saved=before is not None and before.saved, **values)
        self.place.note_unread(connection, self.number)
        return generation


def clear(place: Workplace) -> None:
    """Remove what belongs to no result, little by little: former groups, or the rest of a run that was stopped."""
    while place.write(partial(_remove_some, groups=place.groups)):
        pass


def _remove_some(connection: Connection, groups: GroupTables) -> int:
    contents, results, apart = groups.contents, groups.results, groups.apart
    old = contents.c.generation.not_in(select(results.c.generation))
    connection.execute(delete(apart).where(apart.c.generation.not_in(select(results.c.generation))))
    some = select(contents.c.generation, contents.c.fingerprint).where(old).limit(BATCH).subquery()
    number = connection.scalar(select(func.min(some.c.generation)))
    if number is None:
        return 0
    chosen = select(some.c.fingerprint).where(some.c.generation == number)
    gone = delete(contents).where(contents.c.generation == number, contents.c.fingerprint.in_(chosen))
    return connection.execute(gone).rowcount

"""Groups in one step, where edges and copies are few enough for the driver to know what hangs together.

Every row of a content that has an edge or copies is sent to the part of its component, where texts decide the edges
that the estimates leave open and the kernel makes the groups: no joins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbsim.dedupe.kernels.grouping.graph import Graph, components
from dbsim.spark.functions import Work, finder
from dbsim.spark.parcels import Numbers

TOGETHER = 100_000  # rows of components that one task may group at once


@dataclass(frozen=True)
class Few:
    """Contents by ascending fingerprint, and edges between their places in the order of the parts."""

    work: Work
    nodes: Numbers
    part: Numbers  # of each content
    asked: NDArray[np.bool_]  # whether its text may be asked for
    a: Numbers
    b: Numbers
    score: NDArray[np.float64]
    unsure: NDArray[np.bool_]

    @staticmethod
    def of(work: Work, edges: pa.Table, copies: Numbers, tasks: int) -> Few | None:
        """None where one component has so many rows that a task could not hold them."""
        ends = [edges.column(end).to_numpy() for end in "ab"]
        score, unsure = (edges.column(name).to_numpy() for name in ("score", "unsure"))
        nodes, places = np.unique(np.concatenate([*ends, copies[:, 0]]), return_inverse=True)
        a, b, copied = np.split(places, [len(edges), 2 * len(edges)])
        labels = components(Graph(len(nodes), a, b, score))
        rows = np.ones(len(nodes), np.int64)
        rows[copied] += copies[:, 1]
        if np.bincount(labels, rows, minlength=1).max() > TOGETHER:
            return None
        part = labels % max(tasks, int(rows.sum()) // TOGETHER)
        asked = np.full(len(nodes), work.pairing.verify is True)
        asked[a[unsure]] = asked[b[unsure]] = True
        order = np.argsort(part[a], kind="stable")
        return Few(work, nodes, part, asked, a[order], b[order], score[order], unsure[order])

    # ── on executors ──
    def choose(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Signed rows → those of these contents, with their part first; texts only where they are asked for."""
        for batch in batches:
            fingerprints = batch.column("f").to_numpy()
            place = np.minimum(np.searchsorted(self.nodes, fingerprints), max(len(self.nodes) - 1, 0))
            chosen = np.flatnonzero(self.nodes[place] == fingerprints) if len(self.nodes) else place[:0]
            place, found = place[chosen], batch.take(pa.array(chosen))
            asked = pa.array(self.asked[place])
            columns = [
                pc.if_else(asked, column, pa.scalar(None, column.type)) if name in self.work.texts else column
                for name, column in zip(found.schema.names, found.columns, strict=True)
            ]
            names = ["part", *found.schema.names]
            yield pa.RecordBatch.from_arrays([pa.array(self.part[place]), *columns], names=names)

    def group(self, rows: pa.Table) -> pa.Table:
        """The rows of a part → the key, group_id, score, diameter, r0 …: the representative's key."""
        rows = self.work.in_order(rows)
        _, first, inverse, copies = np.unique(
            rows.column("f").to_numpy(), return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)
        contents = rows.take(pa.array(first[order]))
        content = np.argsort(order)[inverse]  # of each row
        find = finder(contents)
        graph, exact = self._graph(contents, int(rows.column("part")[0].as_py()))
        found = self.work.assigned(contents, copies[order], graph, exact)
        entry = np.full(len(contents), -1)
        entry[find(found.fingerprints)] = np.arange(len(found.fingerprints))
        there = np.flatnonzero(entry[content] >= 0)
        entry = entry[content[there]]
        own = rows.select(list(self.work.key)).take(pa.array(there))
        leaders = contents.select(list(self.work.key)).take(pa.array(find(found.group_ids[entry])))
        figures = [pa.array(column[entry]) for column in (found.group_ids, found.scores, found.diameters)]
        names = ["group_id", "score", "diameter", *(f"r{number}" for number in range(len(self.work.key)))]
        return pa.table([*own.columns, *figures, *leaders.columns], names=[*self.work.key, *names])

    def _graph(self, contents: pa.Table, part: int) -> tuple[Graph, NDArray[np.bool_]]:
        """(the edges of a part that reach the threshold, which of them texts have decided)"""
        start, end = np.searchsorted(self.part[self.a], [part, part + 1])
        find = finder(contents)
        a, b = (find(self.nodes[side[start:end]]) for side in (self.a, self.b))
        score, unsure = self.score[start:end].copy(), self.unsure[start:end]
        score[unsure] = self.work.scores(contents).exact(a[unsure], b[unsure])
        kept = score >= self.work.pairing.threshold
        return Graph(len(contents), a[kept], b[kept], score[kept]), unsure[kept]

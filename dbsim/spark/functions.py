"""What executors do with texts and secrets: rows → signatures, pairs → exact scores, components → groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbsim.bulk.reading import cut
from dbsim.bulk.signing import sign
from dbsim.dedupe.kernels.decide import Decision, FieldScore, estimates
from dbsim.dedupe.kernels.exact import compare
from dbsim.dedupe.kernels.grouping.assignment import Assignment, Contents, Scores, assign
from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions
from dbsim.spark.layout import Layout
from dbsim.spark.parcels import Numbers, binary, unbinary

Batches = Iterator[pa.RecordBatch]
EXACT = 1000  # pairs whose texts are compared at once


class Secret:
    """Travels to the executors inside of the functions, and shows itself nowhere."""

    def __init__(self, value: bytes) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Secret(…)"


@dataclass(frozen=True)
class Work:
    """How rows are compared; `key` are the key's columns, called k0 … in what follows; the texts of fields are t0 …."""

    options: str
    secret: Secret
    pairing: PairOptions
    grouping: GroupOptions
    key: tuple[str, ...]

    @cached_property
    def index(self) -> IndexOptions:
        return IndexOptions.from_json(self.options)

    @cached_property
    def layout(self) -> Layout:
        joins = self.index.hashing.joins(self.index.plan, self.index.threshold, self.index.recall)
        return Layout(tuple(joins), self.decision.fields)

    @property
    def texts(self) -> list[str]:
        return [f"t{number}" for number in range(len(self.index.fields))]

    @property
    def decision(self) -> Decision:
        fields = (
            FieldScore(part.bits, part.weight, part.sample, part.reading if part.filter else None)
            for part in self.index.fields
        )
        return Decision(tuple(fields), self.pairing.threshold, self.pairing.verify)

    @cached_property
    def signer(self) -> Signer:
        return self.index.signer(self.secret.value)

    # ── each is called once for a partition, with its batches ──
    def sign(self, batches: Batches) -> Batches:
        """k0 … and the columns of the fields → k0 …, f (fingerprint), s (see layout.py), t0 …; rows with features."""
        for batch in batches:
            for part in cut(batch):
                yield self._signed(part)

    def _signed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        done = sign(batch, self.index, self.signer, self.key)
        fingerprints, packed = pa.array(done.signatures.fingerprints), binary(self.layout.packed(done.signatures))
        columns = [*done.keys.columns, fingerprints, packed, *(text.cast(pa.string()) for text in done.texts)]
        return pa.RecordBatch.from_arrays(columns, names=[*self.key, "f", "s", *self.texts])

    def decide(self, batches: Batches) -> Batches:
        """a, b, the texts of both → a, b, score: pairs whose texts reach the threshold."""
        for batch in batches:
            for start in range(0, len(batch), EXACT):
                part = batch.slice(start, EXACT)
                a, b = _numbers(part, "a"), _numbers(part, "b")
                scores = self._exact(part, a, b)
                kept = scores >= self.pairing.threshold
                arrays = [pa.array(column[kept]) for column in (a, b, scores)]
                yield pa.RecordBatch.from_arrays(arrays, names=["a", "b", "score"])

    def _exact(self, batch: pa.RecordBatch, a: Numbers, b: Numbers) -> NDArray[np.float64]:
        """A content's text is read once, however many pairs it is in."""
        _, first, places = np.unique(np.concatenate([a, b]), return_index=True, return_inverse=True)
        columns = []
        for name in self.texts:
            both = pa.chunked_array([batch.column(f"a_{name}"), batch.column(f"b_{name}")])
            columns.append(both.take(pa.array(first)).to_pylist())
        return compare(self.signer, columns, places[: len(a)], places[len(a) :])

    def group(self, edges: pa.Table, contents: pa.Table) -> pa.Table:
        """Of some components → f, group_id, score, diameter, r0 …: the representative's key."""
        contents = self.in_order(contents)
        find = finder(contents)
        a, b = (find(_numbers(edges, end)) for end in "ab")
        graph = Graph(len(contents), a, b, _numbers(edges, "score"))
        found = self.assigned(contents, _numbers(contents, "copies"), graph, _numbers(edges, "exact"))
        own = contents.select(list(self.key)).take(pa.array(find(found.group_ids)))
        columns = [found.fingerprints, found.group_ids, found.scores, found.diameters]
        names = ["f", "group_id", "score", "diameter", *(f"r{number}" for number in range(len(self.key)))]
        return pa.table([*map(pa.array, columns), *own.columns], names=names)

    def in_order(self, rows: pa.Table) -> pa.Table:
        """Of their keys."""
        return rows.take(pc.sort_indices(rows, [(name, "ascending") for name in self.key]))

    def assigned(self, contents: pa.Table, copies: Numbers, graph: Graph, exact: NDArray[np.bool_]) -> Assignment:
        """`contents` in the order of their first rows."""
        made = Contents(_numbers(contents, "f"), copies, graph, exact, np.ones(len(copies)))
        return assign(made, self.grouping.by, self.grouping.threshold, self.scores(contents))

    def scores(self, contents: pa.Table) -> Scores:
        """Between contents that have no edge."""
        decision = self.decision
        filters = self.layout.filters(unbinary(contents.column("s"), self.layout.width))

        def estimate(x: Numbers, y: Numbers) -> NDArray[np.float64]:
            sides = ([Filters(part.bits[side], part.counts[side]) for part in filters] for side in (x, y))
            return estimates(decision.fields, *sides)

        def exact(x: Numbers, y: Numbers) -> NDArray[np.float64]:
            result = np.zeros(len(x))
            for start in range(0, len(x), EXACT):
                part = slice(start, start + EXACT)
                wanted, places = np.unique(np.concatenate([x[part], y[part]]), return_inverse=True)
                columns = [contents.column(name).take(pa.array(wanted)).to_pylist() for name in self.texts]
                half = len(places) // 2
                result[part] = compare(self.signer, columns, places[:half], places[half:])
            return result

        return Scores(exact, estimate, decision)

    def __getstate__(self) -> dict[str, Any]:
        """What was made here is made anew there."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


def finder(contents: pa.Table) -> Callable[[Numbers], Numbers]:
    """Fingerprints → the places of these contents."""
    fingerprints = _numbers(contents, "f")
    order = np.argsort(fingerprints)

    def find(wanted: Numbers) -> Numbers:
        return order[np.searchsorted(fingerprints, wanted, sorter=order)]

    return find


def _numbers(batch: Any, name: str) -> NDArray[Any]:
    found: NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return found

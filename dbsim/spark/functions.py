"""What executors do with Arrow batches: rows → signatures, candidate pairs → scores, components → groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbsim.bulk.signing import sign
from dbsim.dedupe.kernels.assignment import assign
from dbsim.dedupe.kernels.clustering import Graph
from dbsim.dedupe.kernels.collection import FieldScore, weighted_scores
from dbsim.hashing.bloom import Filters, count_ranges
from dbsim.options import IndexOptions

Batches = Iterator[pa.RecordBatch]


class Secret:
    """Travels to the executors inside of the functions; shows itself nowhere."""

    def __init__(self, value: bytes) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Secret(…)"


@dataclass(frozen=True)
class Shape:
    """How the filters of a content lie in its columns `bits` and `counts`."""

    fields: tuple[FieldScore, ...]

    @staticmethod
    def of(options: IndexOptions) -> Shape:
        return Shape(tuple(FieldScore(field.bits, field.weight) for field in options.fields))

    def filters(self, table: Any, bits: str, counts: str) -> list[Filters]:
        """One for each field."""
        width = sum(field.bits for field in self.fields) // 8
        data = np.frombuffer(b"".join(table.column(bits).to_pylist()), np.uint8).reshape(-1, width)
        numbers = np.array(table.column(counts).to_pylist(), np.int64).reshape(-1, len(self.fields))
        ends = np.cumsum([field.bits // 8 for field in self.fields])
        starts = [0, *ends[:-1].tolist()]
        return [Filters(data[:, a:b], numbers[:, i]) for i, (a, b) in enumerate(zip(starts, ends, strict=True))]


def signing(options: str, secret: Secret, key: tuple[str, ...]) -> Callable[[Batches], Batches]:
    """→ the key's columns, f (fingerprint), keys, counts, bits; only rows with features."""

    def run(batches: Batches) -> Batches:
        resolved = IndexOptions.from_json(options)
        signer = resolved.signer(secret.value)
        for batch in batches:
            done = sign(batch, resolved, signer, key)
            found = done.signatures
            counts = np.stack([part.counts for part in found.filters], axis=1).astype(np.int32)
            bits = np.concatenate([part.bits for part in found.filters], axis=1)
            columns = [
                *done.keys.columns,
                pa.array(found.fingerprints),
                _lists(found.keys, pa.int64()),
                _lists(counts, pa.int32()),
                pa.array([row.tobytes() for row in bits], pa.binary()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=[*key, "f", "keys", "counts", "bits"])

    return run


def _lists(rows: NDArray[Any], type_: pa.DataType) -> pa.Array:
    ends = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(np.ascontiguousarray(rows).ravel(), type_))


def scoring(shape: Shape, threshold: float) -> Callable[[Batches], Batches]:
    """a, b with counts and bits of both → a, b, score of those that reach the threshold."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            x, y = shape.filters(batch, "a_bits", "a_counts"), shape.filters(batch, "b_bits", "b_counts")
            scores = weighted_scores(shape.fields, x, y)
            kept = (scores >= threshold) & (scores > 0) & _in_range(shape, threshold, x, y)
            ends = [batch.column(name).to_numpy(zero_copy_only=False)[kept] for name in ("a", "b")]
            yield pa.RecordBatch.from_arrays([*map(pa.array, ends), pa.array(scores[kept])], names=["a", "b", "score"])

    return run


def _in_range(shape: Shape, threshold: float, x: Sequence[Filters], y: Sequence[Filters]) -> NDArray[np.bool_]:
    """As `Collection.in_range`."""
    if len(shape.fields) > 1:
        return np.ones(len(x[0].counts), bool)
    low, high = count_ranges(shape.fields[0].bits, threshold)
    found: NDArray[np.bool_] = (low[x[0].counts] <= y[0].counts) & (y[0].counts <= high[x[0].counts])
    return found


def grouping(shape: Shape, key: tuple[str, ...], by: str, threshold: float) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """(edges, contents) of some components → f, group_id, score, diameter and the representative's key."""

    def run(edges: pa.Table, contents: pa.Table) -> pa.Table:
        contents = contents.take(pc.sort_indices(contents, [(name, "ascending") for name in key]))
        fingerprints = contents.column("f").to_numpy()
        filters = shape.filters(contents, "bits", "counts")
        numbers = np.argsort(fingerprints)
        a, b = (numbers[np.searchsorted(fingerprints[numbers], edges.column(end).to_numpy())] for end in "ab")
        graph = Graph(len(fingerprints), a, b, edges.column("score").to_numpy())

        def estimate(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
            left, right = ([Filters(part.bits[side], part.counts[side]) for part in filters] for side in (x, y))
            return weighted_scores(shape.fields, left, right)

        copies = contents.column("copies").to_numpy()
        found = assign(fingerprints, copies, graph, by, threshold, estimate, estimate)
        leaders = pa.array(numbers[np.searchsorted(fingerprints[numbers], found.group_ids)])
        columns = [found.fingerprints, found.group_ids, found.scores, found.diameters]
        own = contents.select(list(key)).take(leaders)
        made = [*map(pa.array, columns), *(own.column(name) for name in key)]
        return pa.table(made, names=["f", "group_id", "score", "diameter", *(f"representative_{name}" for name in key)])

    return run

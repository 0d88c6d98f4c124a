"""What executors do with Arrow batches: rows → signatures, candidate pairs → scores, components → groups."""

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
from dbsim.dedupe.kernels.grouping.assignment import Scores, assign
from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions

Batches = Iterator[pa.RecordBatch]
Function = Callable[[Batches], Batches]
Numbers = NDArray[np.int64]
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

    @property
    def joins(self) -> list[tuple[int, int]]:
        return list(self.index.hashing.joins(self.index.plan, self.index.threshold, self.index.recall))

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
        """k0 … and the columns of the fields → k0 …, f (fingerprint), keys, counts, bits, t0 …; rows with features."""
        for batch in batches:
            for part in cut(batch):
                yield self._signed(part)

    def _signed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        done = sign(batch, self.index, self.signer, self.key)
        found, joins = done.signatures, self.joins
        keys = np.stack([found.keys[:, stored] & np.int64(mask) for stored, mask in joins], axis=1)
        columns = [
            *done.keys.columns,
            pa.array(found.fingerprints),
            _lists(keys, pa.int64()),
            _lists(np.stack([part.counts for part in found.filters], axis=1), pa.int32()),
            pa.array(
                [row.tobytes() for row in np.concatenate([part.bits for part in found.filters], axis=1)], pa.binary()
            ),
            *(text.cast(pa.string()) for text in done.texts),
        ]
        return pa.RecordBatch.from_arrays(columns, names=[*self.key, "f", "keys", "counts", "bits", *self.texts])

    def score(self, batches: Batches) -> Batches:
        """a, b, counts and bits of both → a, b, score, unsure: pairs that are, or may be, at the threshold."""
        decision = self.decision
        for batch in batches:
            x, y = (_filters(batch, decision, f"{end}_bits", f"{end}_counts") for end in "ab")
            counts = [part.counts for part in x], [part.counts for part in y]
            scores = estimates(decision.fields, x, y)
            kept = decision.possible(*counts) & decision.kept(*counts, scores)
            unsure = decision.unsure(*counts, scores)
            columns = [*(_numbers(batch, end) for end in "ab"), scores, unsure]
            arrays = [pa.array(column[kept]) for column in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=["a", "b", "score", "unsure"])

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
        contents = contents.take(pc.sort_indices(contents, [(name, "ascending") for name in self.key]))
        fingerprints = contents.column("f").to_numpy()
        by_fingerprint = np.argsort(fingerprints)

        def find(wanted: Numbers) -> Numbers:
            return by_fingerprint[np.searchsorted(fingerprints, wanted, sorter=by_fingerprint)]

        a, b = (find(_numbers(edges, end)) for end in "ab")
        graph = Graph(len(fingerprints), a, b, _numbers(edges, "score"))
        exact = edges.column("exact").to_numpy(zero_copy_only=False)
        copies, scores = contents.column("copies").to_numpy(), self._scores(contents)
        found = assign(fingerprints, copies, graph, exact, self.grouping.by, self.grouping.threshold, scores)
        own = contents.select(list(self.key)).take(pa.array(find(found.group_ids)))
        columns = [found.fingerprints, found.group_ids, found.scores, found.diameters]
        names = ["f", "group_id", "score", "diameter", *(f"r{number}" for number in range(len(self.key)))]
        return pa.table([*map(pa.array, columns), *own.columns], names=names)

    def _scores(self, contents: pa.Table) -> Scores:
        """Between contents that have no edge."""
        decision = self.decision
        filters = _filters(contents, decision, "bits", "counts")

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


def _lists(rows: NDArray[Any], type_: pa.DataType) -> pa.Array:
    ends = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(np.ascontiguousarray(rows).ravel(), type_))


def _numbers(batch: Any, name: str) -> NDArray[Any]:
    found: NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return found


def _filters(batch: Any, decision: Decision, bits: str, counts: str) -> list[Filters]:
    """One for each field."""
    sizes = [field.bits // 8 for field in decision.fields]
    data = np.frombuffer(b"".join(batch.column(bits).to_pylist()), np.uint8).reshape(-1, sum(sizes))
    numbers = np.array(batch.column(counts).to_pylist(), np.int64).reshape(-1, len(sizes))
    parts = np.split(data, np.cumsum(sizes)[:-1], axis=1)
    return [Filters(part, numbers[:, place]) for place, part in enumerate(parts)]

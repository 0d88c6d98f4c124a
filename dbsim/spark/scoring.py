"""Candidate pairs → scores; what executors do with the parcels of a part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsim.dedupe.kernels.decide import Decision, estimates
from dbsim.hashing.bloom import Filters
from dbsim.spark.layout import Layout
from dbsim.spark.parcels import (
    CONTENTS,
    PAIRS,
    Bytes,
    Exchange,
    Numbers,
    matrix,
    received,
    sent,
    unbinary,
    whole,
)

Batches = Iterator[pa.RecordBatch]
CHUNK = 1 << 13  # pairs scored at once
EDGES = "a long, b long, score double, unsure boolean"


@dataclass(frozen=True)
class Scoring:
    layout: Layout
    exchange: Exchange
    decision: Decision

    @property
    def width(self) -> int:
        """Bytes of a content: its fingerprint, counts and filters."""
        return 8 + self.layout.shown

    # ── each is called once for a task, with its batches ──
    def shown(self, batches: Batches) -> Batches:
        """f, s → CONTENTS, each to the part of its content."""
        for batch in batches:
            fingerprints = batch.column("f").to_numpy()
            filters = unbinary(batch.column("s"), self.layout.width)[:, 8 * self.layout.columns :]
            rows = np.concatenate([fingerprints[:, None].view(np.uint8).reshape(-1, 8), filters], axis=1)
            yield from sent(CONTENTS, rows, self.exchange.place(fingerprints))

    def attach(self, batches: Batches) -> Batches:
        """PAIRS beside the CONTENTS of their first ends → PAIRS, each once, with these contents, to the second ends."""
        for _, found in received(batches):
            pairs = _distinct(matrix(found[PAIRS], 2))
            if not len(pairs):
                continue
            fingerprints, shown = self._contents(found[CONTENTS])
            place = np.searchsorted(fingerprints, pairs[:, 0])
            part = self.exchange.place(pairs[:, 1])
            order = np.argsort(part, kind="stable")
            for some in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
                own, at = np.unique(place[some], return_inverse=True)
                yield whole(PAIRS, self._joined(shown[own], at, pairs[some, 1]), int(part[some[0]]))

    def score(self, batches: Batches) -> Batches:
        """These beside the CONTENTS of the second ends → a, b, score, unsure: pairs that are, or may be, near."""
        for _, found in received(batches):
            if not found[PAIRS]:
                continue
            fingerprints, shown = self._contents(found[CONTENTS])
            for data in found[PAIRS]:
                own, at, b = self._parted(data)
                place = np.searchsorted(fingerprints, b)
                x, y = self.layout.filters(own), self.layout.filters(shown)
                a = np.ascontiguousarray(own[:, :8]).view(np.int64)[:, 0]
                for start in range(0, len(at), CHUNK):
                    i, j = at[start : start + CHUNK], place[start : start + CHUNK]
                    yield self._scored(a[i], b[start : start + CHUNK], _some(x, i), _some(y, j))

    # ── steps ──
    def _scored(self, a: Numbers, b: Numbers, x: list[Filters], y: list[Filters]) -> pa.RecordBatch:
        decision, counts = self.decision, ([part.counts for part in x], [part.counts for part in y])
        scores = estimates(decision.fields, x, y)
        kept = decision.possible(*counts) & decision.kept(*counts, scores)
        columns = (a, b, scores, decision.unsure(*counts, scores))
        return pa.RecordBatch.from_arrays(
            [pa.array(column[kept]) for column in columns], names=["a", "b", "score", "unsure"]
        )

    def _contents(self, parcels: list[Bytes]) -> tuple[Numbers, Bytes]:
        """(fingerprints, ascending; rows)"""
        rows = matrix(parcels, self.width, np.uint8)
        fingerprints = np.ascontiguousarray(rows[:, :8]).view(np.int64)[:, 0]
        order = np.argsort(fingerprints, kind="stable")
        return fingerprints[order], rows[order]

    def _joined(self, own: Bytes, at: Numbers, b: Numbers) -> Bytes:
        """Contents, and pairs of one of them, by its place, with another, by its fingerprint."""
        numbers = np.concatenate([[len(own), len(at)], at, b]).astype(np.int64)
        return np.concatenate([numbers.view(np.uint8), own.ravel()])[:, None]

    def _parted(self, data: Bytes) -> tuple[Bytes, Numbers, Numbers]:
        own, pairs = np.frombuffer(data, np.int64, 2).tolist()
        at, b = np.split(np.frombuffer(data, np.int64, 2 * pairs, 16), 2)
        return data[16 + 16 * pairs :].reshape(own, self.width), at, b


def _some(filters: list[Filters], places: Numbers) -> list[Filters]:
    return [Filters(part.bits[places], part.counts[places]) for part in filters]


def _distinct(pairs: Numbers) -> Numbers:
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    other = np.ones(len(pairs), bool)
    other[1:] = np.any(pairs[1:] != pairs[:-1], axis=1)
    return pairs[other]

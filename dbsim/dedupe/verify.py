"""Exact similarity from the source's texts: pairs of fingerprints → the family's measure, over all fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray
from sqlalchemy import Connection

from dbsim.context import Stage
from dbsim.dedupe.contents import Edges, firsts
from dbsim.engines.signature_rows import Numbers
from dbsim.engines.source_rows import source_rows, texts
from dbsim.sync import models
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.source import Key
from dbsim.text.features import Features

FEWEST, MOST = 64, 1000  # pairs whose texts are read and compared at once
CHARACTERS = 4_000_000  # of them, about: the next set is smaller or larger
MATRIX = 250  # pairs at once where a family compares all with all


@dataclass
class Verifier(Stage):
    """Compares the texts of contents; the first row of each content is read."""

    def decide(
        self, edges: Edges, unsure: NDArray[np.bool_], threshold: float, connection: Connection | None = None
    ) -> Edges:
        """The pairs that reach the threshold: exact values in the place of unsure estimates, which fall out with it."""
        scores = edges.scores.copy()
        scores[unsure] = self.scores(edges.a[unsure], edges.b[unsure], connection)
        return Edges(edges.a, edges.b, scores, unsure).where(scores >= threshold)

    def scores(self, a: Numbers, b: Numbers, connection: Connection | None = None) -> NDArray[np.float64]:
        """Exact scores; 0 for a content whose row is gone meanwhile."""
        result = np.zeros(len(a))
        start, size = 0, FEWEST
        while start < len(a):
            part = slice(start, start + size)
            wanted, places = np.unique(np.concatenate([a[part], b[part]]), return_inverse=True)
            if connection is None:
                columns = self.read(lambda c: self._texts(c, wanted))  # noqa: B023
            else:
                columns = self._texts(connection, wanted)
            half = len(places) // 2
            result[part] = self._compare(columns, places[:half], places[half:])
            start += size
            length = sum(sum(map(len, column)) for column in columns)
            size = size * 2 if length < CHARACTERS / 2 else size // 2 if length > CHARACTERS else size
            size = min(max(size, 1), MOST)
        return result

    def _texts(self, connection: Connection, wanted: Numbers) -> list[list[str]]:
        """`columns[field][content]`; the empty text where there is none."""
        models.require(connection, self.tables, self.signer)
        found = firsts(connection, self.backend, self.tables, wanted)
        numbers = {first.key: int(np.searchsorted(wanted, first.fingerprint)) for first in found}
        columns = [[""] * len(wanted) for _ in self.signer.fields]
        for key, values in self._rows(connection, list(numbers)):
            for column, value in zip(columns, values, strict=True):
                column[numbers[key]] = value
        return columns

    def _rows(self, connection: Connection, keys: Sequence[Key]) -> Iterator[tuple[Key, tuple[str, ...]]]:
        for some in chunks(keys, self.backend.key_batch):
            query = source_rows(self.backend, self.tables).where(
                among(key_columns(self.tables.source, self.tables), some)
            )
            for batch in texts(connection, self.backend, self.tables, query, stream=False):
                yield from zip(batch.keys, zip(*batch.columns, strict=True), strict=True)

    def _compare(self, columns: list[list[str]], a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        if self.signer.family.measure != "jaccard":
            return self._measure(columns, a, b)
        total, weight = np.zeros(len(a)), np.zeros(len(a))
        for number, (field, column) in enumerate(zip(self.signer.fields, columns, strict=True)):
            features = self.signer.features(number, column)
            value, present = jaccard(features, a, b)
            if len(columns) == 1:
                return value
            total += np.where(present, field.weight * value, 0.0)
            weight += np.where(present, field.weight, 0.0)
        return np.divide(total, weight, out=np.zeros(len(a)), where=weight > 0)

    def _measure(self, columns: list[list[str]], a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Another measure, which families compute of all texts with all: of a few at a time."""
        result = np.zeros(len(a))
        for start in range(0, len(a), MATRIX):
            part = slice(start, start + MATRIX)
            (left, x), (right, y) = (np.unique(side[part], return_inverse=True) for side in (a, b))
            some = [[[column[number] for number in side.tolist()] for column in columns] for side in (left, right)]
            result[part] = self.signer.similarity(*some)[x, y]
        return result


def jaccard(
    features: Features, a: NDArray[np.int64], b: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(similarity of the feature sets, whether both have any) of each pair of documents."""
    _, columns = np.unique(features.hashes, return_inverse=True)
    width = int(columns.max(initial=0)) + 1
    entries = np.unique(features.documents * width + columns)
    rows = np.concatenate(([0], np.cumsum(np.bincount(entries // width, minlength=len(features)))))
    matrix = scipy.sparse.csr_array((np.ones(len(entries)), entries % width, rows), shape=(len(features), width))
    sizes = np.diff(rows)
    common = np.asarray((matrix[a] * matrix[b]).sum(axis=1)).reshape(-1)
    union = sizes[a] + sizes[b] - common
    present = (sizes[a] > 0) & (sizes[b] > 0)
    return np.divide(common, union, out=np.zeros(len(a)), where=union > 0), present

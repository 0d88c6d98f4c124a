"""Exact similarity from the source's texts: pairs of fingerprints → Jaccard, weighted over the fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from dbsim.context import Stage
from dbsim.dedupe.contents import firsts
from dbsim.dedupe.kernels.exact import compare
from dbsim.engines.signature_rows import Numbers
from dbsim.engines.source_rows import source_rows, texts
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.source import Key

BATCH = 1000  # pairs whose texts are read and compared at once
MARGIN = 0.08  # how far below the threshold an estimate is still looked at: four standard errors


@dataclass
class Verifier(Stage):
    """Compares the texts of contents; the first row of each content is read."""

    def scores(self, a: Numbers, b: Numbers, connection: Connection | None = None) -> NDArray[np.float64]:
        """Exact scores; 0 for a content whose row is gone meanwhile."""
        result = np.zeros(len(a))
        for start in range(0, len(a), BATCH):
            part = slice(start, start + BATCH)
            wanted, places = np.unique(np.concatenate([a[part], b[part]]), return_inverse=True)
            if connection is None:
                columns = self.read(lambda c: self._texts(c, wanted))  # noqa: B023
            else:
                columns = self._texts(connection, wanted)
            half = len(places) // 2
            result[part] = compare(self.signer, columns, places[:half], places[half:])
        return result

    def _texts(self, connection: Connection, wanted: Numbers) -> list[list[str]]:
        """`columns[field][content]`; the empty text where there is none."""
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

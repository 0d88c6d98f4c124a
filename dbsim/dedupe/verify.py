"""Exact similarity from the source's texts: pairs of fingerprints → the family's measure, over all fields.

A row may have been changed since it was signed, so that its content cannot be read until the next sync, or not at
all. Such contents are remembered in `unread`: whoever stores a decision notes them, to be compared again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from dbsim.dedupe.contents import Edges, firsts
from dbsim.dedupe.kernels.exact import compare
from dbsim.engines.context import Stage
from dbsim.engines.signature_rows import Numbers
from dbsim.engines.source_rows import source_rows, texts
from dbsim.sync import models
from dbsim.tables.key_conditions import among, chunks
from dbsim.tables.source import Key

FEWEST, MOST = 64, 1000  # pairs whose texts are read and compared at once
CHARACTERS = 4_000_000  # of them, about: the next set is smaller or larger


@dataclass
class Verifier(Stage):
    """Compares the texts of contents; the first row of each content is read."""

    unread: set[int] = field(default_factory=set)

    def decide(
        self, edges: Edges, unsure: NDArray[np.bool_], threshold: float, connection: Connection | None = None
    ) -> Edges:
        """The pairs that reach the threshold: exact values in the place of unsure estimates, which fall out with it."""
        scores = edges.scores.copy()
        scores[unsure] = self.scores(edges.a[unsure], edges.b[unsure], connection)
        return Edges(edges.a, edges.b, scores, unsure).where(scores >= threshold)

    def scores(self, a: Numbers, b: Numbers, connection: Connection | None = None) -> NDArray[np.float64]:
        """Exact scores; 0 for a content that is `unread`."""
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
            result[part] = compare(self.signer, columns, places[:half], places[half:])
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
        if self.signer.keyed:
            self._drop_others(columns, wanted)
        return columns

    def _drop_others(self, columns: list[list[str]], wanted: Numbers) -> None:
        """Texts that are no longer those of the contents asked for."""
        present, found = self.signer.fingerprint(columns)
        for place in np.flatnonzero(~present | (found != wanted)).tolist():
            self.unread.add(int(wanted[place]))
            for column in columns:
                column[place] = ""

    def _rows(self, connection: Connection, keys: Sequence[Key]) -> Iterator[tuple[Key, tuple[str, ...]]]:
        for some in chunks(keys, self.backend.key_batch):
            query = source_rows(self.backend, self.tables).where(among(self.tables.source_key, some))
            for batch in texts(connection, self.backend, self.tables, query, stream=False):
                yield from zip(batch.keys, zip(*batch.columns, strict=True), strict=True)

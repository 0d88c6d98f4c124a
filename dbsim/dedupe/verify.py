"""Exact similarity from the source's texts: pairs of fingerprints → the family's measure, over all fields.

A row may have been changed since it was signed, so that its content cannot be read until the next sync, or not at
all. Such contents are remembered in `unread`: whoever stores a decision notes them, to be compared again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from dbsim.dedupe.contents import Edges, firsts
from dbsim.dedupe.kernels.exact import compare, distinct, weighted
from dbsim.dedupe.kernels.remembered import Remembered, part_of
from dbsim.engines.context import Stage
from dbsim.engines.signature_rows import Numbers
from dbsim.engines.source_rows import source_rows, texts
from dbsim.sync import models
from dbsim.tables.key_conditions import among, chunks
from dbsim.tables.source import Key

FEWEST, MOST = 64, 8000  # pairs whose texts are read and compared at once
CHARACTERS = 4_000_000  # of them, about: the next set is smaller or larger
A_WORD = 6  # characters of a text for each of its features
Read = TypeVar("Read")


@dataclass
class Verifier(Stage):
    """Compares the texts of contents; the first row of each content is read."""

    unread: set[int] = field(default_factory=set)
    _size: int = FEWEST  # pairs of the next set, as long as the texts of the last ones were

    def decide(
        self, edges: Edges, unsure: NDArray[np.bool_], threshold: float, connection: Connection | None = None
    ) -> Edges:
        """The pairs that reach the threshold: exact values in the place of unsure estimates, which fall out with it."""
        scores = edges.scores.copy()
        scores[unsure] = self.scores(edges.a[unsure], edges.b[unsure], connection)
        return Edges(edges.a, edges.b, scores, unsure).where(scores >= threshold)

    def scores(self, a: Numbers, b: Numbers, connection: Connection | None = None) -> NDArray[np.float64]:
        """Exact scores; 0 for a content that is `unread`."""
        parts, start = [np.empty(0)], 0
        while start < len(a):
            end = start + self._size
            wanted, places = np.unique(np.concatenate([a[start:end], b[start:end]]), return_inverse=True)
            x, y = np.split(places, 2)
            parts.append(self._compared(wanted, x, y, connection))
            start = end
        return np.concatenate(parts)

    def _compared(self, wanted: Numbers, a: Numbers, b: Numbers, connection: Connection | None) -> NDArray[np.float64]:
        """Of pairs of places in `wanted`."""
        if self.signer.family.measure != "jaccard" or not self.signer.keyed or self._remembered.full:
            columns = self._read(wanted, connection)
            self._adapt(len(a), _characters(columns))
            return compare(self.signer, columns, a, b)
        missing = wanted[self._remembered.missing(wanted)]
        if len(missing):
            self._remember(missing, connection)
        features = self._remembered.of(wanted)
        self._adapt(len(a), sum(len(part.hashes) for part in features) * A_WORD)
        return weighted([field.weight for field in self.signer.fields], features, a, b)

    def _remember(self, missing: Numbers, connection: Connection | None) -> None:
        """But what is `unread`: its text may come."""
        columns = self._asked(lambda c: self._texts(c, missing), connection)
        documents = self.signer.comparable(columns)  # words are looked up once, for fingerprints and for features
        read = documents.present & (self.signer.fingerprints(documents) == missing)
        self.unread.update(missing[~read].tolist())
        self._remembered.add(missing[read], [distinct(part_of(field, read)) for field in documents.features])

    def _adapt(self, pairs: int, characters: int) -> None:
        if characters > CHARACTERS:
            self._size = max(pairs // 2, 1)
        elif characters < CHARACTERS / 2 and pairs == self._size:
            self._size = min(2 * self._size, MOST)

    @cached_property
    def _remembered(self) -> Remembered:
        return Remembered(len(self.signer.fields))

    def _read(self, wanted: Numbers, connection: Connection | None) -> list[list[str]]:
        """Without texts that are no longer those of the contents asked for."""
        columns = self._asked(lambda c: self._texts(c, wanted), connection)
        if self.signer.keyed:
            self._drop_others(columns, wanted)
        return columns

    def _asked(self, work: Callable[[Connection], Read], connection: Connection | None) -> Read:
        return self.read(work) if connection is None else work(connection)

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

    def _drop_others(self, columns: list[list[str]], wanted: Numbers) -> None:
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


def _characters(columns: list[list[str]]) -> int:
    return sum(sum(map(len, column)) for column in columns)

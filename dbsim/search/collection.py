"""The distinct contents of an index outside the database: Signatures in key order → Collection (arrays on disk).

Keys and filters lie in unnamed temporary files, one a column, which vanish with the process; in memory is only what
is being worked on, so that a million contents need some ten megabytes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import count_ranges, jaccards
from dbsim.hashing.signer import Signatures
from dbsim.search.buckets import Nodes

CHUNK = 1 << 15  # pairs scored at once: their filters are mapped into memory only that long


@dataclass(frozen=True)
class FieldScore:
    """How a field takes part in the score."""

    bits: int
    weight: float


class Collection:
    """Contents numbered in the order of their fingerprints."""

    def __init__(self, fields: Sequence[FieldScore], keys: int) -> None:
        self.fields = tuple(fields)
        self.columns = keys
        self.fingerprints = np.empty(0, np.int64)
        self.copies = np.empty(0, np.int64)  # rows with this content
        self.order = np.empty(0, np.int64)  # place in the order of the contents' first rows
        self.counts: list[NDArray[np.int32]] = []
        self._keys = [_Column(np.dtype(np.int64)) for _ in range(keys)]
        self._bits = [_Column(np.dtype((np.uint64, (field.bits // 64,)))) for field in self.fields]

    def __len__(self) -> int:
        return len(self.fingerprints)

    @staticmethod
    def of(fields: Sequence[FieldScore], keys: int, blocks: Iterable[Signatures]) -> Collection:
        """Rows without features must not be among the blocks."""
        made = Collection(fields, keys)
        seen = np.empty(0, np.int64)
        rows: list[NDArray[np.int64]] = [seen]
        firsts: list[NDArray[np.int64]] = [seen]
        counts: list[list[NDArray[np.int64]]] = [[seen] for _ in fields]
        for block in blocks:
            rows.append(block.fingerprints)
            new = _new(block.fingerprints, seen)
            firsts.append(block.fingerprints[new])
            seen = np.union1d(seen, firsts[-1])
            made._append(block, new)
            for column, part in zip(counts, block.filters, strict=True):
                column.append(part.counts[new])
        made.fingerprints, made.copies = np.unique(np.concatenate(rows), return_counts=True)
        made.order = np.argsort(np.concatenate(firsts), kind="stable")
        made.counts = [np.concatenate(column)[made.order].astype(np.int32) for column in counts]
        return made

    def _append(self, block: Signatures, new: NDArray[np.int64]) -> None:
        for number, column in enumerate(self._keys):
            column.append(block.keys[new, number])
        for column, part in zip(self._bits, block.filters, strict=True):
            column.append(np.ascontiguousarray(part.bits[new]).view(np.uint64))

    def key(self, column: int) -> NDArray[np.int64]:
        """One bucket key of every content."""
        return self._keys[column].read()[self.order]

    def find(self, fingerprints: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """(number, whether it is there) of each."""
        if not len(self):
            return np.zeros(len(fingerprints), np.int64), np.zeros(len(fingerprints), bool)
        place = np.minimum(np.searchsorted(self.fingerprints, fingerprints), len(self) - 1)
        return place, self.fingerprints[place] == fingerprints

    def in_range(self, a: Nodes, b: Nodes, threshold: float) -> NDArray[np.bool_]:
        """Pairs whose popcounts can reach the threshold, as `count_range` tells a search; any for several fields."""
        if len(self.fields) > 1:
            return np.ones(len(a), bool)
        low, high = count_ranges(self.fields[0].bits, threshold)
        mine, other = self.counts[0][a], self.counts[0][b]
        return (low[mine] <= other) & (other <= high[mine])

    def scores(self, a: Nodes, b: Nodes) -> NDArray[np.float64]:
        """The search's score of each pair, to the last bit; 0 where no field is present in both."""
        parts = [self._scores(a[i : i + CHUNK], b[i : i + CHUNK]) for i in range(0, len(a), CHUNK)]
        return np.concatenate([np.empty(0), *parts])

    def _scores(self, a: Nodes, b: Nodes) -> NDArray[np.float64]:
        total, weight = np.zeros(len(a)), np.zeros(len(a))
        for field, column, counts in zip(self.fields, self._bits, self.counts, strict=True):
            bits = column.map()
            common = np.bitwise_count(bits[self.order[a]] & bits[self.order[b]]).sum(axis=1, dtype=np.int64)
            mine, other = counts[a].astype(np.int64), counts[b].astype(np.int64)
            value = jaccards(mine, other, common, field.bits)
            if len(self.fields) == 1:
                return value
            both = (mine > 0) & (other > 0)
            total = total + np.where(both, field.weight * value, 0.0)
            weight = weight + np.where(both, field.weight, 0.0)
        return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), 0.0)


def _new(fingerprints: NDArray[np.int64], seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of the first rows of contents that were not seen before, in the rows' order."""
    values, first = np.unique(fingerprints, return_index=True)
    return np.sort(first[~np.isin(values, seen, assume_unique=True)])


class _Column:
    """An array that only grows, in a temporary file without a name."""

    def __init__(self, dtype: np.dtype[np.generic]) -> None:
        self._dtype = dtype
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the column)
        self._rows = 0

    def append(self, values: NDArray[np.generic]) -> None:
        self._file.write(values.tobytes())
        self._rows += len(values)

    def read(self) -> NDArray[np.int64]:
        self._file.seek(0)
        found: NDArray[np.int64] = np.frombuffer(self._file.read(), self._dtype)
        return found

    def map(self) -> NDArray[np.uint64]:
        """The whole column for random access; the pages looked at count as memory until the array is let go."""
        if not self._rows:
            return np.empty((0, *self._dtype.shape), np.uint64)
        self._file.flush()
        mapped: NDArray[np.uint64] = np.memmap(self._file, self._dtype, "r", shape=(self._rows,))
        return mapped

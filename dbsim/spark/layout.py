"""What is known of a content, as bytes of fixed length: keys (8 each), set bits of each field (4 each), the filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.decide import FieldScore
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signatures
from dbsim.spark.parcels import Bytes, Numbers


@dataclass(frozen=True)
class Layout:
    joins: tuple[tuple[int, int], ...]  # (stored key, mask) of each column of buckets
    fields: tuple[FieldScore, ...]

    @property
    def columns(self) -> int:
        return len(self.joins)

    @property
    def width(self) -> int:
        return 8 * self.columns + self.shown

    @property
    def shown(self) -> int:
        """Bytes of counts and filters."""
        return sum(4 + field.bits // 8 for field in self.fields)

    def packed(self, found: Signatures) -> Bytes:
        """A row each."""
        keys = np.stack([found.keys[:, stored] & np.int64(mask) for stored, mask in self.joins], axis=1)
        counts = np.stack([part.counts for part in found.filters], axis=1).astype(np.int32)
        return np.concatenate([_bytes(keys), _bytes(counts), *(part.bits for part in found.filters)], axis=1)

    def keys(self, rows: Bytes) -> Numbers:
        return np.ascontiguousarray(rows[:, : 8 * self.columns]).view(np.int64)

    def filters(self, rows: Bytes) -> list[Filters]:
        """Of each field; the rows may lack the keys."""
        rows = rows[:, rows.shape[1] - self.shown :]
        counts = np.ascontiguousarray(rows[:, : 4 * len(self.fields)]).view(np.int32).astype(np.int64)
        found, start = [], 4 * len(self.fields)
        for number, field in enumerate(self.fields):
            end = start + field.bits // 8
            found.append(Filters(np.ascontiguousarray(rows[:, start:end]).view(_widest(field)), counts[:, number]))
            start = end
        return found


def _bytes(rows: NDArray[Any]) -> Bytes:
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)


def _widest(field: FieldScore) -> Any:
    return np.uint64 if field.bits % 64 == 0 else np.uint8

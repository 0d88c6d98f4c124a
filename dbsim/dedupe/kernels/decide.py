"""What an estimate can decide and what only the texts can: (counts, estimates) → keep, unsure (pure numpy)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import Filters, Reading, cardinality
from dbsim.hashing.error import widths

Numbers = NDArray[np.float64]
Counts = Sequence[NDArray[Any]]
RATIOS = 7  # sizes of the other set at which the error is looked at, from t times to 1/t times as large
SLACK = 1e-9


@dataclass(frozen=True)
class FieldScore:
    """How a field takes part in the score."""

    bits: int
    weight: float
    sample: int = 1
    reading: Reading | None = None  # of filters other than the usual ones

    @property
    def marks(self) -> int:
        return self.reading.marks if self.reading else self.bits


def estimates(fields: Sequence[FieldScore], a: Sequence[Filters], b: Sequence[Filters]) -> Numbers:
    """The search's score of each pair, to the last bit: a[field] with b[field]; 0 where no field is present in both."""
    total, weight = np.zeros(len(a[0].counts)), np.zeros(len(a[0].counts))
    for field, mine, other in zip(fields, a, b, strict=True):
        common = np.bitwise_count(mine.bits & other.bits).sum(axis=1, dtype=np.int64)
        reading = field.reading or Reading.of(field.bits)
        value = reading.similarities(mine.counts, other.counts, common)
        if len(fields) == 1:
            return value
        both = (mine.counts > 0) & (other.counts > 0)
        total = total + np.where(both, field.weight * value, 0.0)
        weight = weight + np.where(both, field.weight, 0.0)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), 0.0)


@dataclass(frozen=True)
class Decision:
    """`verify` as users say it: None for what lies within the estimate's error, True for all, False for none.

    Without `estimated` the filters know nothing of the measure: every candidate is looked at.
    """

    fields: tuple[FieldScore, ...]
    threshold: float
    verify: bool | None = None
    estimated: bool = True

    @cached_property
    def _widths(self) -> list[tuple[Numbers, Numbers]]:
        """Of every field, for a filter with 0 … bits set: how far below and above the threshold to look."""
        return [self._field(field) for field in self.fields]

    def _field(self, field: FieldScore) -> tuple[Numbers, Numbers]:
        features = np.array(cardinality(field.bits))
        ratio = max(self.threshold, 0.3) ** np.linspace(-1, 1, RATIOS)
        others = np.clip(np.searchsorted(features, features[:, None] * ratio), 1, field.bits)
        mine = np.broadcast_to(np.arange(field.bits + 1)[:, None], others.shape)
        threshold = self.threshold if len(self.fields) == 1 else None
        below, above = widths(field.bits, mine, others, threshold, field.sample)
        return below.max(axis=1), above.max(axis=1)

    def _spread(self, a: Counts, b: Counts, side: int) -> Numbers:
        """How far estimates of these pairs may lie on one side of the threshold."""
        total, squares = np.zeros(len(a[0])), np.zeros(len(a[0]))
        for field, table, mine, other in zip(self.fields, self._widths, a, b, strict=True):
            both = (mine > 0) & (other > 0)
            width = np.maximum(table[side][mine], table[side][other])
            total += field.weight * both
            squares += np.where(both, (field.weight * width) ** 2, 0.0)
        return np.sqrt(squares) / np.where(total > 0, total, 1.0)

    def possible(self, a: Counts, b: Counts) -> NDArray[np.bool_]:
        """Pairs whose counts alone do not rule them out: Ĵ is at most the smaller set by the larger."""
        if not self.counted:
            return np.ones(len(a[0]), bool)
        features = np.array(cardinality(self.fields[0].bits))
        one, two = features[a[0]], features[b[0]]
        lowest = self._lowest(a, b)
        return np.asarray(np.minimum(one, two) + SLACK >= lowest * np.maximum(one, two))

    @property
    def counted(self) -> bool:
        """Whether counts and common bits alone say what is kept: `fewest`."""
        return self.estimated and len(self.fields) == 1 and self.fields[0].reading is None

    def fewest(self, count: int, others: NDArray[Any]) -> NDArray[np.int64]:
        """With fewer common bits a pair of filters with `count` and `others` set bits is not kept."""
        features = np.array(cardinality(self.fields[0].bits))
        lowest = self._lowest([np.full(len(others), count)], [others])
        # Ĵ = (n̂ + n̂') / n̂∪ - 1 falls with the bits of the union
        most = (features[count] + features[others]) / (1 + np.maximum(lowest, 0.0)) * (1 + SLACK)
        union = np.searchsorted(features, most, side="right") - 1
        return np.where(lowest > 0, np.maximum(count + others - union, 0), 0)

    def _lowest(self, a: Counts, b: Counts) -> Numbers | float:
        """Of the estimates that are kept."""
        return self.threshold - (0.0 if self.verify is False else self._spread(a, b, 0))

    def kept(self, a: Counts, b: Counts, estimates: Numbers) -> NDArray[np.bool_]:
        """Pairs that are, or may be, at the threshold."""
        if not self.estimated:
            return np.ones(len(estimates), bool)
        lowest = self._lowest(a, b)
        return np.asarray((estimates >= lowest) & ((estimates > 0) | (lowest == -np.inf)))

    def unsure(self, a: Counts, b: Counts, estimates: Numbers) -> NDArray[np.bool_]:
        """Of those: pairs for which the texts are asked."""
        if self.verify is not None or not self.estimated:
            return np.full(len(estimates), self.verify is not False or not self.estimated)
        return np.asarray(estimates < self.threshold + self._spread(a, b, 1))

"""How many pairs large buckets hide: buckets over the limit → a sample of their pairs → an estimate (pure numpy)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.buckets import Limits, Nodes, Runs
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.decide import Decision

DRAWN = 20_000  # pairs looked at, over all large buckets
SEED = 20_061_117


@dataclass
class Limited:
    """What was not compared all with all: buckets over the limit, the contents in them, and what that may have cost.

    `pairs` is the estimated number of similar pairs in large buckets and `missing` how many of them were not found,
    both from `drawn` pairs drawn at random.
    """

    buckets: int = 0
    contents: int = 0
    largest: int = 0
    limit: int = 0
    drawn: int = 0
    pairs: int = 0
    missing: int = 0

    def __bool__(self) -> bool:
        return self.buckets > 0


@dataclass
class Missing:
    """Collects the large buckets, draws pairs from them, and counts which of the similar ones come out."""

    limited: Limited = field(default_factory=Limited)
    _members: list[Nodes] = field(default_factory=list)  # of each large bucket
    _a: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    _b: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    _weight: float = 0.0
    _shares: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    _seen: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))

    def note(self, level: Runs, limits: Limits) -> None:
        """The buckets of one key column."""
        heads = np.flatnonzero(level.rank == 0)
        for place in heads[level.size[heads] > limits.bucket].tolist():
            self._members.append(level.members[place : place + int(level.size[place])])
        large = level.size[heads][level.size[heads] > limits.bucket]
        found = self.limited
        found.limit = limits.bucket
        found.buckets += len(large)
        found.contents += int(large.sum())
        found.largest = max(found.largest, int(large.max(initial=0)))

    def draw(self, source: Collection, decision: Decision, start: int) -> None:
        """Pairs of large buckets, each bucket by the number of its pairs; those that are similar are waited for."""
        if not self._members:
            return
        rng = np.random.default_rng(SEED)
        sizes = np.array([len(members) for members in self._members], np.float64)
        pairs = sizes * (sizes - 1) / 2
        bucket = rng.choice(len(sizes), DRAWN, p=pairs / pairs.sum())
        a, b = (rng.random((2, DRAWN)) * sizes[bucket]).astype(np.int64)
        a, b, bucket = a[a != b], b[a != b], bucket[a != b]
        one = np.array([self._members[n][i] for n, i in zip(bucket.tolist(), a.tolist(), strict=True)], np.int64)
        two = np.array([self._members[n][i] for n, i in zip(bucket.tolist(), b.tolist(), strict=True)], np.int64)
        self._members = []
        drawn = len(one)
        low, high = np.minimum(one, two), np.maximum(one, two)
        ahead = low >= start  # what a run that was stopped stored before is not seen again
        low, high = low[ahead], high[ahead]
        share = len(low) / max(drawn, 1)
        similar = self._similar(source, decision, low, high)
        low, high = low[similar], high[similar]
        shared = np.zeros(len(low))  # a pair may share several large buckets, and is then drawn more often
        for column in range(source.columns):
            shared += source.key(column, low) == source.key(column, high)
        self._a, self._b, self._seen = low, high, np.zeros(len(low), bool)
        self._shares = 1 / np.maximum(shared, 1)
        self._weight = float(pairs.sum()) / max(drawn, 1) / max(share, 1e-9)
        self.limited.drawn = drawn
        self._report()

    def _similar(
        self, source: Collection, decision: Decision, a: NDArray[np.int64], b: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        if not decision.estimated:  # how many are similar is not known without the texts: each counts
            return np.ones(len(a), bool)
        return np.asarray(source.scores(a, b) >= decision.threshold)

    def seen(self, a: Nodes, b: Nodes) -> None:
        """Pairs that came out."""
        if len(self._a) == 0 or len(a) == 0:
            return
        # pairs come in the order of their smaller content
        waiting = np.flatnonzero((self._a >= a[0]) & (self._a <= a[-1]) & ~self._seen)
        if len(waiting):
            width = np.int64(max(int(np.max(b)), int(self._b.max()))) + 1
            out = a.astype(np.int64) * width + b
            self._seen[waiting] = np.isin(self._a[waiting] * width + self._b[waiting], out)
            self._report()

    def _report(self) -> None:
        self.limited.pairs = round(self._weight * float(self._shares.sum()))
        self.limited.missing = round(self._weight * float(self._shares[~self._seen].sum()))

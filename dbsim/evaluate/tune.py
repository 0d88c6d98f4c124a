"""Measure settings on a sample of the table: texts → recall, rows ranked and cost of each, and the best of them.

The questions are edited copies of the sampled texts (`hashing/choosing/trial.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.errors import NotFitted
from dbsim.hashing.choosing.trial import collisions, edited
from dbsim.hashing.documents import Documents
from dbsim.hashing.families.registry import described, family_of
from dbsim.hashing.family import Family, Model
from dbsim.hashing.keys import Plan
from dbsim.hashing.signer import Signer
from dbsim.progress import Progress

BINS = 20
CURVE = 101

Point = tuple[float, float]  # similarity, share of pairs found


@dataclass(frozen=True)
class Measured:
    """One setting. `ranked` is the rows a search of the whole table ranks on average, scaled up from the sample."""

    family: str
    rows: int
    keys: int
    probes: int
    measure: str
    pairs: int  # in the sample, from the threshold
    recall: float
    promised: float | None
    ranked: float
    lookups: int
    microseconds: float  # to sign one text
    bytes: int  # of keys in a row, without their B-trees
    points: tuple[Point, ...]
    curve: tuple[Point, ...]

    @property
    def work(self) -> float:
        """Of one search: descents in a B-tree and rows ranked."""
        return self.lookups + self.ranked


@dataclass(frozen=True)
class TuneReport:
    """Everything measured, and the setting with the least work among those that reach the recall."""

    threshold: float
    recall: float
    table_rows: int
    sample: int
    settings: tuple[Measured, ...]

    @property
    def best(self) -> Measured | None:
        enough = [one for one in self.settings if one.recall >= self.recall]
        return min(enough, key=lambda one: (one.work, one.keys)) if enough else None

    @property
    def shown(self) -> Measured:
        """The best, or the one with the highest recall."""
        return self.best or max(self.settings, key=lambda one: one.recall)

    def to_json(self) -> dict[str, Any]:
        best = self.best
        return {**asdict(self), "best": None if best is None else asdict(best)}


@dataclass(frozen=True)
class Tuning:
    """What stays the same for all settings."""

    signer: Signer
    texts: Sequence[Sequence[str]]
    table_rows: int
    threshold: float
    recall: float
    queries: int = 300
    probes: int = 0

    def run(self, families: Sequence[str], progress: Progress) -> TuneReport:
        if not any(text.strip() for column in self.texts for text in column):
            raise NotFitted("the table has no texts to measure with: fill it first")
        stored = self.signer.documents(self.texts)
        asked = self.signer.documents(edited(self.texts, self.queries))
        settings: list[Measured] = []
        for name in families:
            grid = family_of(name).settled(self.threshold).grid(self.threshold, self.recall)
            for number, (family, plan) in enumerate(grid):
                progress(f"measuring {name}", number, len(grid))
                model = family.fit(stored, plan)
                similar = family.similarity(asked, stored, model)
                settings.append(self._measure(family, plan, model, stored, asked, similar))
            progress(f"measuring {name}", len(grid), len(grid))
        return TuneReport(self.threshold, self.recall, self.table_rows, len(stored), tuple(settings))

    def _measure(
        self,
        family: Family,
        plan: Plan,
        model: Model,
        stored: Documents,
        asked: Documents,
        similar: NDArray[np.float64],
    ) -> Measured:
        start = time.perf_counter()
        keys = family.keys(stored, plan, model)
        seconds = time.perf_counter() - start
        if self.probes:
            wanted = family.probes(asked, plan, model, self.probes)
        else:
            wanted = family.spread(family.keys(asked, plan, model), plan)
        found = collisions(family, keys, wanted) & stored.present[None, :] & asked.present[:, None]
        near = similar >= self.threshold
        probability = family.collision(self.threshold)
        promised = None if probability is None or family.nearest else plan.recall(probability)
        own = 1  # the original of the copy, which is not there in proportion to the table
        return Measured(
            family=described(family),
            rows=plan.rows,
            keys=plan.keys,
            probes=self.probes,
            measure=family.measure,
            pairs=int(near.sum()),
            recall=float(found[near].mean()) if near.any() else 0.0,
            promised=promised if not self.probes else None,
            ranked=max(float(found.sum(axis=1).mean()) - own, 0.0) * self.table_rows / len(stored) + own,
            lookups=wanted.shape[1] * wanted.shape[2],
            microseconds=1e6 * seconds / max(len(stored), 1),
            bytes=8 * plan.keys,
            points=tuple(binned(similar, found)),
            curve=tuple(_curve(family, plan)) if promised is not None and not self.probes else (),
        )


def binned(similar: NDArray[np.float64], found: NDArray[np.bool_]) -> Iterator[Point]:
    """Share found against similarity, for every bin with a few pairs."""
    number = np.minimum((similar * BINS).astype(int), BINS - 1)
    for place in range(BINS):
        chosen = number == place
        if chosen.sum() >= 5:
            yield float(similar[chosen].mean()), float(found[chosen].mean())


def _curve(family: Family, plan: Plan) -> Iterator[Point]:
    for similarity in np.linspace(0.0, 1.0, CURVE).tolist():
        probability = family.collision(similarity)
        if probability is not None:
            yield similarity, plan.recall(probability)

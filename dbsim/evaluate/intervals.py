"""Confidence intervals of measured shares: counts → value, low, high."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A measured value between the bounds that hold the true one in `CONFIDENCE` of all samples."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


NOTHING = Interval(math.nan, 0.0, 1.0)  # no case at all says nothing


def share(hits: float, cases: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's interval of hits among independent cases: inside 0 and 1, and right for few cases too."""
    if not cases:
        return NOTHING
    z = float(scipy.special.ndtri(0.5 + confidence / 2))
    value = hits / cases
    spread = 1 + z * z / cases
    middle = (value + z * z / (2 * cases)) / spread
    width = z * math.sqrt(value * (1 - value) / cases + z * z / (4 * cases * cases)) / spread
    return Interval(value, min(max(middle - width, 0.0), value), max(min(middle + width, 1.0), value))


def clustered_share(hits: NDArray[np.int64], cases: NDArray[np.int64], confidence: float = CONFIDENCE) -> Interval:
    """Σ hits / Σ cases where the cases of one cluster (a query) depend on one another: one number each a cluster.

    The variance of the quotient comes from the clusters' residuals; Wilson's interval then takes the number of
    independent cases with the same variance. Without any variance every cluster counts as one case.
    """
    counted = cases > 0
    hits, cases = hits[counted].astype(float), cases[counted].astype(float)
    clusters, total = len(cases), cases.sum()
    if not clusters:
        return NOTHING
    value = float(hits.sum() / total)
    variance = 0.0
    if clusters > 1:
        variance = float(clusters / (clusters - 1) * ((hits - value * cases) ** 2).sum() / total**2)
    worth = min(value * (1 - value) / variance, float(total)) if variance > 0 else float(clusters)
    found = share(value * worth, worth, confidence)
    return Interval(value, min(found.low, value), max(found.high, value))


def quotient(top: Interval, top_cases: int, bottom: Interval, bottom_cases: int) -> Interval:
    """Of two independent shares, on the scale of logarithms; a share of 0 leaves it open."""
    z = float(scipy.special.ndtri(0.5 + CONFIDENCE / 2))
    if not top.value > 0 or not bottom.value > 0:
        return Interval(math.nan, 0.0, math.inf)
    variance = (1 - top.value) / (top_cases * top.value) + (1 - bottom.value) / (bottom_cases * bottom.value)
    width = z * math.sqrt(variance)
    value = top.value / bottom.value
    return Interval(value, value * math.exp(-width), value * math.exp(width))


def mean(values: NDArray[np.float64], confidence: float = CONFIDENCE) -> Interval:
    """Of independent numbers, by the normal distribution."""
    if not len(values):
        return Interval(math.nan, -math.inf, math.inf)
    value = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    width = float(scipy.special.ndtri(0.5 + confidence / 2)) * error
    return Interval(value, value - width, value + width)

"""How well groups agree with the truth: two labellings of the same rows → precision, recall and F1 (pure numpy)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Agreement:
    """Of found labels with true ones."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "f1": self.f1}


def pairwise(found: Labels, true: Labels) -> Agreement:
    """Of all pairs of rows: those put together rightly. Without any pair there is nothing to get wrong: 1."""
    both, one, other = (_pairs(labels) for labels in (_together(found, true), found, true))
    return Agreement(both / one if one else 1.0, both / other if other else 1.0)


def bcubed(found: Labels, true: Labels) -> Agreement:
    """Mean over the rows of the share of their group that belongs there, and of their class that is there."""
    if not len(found):
        return Agreement(1.0, 1.0)
    both, one, other = (_sizes(labels) for labels in (_together(found, true), found, true))
    return Agreement(float((both / one).mean()), float((both / other).mean()))


def _together(found: Labels, true: Labels) -> Labels:
    """One label for each combination."""
    places = np.stack([np.unique(labels, return_inverse=True)[1].reshape(-1) for labels in (found, true)])
    return np.asarray(places[0] * (int(places[1].max(initial=0)) + 1) + places[1])


def _pairs(labels: Labels) -> float:
    sizes = np.unique(labels, return_counts=True)[1].astype(float)
    return float((sizes * (sizes - 1) / 2).sum())


def _sizes(labels: Labels) -> NDArray[np.float64]:
    """For every row the size of its group."""
    _, place, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.asarray(sizes[place.reshape(-1)], float)

"""What people decided about pairs, as a correction of what was learned without them: Evidence, Labels → Evidence.

The verdicts are made as probable as possible given how the pairs agree, by a factor for each field's weights and
shifts of the priors. That holds also where pairs were chosen by their score, as a review chooses them; counted among
the matches, they would make all matches look doubtful. Every departure costs, so that few decisions change little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.records.evidence import UNIT, Evidence, Numbers, Weights
from dbsim.hashing.records.levels import Levels
from dbsim.hashing.records.probability import probability

SHIFTS = 2  # of the prior against strangers, and of those against relatives; a factor a field follows
USUAL_SHIFT, USUAL_FACTOR = 3.0, 0.5  # standard deviations: in bits, and of the factor's logarithm to base 2
MISTAKEN = 0.02  # of the decisions, whatever they say: one wrong click against 40 bits must not outweigh all others
STEPS = (1.0, 0.5, 0.25, 0.125)  # standard deviations by which each is changed as long as that helps
ROUNDS = 50  # at most for each step …
ENOUGH = 1e-3  # … and as long as one makes the verdicts so much more probable


@dataclass(frozen=True)
class Labels:
    """Levels of the pairs, what their equal rare values add (both pairs × fields), and whether they are the same."""

    levels: Levels
    rare: Weights
    same: NDArray[np.bool_]


def corrected(evidence: Evidence, labels: Labels, widest: float, furthest: float) -> Evidence:
    """As it is where one of the verdicts is missing: then everything could be the same, or nothing.

    No weight becomes larger than `widest` bits, no prior than `furthest`.
    """
    if labels.same.all() or not labels.same.any():
        return evidence

    def changed(settings: Numbers) -> Evidence:
        """Factors keep the order of the levels, and what says nothing goes on saying nothing."""
        factors: Numbers = np.exp2(settings[SHIFTS:] * USUAL_FACTOR)[:, None]
        shifts = np.repeat(settings[:SHIFTS] * USUAL_SHIFT * UNIT, [1, len(evidence.priors) - 1])
        return replace(
            evidence,
            weights=_whole(factors * evidence.weights, widest),
            priors=_whole(shifts + evidence.priors, furthest),
        )

    def cost(settings: Numbers) -> float:
        p = np.where(labels.same, 1.0, -1.0) * (probability(changed(settings).bits(labels.levels, labels.rare)) - 0.5)
        return float(settings @ settings) / 2 - float(np.log(0.5 + (1 - 2 * MISTAKEN) * p).sum())

    return changed(_least(cost, SHIFTS + evidence.weights.shape[1]))


def _whole(numbers: Numbers, most: float) -> Weights:
    found: Weights = np.rint(np.clip(numbers, -most * UNIT, most * UNIT)).astype(np.int64)
    return found


def _least(cost: Callable[[Numbers], float], count: int) -> Numbers:
    """One setting after the other, in ever smaller steps: sums of whole numbers have no slope to follow."""
    settings = np.zeros(count)
    best = cost(settings)
    for step in STEPS:
        for _ in range(ROUNDS):
            before = best
            for move in np.concatenate([np.eye(count), -np.eye(count)]) * step:
                tried = cost(settings + move)
                if tried < best:
                    settings, best = settings + move, tried
            if before - best < ENOUGH:
                break
    return settings

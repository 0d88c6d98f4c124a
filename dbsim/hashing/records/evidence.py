"""The weight of evidence (Fellegi and Sunter 1969), learned without labels: levels of pairs → Evidence, in bits.

How often rows agree by chance (u) comes from random pairs, how often two records of one person do (m) and how many such
pairs there are (the prior) from at most 30 steps of expectation maximisation over the candidates. Weights are whole
numbers of 1/UNIT bit: sums of them are the same on every engine, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from dbsim.hashing.records.levels import COUNT, CROSSED, CUTS, EQUAL, Levels

UNIT = 1024
STEPS = 30
CLEAN_AT = (5, 12)  # steps at which probable matches are taken out of the random pairs
MOST_CROSSED = 0.2  # of the matches: unbounded, precision fell to 0.83 (persons.md, 6)
CLOSE = 4  # levels at the top that count as agreement of a name by chance

Numbers = NDArray[np.float64]
Weights = NDArray[np.int64]


@dataclass(frozen=True)
class Evidence:
    """`weights[field, level]` and the prior in 1/UNIT bit; `equal[field]` is u of equal values, for their frequency."""

    weights: Weights
    prior: int
    equal: Numbers
    matches: float  # expected number among all pairs of the sample

    def bits(self, levels: Levels) -> Weights:
        """Prior and weights of each pair, without the frequency of values."""
        found = np.full(len(levels), self.prior, np.int64)
        for field, column in enumerate(levels.T):
            found += self.weights[field][column]
        return found


@dataclass
class _Fit:
    """The state of the expectation maximisation: m and u are fields × levels."""

    m: Numbers
    u: Numbers
    share: float  # of all pairs that are matches

    def weights(self) -> Numbers:
        """log2(m/u), never falling from one level to the next; 0 for a missing value."""
        found = np.log2(np.maximum(self.m, 1e-9) / np.maximum(self.u, 1e-9))
        found[:, 0] = 0.0
        for field in range(len(found)):
            mass = self.m[field, 1 : EQUAL + 1] + self.u[field, 1 : EQUAL + 1] + 1e-9
            found[field, 1 : EQUAL + 1] = isotonic_regression(found[field, 1 : EQUAL + 1], weights=mass).x
        return found

    def probabilities(self, levels: Levels) -> Numbers:
        weights, bits = self.weights(), np.full(len(levels), np.log2(self.share / (1 - self.share)))
        for field, column in enumerate(levels.T):
            bits += weights[field][column]
        found: Numbers = 1 / (1 + np.exp2(-np.clip(bits, -60, 60)))
        return found


def fit(candidates: Levels, random: Levels, rows: int, crossed: tuple[int, int] | None) -> Evidence:
    """`candidates`: levels of pairs that share a key, each once; `random`: of any pairs; `rows`: of how many rows."""
    pairs = rows * (rows - 1) / 2
    state = _Fit(
        _first_m(candidates.shape[1]), _shares(random, np.ones(len(random)), 0.5), min(0.5 * rows / pairs, 0.3)
    )
    _cross(state, crossed)
    for step in range(STEPS):
        p = state.probabilities(candidates)
        before, state.share = state.share, min(max(float(p.sum()) / pairs, 1e-12), 0.5)
        state.m = _shares(candidates, p, 1.0, state.m)
        if step in CLEAN_AT:
            state.u = _shares(random, 1 - state.probabilities(random), 0.5)
        _cross(state, crossed)
        if abs(before - state.share) < 1e-6 * before and step > max(CLEAN_AT) + 2:
            break
    weights = np.round(state.weights() * UNIT).astype(np.int64)
    if crossed is None:
        weights[:, CROSSED] = 0
    prior = round(float(np.log2(state.share / (1 - state.share))) * UNIT)
    return Evidence(weights, prior, state.u[:, EQUAL].copy(), state.share * pairs)


def _first_m(fields: int) -> Numbers:
    """Most matches agree, more of them the more alike the values are."""
    one = np.zeros(COUNT)
    one[1 : EQUAL + 1] = np.linspace(0, 1, len(CUTS) + 2) ** 3 + 0.02
    one[EQUAL] *= 3
    one[CROSSED] = 0.01
    return np.tile(one / one.sum(), (fields, 1))


def _shares(levels: Levels, weights: Numbers, added: float, prior: Numbers | None = None) -> Numbers:
    """Of each level among the pairs that have the field; `added` pairs are spread as in `prior`, or evenly."""
    found = np.empty((levels.shape[1], COUNT))
    for field, column in enumerate(levels.T):
        counts: Numbers = np.bincount(column, weights=weights, minlength=COUNT).astype(np.float64)
        counts[0] = 0.0
        counts[1:] += added / (COUNT - 1) if prior is None else added * prior[field, 1:]
        found[field] = counts / counts.sum()
    return found


def _cross(state: _Fit, crossed: tuple[int, int] | None) -> None:
    """Names are crossed by chance as rarely as both agree by chance."""
    if crossed is not None:
        given, surname = crossed
        close = slice(EQUAL - CLOSE + 1, EQUAL + 1)
        state.u[given, CROSSED] = max(state.u[given, close].sum() * state.u[surname, close].sum(), 1e-9)
        state.m[given, CROSSED] = min(state.m[given, CROSSED], MOST_CROSSED)

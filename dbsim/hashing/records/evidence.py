"""The weight of evidence (Fellegi and Sunter 1969), learned without labels: levels of pairs → Evidence, in bits.

How often rows agree by chance (u) comes from random pairs, how often two records of one person do (m) and how many such
pairs there are (the prior) from at most 30 steps of expectation maximisation over the candidates. Fields that agree
together by chance (postcode and city, street and house in a household) count once: see dependence.py. Weights are whole
numbers of 1/UNIT bit: sums of them are the same on every engine, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.hashing.records.dependence import Alike, depend
from dbsim.hashing.records.levels import COUNT, CROSSED, CUTS, EQUAL, Levels

UNIT = 1024
STEPS = 30
CLEAN_AT = (5, 12)  # steps at which probable matches are taken out of the random pairs
MOST_CROSSED = 0.2  # of the matches: unbounded, precision fell to 0.83 (persons.md, 6)
MOST_DIFFERENT = 0.35  # of the matches that have a field may differ in it altogether; neighbours differ in more
MOST_MATCHES = 2.0  # a row: more pairs than that are not records of one person, but of one city
SURE = 0.9  # m is counted among such pairs only: with the others, neighbours become matches step by step
CLOSE = 4  # levels at the top that count as agreement of a name by chance

Numbers = NDArray[np.float64]
Weights = NDArray[np.int64]


@dataclass(frozen=True)
class Evidence:
    """`weights[field, level]` in 1/UNIT bit; what a field says again that its parent has said is taken off.

    That is the smaller of `repeats[field, level]` and `allowed[field, parent's level]`, so that more agreement never
    means less evidence. `parents[field]` is -1 without one; `equal[field]` is u of equal values, for rare ones' worth.
    """

    weights: Weights
    repeats: Weights
    allowed: Weights
    parents: tuple[int, ...]
    prior: int
    equal: Numbers
    matches: float  # expected number among all pairs of the sample

    def bits(self, levels: Levels) -> Weights:
        """Prior and weights of each pair, without the frequency of values."""
        found = np.full(len(levels), self.prior, np.int64)
        for field, parent in enumerate(self.parents):
            found += self.weights[field][levels[:, field]]
            if parent >= 0:
                repeated = self.repeats[field][levels[:, field]]
                found -= np.minimum(repeated, self.allowed[field][levels[:, parent]])
        return found

    def gain(self, field: int) -> int:
        """What equality adds to the level below."""
        return int(self.weights[field, EQUAL] - self.weights[field, EQUAL - 1])


@dataclass
class _Fit:
    """The state of the expectation maximisation: m, u and u where the parent is equal are fields × levels."""

    m: Numbers
    u: Numbers
    after: Numbers
    parents: Sequence[int]
    share: float  # of all pairs that are matches

    def weights(self) -> tuple[Numbers, Numbers, Numbers]:
        """(weights, repeats, allowed); log2(m/u), never falling from one level to the next; 0 for a missing value."""
        plain = _rising(self.m, self.u)
        repeats, allowed = np.zeros_like(plain), np.zeros_like(plain)
        for field, parent in enumerate(self.parents):
            if parent >= 0:
                repeats[field] = np.maximum(plain[field] - _rising(self.m, self.after)[field], 0.0)
                repeats[field, CROSSED] = 0.0
                gained = plain[parent, 1 : EQUAL + 1] - plain[parent, 1]
                allowed[field, 1 : EQUAL + 1] = gained / 2 / self.parents.count(parent)
        return plain, repeats, allowed

    def probabilities(self, levels: Levels) -> Numbers:
        plain, repeats, allowed = self.weights()
        bits = np.full(len(levels), np.log2(self.share / (1 - self.share)))
        for field, parent in enumerate(self.parents):
            bits += plain[field][levels[:, field]]
            if parent >= 0:
                bits -= np.minimum(repeats[field][levels[:, field]], allowed[field][levels[:, parent]])
        found: Numbers = 1 / (1 + np.exp2(-np.clip(bits, -60, 60)))
        return found


def fit(
    candidates: Levels, random: Levels, alike: Sequence[Alike], rows: int, crossed: tuple[int, int] | None
) -> Evidence:
    """`candidates`: levels of pairs that share a key, each once; `random`: of any pairs; `rows`: of how many rows."""
    pairs = rows * (rows - 1) / 2
    most = MOST_MATCHES * rows / pairs
    chance = _shares(random, np.ones(len(random)), 0.5)
    first = _first_m(candidates.shape[1])
    parents, after = depend(chance, first, alike, crossed or ())
    state = _Fit(first, chance, after, parents, min(0.5 * rows / pairs, 0.3))
    _cross(state, crossed)
    for step in range(STEPS):
        p = state.probabilities(candidates)
        before, state.share = state.share, min(max(float(p.sum()) / pairs, 1e-12), most, 0.5)
        state.m = _plausible(_shares(candidates, np.where(p >= SURE, p, 0.0), 1.0, state.m))
        if step in CLEAN_AT:
            state.u = _shares(random, 1 - state.probabilities(random), 0.5)
        _cross(state, crossed)
        if abs(before - state.share) < 1e-6 * before and step > max(CLEAN_AT) + 2:
            break
    plain, repeats, allowed = (np.floor(part * UNIT).astype(np.int64) for part in state.weights())
    if crossed is None:
        plain[:, CROSSED] = 0
    prior = round(float(np.log2(state.share / (1 - state.share))) * UNIT)
    return Evidence(plain, repeats, allowed, tuple(parents), prior, state.u[:, EQUAL].copy(), state.share * pairs)


def _rising(m: Numbers, u: Numbers) -> Numbers:
    """Levels out of order are put together: the ratio of their sums, not the mean of their ratios."""
    m, u = np.maximum(m, 1e-9), np.maximum(u, 1e-9)
    ratio = m / u
    for field in range(len(ratio)):
        levels = slice(1, EQUAL + 1)
        ratio[field, levels] = scipy.optimize.isotonic_regression(ratio[field, levels], weights=u[field, levels]).x
    found: Numbers = np.log2(np.maximum(ratio, 1e-9))
    found[:, 0] = 0.0
    return found


def _first_m(fields: int) -> Numbers:
    """Most matches agree, more of them the more alike the values are."""
    one = np.zeros(COUNT)
    one[1 : EQUAL + 1] = np.linspace(0, 1, len(CUTS) + 2) ** 3 + 0.02
    one[EQUAL] *= 3
    one[CROSSED] = 0.01
    return np.tile(one / one.sum(), (fields, 1))


def _plausible(m: Numbers) -> Numbers:
    """With at most MOST_DIFFERENT in the lowest two levels."""
    low = m[:, 1:3].sum(axis=1, keepdims=True)
    scale = np.where(low > MOST_DIFFERENT, MOST_DIFFERENT / np.maximum(low, 1e-12), 1.0)
    rest = np.where(low > MOST_DIFFERENT, (1 - MOST_DIFFERENT) / np.maximum(1 - low, 1e-12), 1.0)
    found = m * rest
    found[:, 1:3] = m[:, 1:3] * scale
    return found


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
        chance = max(state.u[given, close].sum() * state.u[surname, close].sum(), 1e-9)
        state.u[given, CROSSED] = state.after[given, CROSSED] = chance
        state.m[given, CROSSED] = min(state.m[given, CROSSED], MOST_CROSSED)

"""The weight of evidence (Fellegi and Sunter 1969), learned without labels: levels of pairs → Evidence, in bits.

A pair is a match, or two strangers, or two persons of one household. How often strangers agree (u) comes from random
pairs; how often two records of one person do (m), how often relatives do (h), and how many there are of each, from at
most 30 steps of expectation maximisation over the candidates (relatives.py). A pair's evidence is the least of that
against strangers and that against each kind of relatives. Weights are whole numbers of 1/UNIT bit: sums of them are the
same on every engine, in any order, and four of them fit into one number of 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.hashing.records.levels import COUNT, CROSSED, CUTS, EQUAL, Levels
from dbsim.hashing.records.relatives import relatives, without_matches

UNIT = 64
STEPS = 30
CLEAN_AT = (5, 12)  # steps at which probable matches are taken out of the random pairs
MOST_CROSSED = 0.2  # of the matches: unbounded, precision fell to 0.83 (persons.md, 6)
MOST_DIFFERENT = 0.35  # of the matches that have a field may differ in it altogether; neighbours differ in more
MOST_MATCHES = 2.0  # a row: more pairs than that are not records of one person, but of one city
SURE = 0.75  # m is counted among such pairs only: with the others, neighbours become matches step by step
NEW = 0.5  # of what an address of e-mail says that is alike, but not equal: the rest the names have said
CLOSE = 4  # levels at the top that count as agreement of a name by chance
MOST_BITS, MOST_PRIOR = 30, 60  # of a field, of the prior
MOST_SUM, RARE = 440, 6  # bits: with the prior and what rare values add, a sum fits into 16 bits of 1/UNIT
STRANGERS = 0  # the other numbers are kinds of relatives

Numbers = NDArray[np.float64]
Weights = NDArray[np.int64]


@dataclass(frozen=True)
class Roles:
    """Numbers of the fields that are more than fields: given name and surname, which may be crossed.

    `own`: a person's own, with the highest level that still is different; `echoes`: made of the names, such as an
    address of e-mail, so that only equality says something new.
    """

    crossed: tuple[int, int] | None
    own: Mapping[int, int]
    echoes: tuple[int, ...]


@dataclass(frozen=True)
class Evidence:
    """`weights[against, field, level]` and `priors[against]` in 1/UNIT bit: against strangers, then against relatives.

    `equal[field]` is u of equal values, for what rare ones are worth.
    """

    weights: Weights
    priors: Weights
    equal: Numbers
    matches: float  # expected number among all pairs of the sample

    def bits(self, levels: Levels, rare: Weights | int = 0) -> Weights:
        """Prior and weights of each pair; rare values speak against strangers only: relatives share them."""
        found: Weights = self.against(levels, rare).min(axis=1)
        return found

    def against(self, levels: Levels, rare: Weights | int = 0) -> Weights:
        """pairs × (strangers, kinds of relatives)."""
        found = np.tile(self.priors, (len(levels), 1))
        for field in range(levels.shape[1]):
            found += self.weights[:, field, levels[:, field]].T
        found[:, STRANGERS] += rare
        return found

    def gain(self, field: int) -> int:
        """What equality adds to the level below."""
        return int(self.weights[STRANGERS, field, EQUAL] - self.weights[STRANGERS, field, EQUAL - 1])


@dataclass
class _Fit:
    """The state of the expectation maximisation: m and others[k] are fields × levels."""

    m: Numbers
    others: list[Numbers]
    share: float  # of all pairs that are matches
    shares: list[float]  # that are strangers, relatives of each kind
    echoes: Sequence[int]

    def weights(self) -> list[Numbers]:
        found = [_rising(self.m, other) for other in self.others]
        for number, weights in enumerate(found):
            for field in self.echoes:
                new = weights[field, 1:EQUAL] * (NEW if number == STRANGERS else 0.0)
                weights[field, 1:EQUAL] = np.minimum(weights[field, 1:EQUAL], new)
        return found

    def priors(self) -> list[float]:
        return [float(np.log2(self.share / share)) for share in self.shares]

    def probabilities(self, levels: Levels) -> Numbers:
        """Of a match."""
        total = np.ones(len(levels))
        for prior, weights in zip(self.priors(), self.weights(), strict=True):
            total += np.exp2(-np.clip(prior + _sum(weights, levels), -60, 60))
        found: Numbers = 1 / total
        return found


def _sum(weights: Numbers, levels: Levels) -> Numbers:
    found = np.zeros(len(levels))
    for field in range(levels.shape[1]):
        found += weights[field][levels[:, field]]
    return found


def fit(candidates: Levels, random: Levels, roles: Roles, rows: int) -> Evidence:
    """`candidates`: levels of pairs that share a key, each once; `random`: of any pairs; `rows`: of how many rows."""
    pairs = rows * (rows - 1) / 2
    most = MOST_MATCHES * rows / pairs
    chance = _shares(random, np.ones(len(random)), 0.5)
    first = _first_m(candidates.shape[1])
    kinds, shares = relatives(candidates, chance, first, roles.own, rows)
    state = _Fit(first, [chance, *kinds], min(0.5 * rows / pairs, 0.3), [1.0, *shares], roles.echoes)
    _cross(state, roles.crossed)
    for step in range(STEPS):
        p = state.probabilities(candidates)
        before, state.share = state.share, min(max(float(p.sum()) / pairs, 1e-12), most, 0.5)
        state.m = _plausible(_shares(candidates, np.where(p >= SURE, p, 0.0), 1.0, state.m))
        if step in CLEAN_AT:
            state.others[STRANGERS] = _shares(random, 1 - state.probabilities(random), 0.5)
            state.shares = [1.0, *without_matches(shares, state.share, state.m, roles.own)]
        _cross(state, roles.crossed)
        if abs(before - state.share) < 1e-6 * before and step > max(CLEAN_AT) + 2:
            break
    widest = min(MOST_BITS, MOST_SUM / len(chance) - RARE)
    weights = np.floor(np.stack(state.weights()).clip(-widest, widest) * UNIT).astype(np.int64)
    if roles.crossed is None:
        weights[:, :, CROSSED] = 0
    priors = np.round(np.array(state.priors()).clip(-MOST_PRIOR, MOST_PRIOR) * UNIT).astype(np.int64)
    return Evidence(weights, priors, state.others[STRANGERS][:, EQUAL].copy(), state.share * pairs)


def _rising(m: Numbers, u: Numbers) -> Numbers:
    """log2(m/u), never falling from one level to the next; 0 for a missing value.

    Levels out of order are put together: the ratio of their sums, not the mean of their ratios.
    """
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
    one[1 : EQUAL + 1] = np.linspace(0, 1, len(CUTS) + 2) ** 3 + 0.1
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
    """Names are crossed by chance as rarely as both agree by chance; relatives have one surname."""
    if crossed is not None:
        given, surname = crossed
        close = slice(EQUAL - CLOSE + 1, EQUAL + 1)
        strangers = state.others[STRANGERS]
        first, last = (max(float(strangers[name, close].sum()), 1e-9) for name in (given, surname))
        for number, other in enumerate(state.others):
            other[given, CROSSED] = max(first * last if number == STRANGERS else first, 1e-9)
        state.m[given, CROSSED] = min(state.m[given, CROSSED], MOST_CROSSED)

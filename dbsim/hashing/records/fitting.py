"""Learning without labels: levels of candidates and of random pairs → Evidence.

How often strangers agree (u) comes from random pairs; how often two records of one person do (m), how often relatives
do (h), and how many there are of each, from at most 30 steps of expectation maximisation over the candidates.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dbsim.hashing.records.evidence import STRANGERS, UNIT, Evidence, Numbers, Roles
from dbsim.hashing.records.levels import COUNT, CROSSED, CUTS, EQUAL, Levels
from dbsim.hashing.records.patterns import Patterns
from dbsim.hashing.records.relatives import TWIN, relatives, share_of_twins, twins, without_matches

STEPS = 30
CLEAN_AT = (5, 12)  # steps at which probable matches are taken out of the random pairs
MOST_CROSSED = 0.2  # of the matches: unbounded, precision fell to 0.83 (persons.md, 6)
MOST_DIFFERENT = 0.35  # of the matches that have a field may differ in it altogether; neighbours differ in more
LEAST_DIFFERENT = 0.02  # any field may be wrong altogether, which EM is never sure of; but not all that tells relatives
MOVED = (0.05, 0.5)  # of the matches have a whole other address, at least and at most; EM begins with the least
MOST_MATCHES = 2.0  # a row: more pairs than that are not records of one person, but of one city
SURE = 0.75  # m is counted among such pairs only: with the others, neighbours become matches step by step
NEW = 0.5  # of what an address of e-mail says that is alike, but not equal: the rest the names have said
ENOUGH = 30  # pairs of namesakes, to learn from them
CLOSE = 4  # levels at the top that count as agreement of a name by chance
MOST_BITS, MOST_PRIOR = 30, 60  # of a field, of the prior
MOST_SUM, RARE = 440, 6  # bits: with the prior and what rare values add, a sum fits into 16 bits of 1/UNIT


@dataclass
class _Fit:
    """The state of the expectation maximisation: m and others[k] are fields × levels."""

    m: Numbers
    others: list[Numbers]
    share: float  # of all pairs that are matches
    shares: list[float]  # that are strangers, relatives of each kind
    roles: Roles
    moved: float = MOVED[0]
    echoed: dict[int, Numbers] = field(default_factory=dict)  # how alike a field is of strangers equal in its source

    def weights(self) -> list[Numbers]:
        strict = [_plausible(self.m, 0.0 if number else LEAST_DIFFERENT) for number in range(len(self.others))]
        found = [_rising(m, other) for m, other in zip(strict, self.others, strict=True)]
        for number, weights in enumerate(found):
            for echo in self.roles.echoes:
                new = weights[echo, 1:EQUAL] * (NEW if number == STRANGERS else 0.0)
                weights[echo, 1:EQUAL] = np.minimum(weights[echo, 1:EQUAL], new)
        for echo, alike in self.echoed.items():
            told = _rising(strict[STRANGERS][[echo]], alike)[0]
            found[STRANGERS][echo] = np.minimum(found[STRANGERS][echo], told)
        return found

    def priors(self) -> list[float]:
        return [float(np.log2(self.share / share)) for share in self.shares]

    def probabilities(self, levels: Levels) -> Numbers:
        """Of a match."""
        found: Numbers = self.judged(levels)[0]
        return found

    def judged(self, levels: Levels) -> tuple[Numbers, Numbers, Numbers]:
        """Probability of a match; of a match, that the person has moved; of the last kind."""
        priors, weights = self.priors(), self.weights()
        place = np.exp2(-np.clip(_sum(weights[STRANGERS], levels, self.roles.place), -60, 60)) * self.moved
        either = 1 - self.moved + place if self.roles.place else np.ones(len(levels))
        total = other = np.ones(len(levels))
        for prior, one in zip(priors, weights, strict=True):
            other = np.exp2(-np.clip(prior + _sum(one, levels, range(levels.shape[1])), -60, 60)) / either
            total = total + other
        return 1 / total, place / either, other / total

    def meet(self, candidates: Patterns) -> None:
        """Learn how alike echoes of namesakes are, from pairs with equal names that are no matches by all the rest.

        Equal ones are hardly ever those of two persons: there the echo itself may say that it is a match.
        """
        for echo, names in self.roles.echoes.items():
            equal = candidates.where((candidates.levels[:, list(names)] == EQUAL).all(axis=1) & bool(names))
            rest = equal.levels.copy()
            rest[:, list(self.roles.echoes)] = 0
            itself = equal.levels[:, echo] == EQUAL
            strangers = 1 - np.where(itself, self.probabilities(equal.levels), self.probabilities(rest))
            if equal.total(strangers) >= ENOUGH:
                self.echoed[echo] = _shares(equal, strangers, 1.0, self.others[STRANGERS])[[echo]]

    def locate(self, random: Patterns) -> None:
        """Learn which part of an address follows from a closer one: who has one's postcode lives in one's city."""
        chance, strangers = self.others[STRANGERS], 1 - self.probabilities(random.levels)
        closest = sorted(self.roles.place, key=lambda part: chance[part, EQUAL])
        for closer, part in itertools.pairwise(closest):
            alike = random.levels[:, closer] == EQUAL
            equal = random.where(alike)
            if equal.total(strangers[alike]) >= ENOUGH:
                self.echoed[part] = _shares(equal, strangers[alike], 1.0, chance)[[part]]


def _sum(weights: Numbers, levels: Levels, fields: Sequence[int]) -> Numbers:
    found = np.zeros(len(levels))
    for number in fields:
        found += weights[number][levels[:, number]]
    return found


def fit(candidates: Patterns, random: Patterns, roles: Roles, rows: int, table: int) -> Evidence:
    """`candidates`: pairs that share a key, each once; `random`: any pairs; `rows`: of how many rows.

    Of a tenth of a `table` a hundredth of the pairs is there: as many matches of a row as in the whole table would have
    to be strangers who share a name (a tenth of a million rows, both names a key: 60,000 instead of at most 20,000).
    """
    pairs = rows * (rows - 1) / 2
    one = 2 / (table - 1)  # share of all pairs that one match of each row would be
    most = MOST_MATCHES * one
    chance = _shares(random, np.ones(len(random)), 0.5)
    first = _first_m(candidates.levels.shape[1])
    kinds, shares = relatives(candidates, chance, first, roles, pairs, one)
    pairs_of_twins = [] if roles.called is None else [TWIN[0] * one]
    state = _Fit(first, [chance, *kinds], min(0.5 * one, 0.3), [1.0, *shares, *pairs_of_twins], roles)
    _cross(state, roles.crossed)
    for step in range(STEPS):
        p, moved, twin = state.judged(candidates.levels)
        before, state.share = state.share, min(max(candidates.total(p) / pairs, 1e-12), most, 0.5)
        sure = np.where(p >= SURE, p, 0.0)
        m = _shares(candidates, sure, 1.0, state.m)
        if roles.place:
            place = list(roles.place)
            m[place] = _shares(candidates, sure * (1 - moved), 1.0, state.m)[place]
            gone = candidates.total(sure * moved) / max(candidates.total(sure), 1e-9)
            state.moved = float(np.clip(gone, *MOVED))
        if roles.called is not None:
            alike = np.where(p + twin >= SURE, p + twin, 0.0)
            state.shares[-1] = share_of_twins(candidates, alike, m, roles, pairs, one)
            m[roles.called] = _without_twins(candidates, alike, state, pairs)
        state.m = _plausible(m, 0.0)
        if step in CLEAN_AT:
            state.meet(candidates)
            state.locate(random)
            state.others[STRANGERS] = _shares(random, 1 - state.probabilities(random.levels), 0.5)
            less = without_matches(shares, state.share, state.m, roles.own)
            state.shares = [1.0, *less, *state.shares[1 + len(less) :]]
        _cross(state, roles.crossed)
        if abs(before - state.share) < 1e-6 * before and step > max(CLEAN_AT) + 2:
            break
    most = widest(len(chance))
    weights = np.floor(np.stack(state.weights()).clip(-most, most) * UNIT).astype(np.int64)
    if roles.crossed is None:
        weights[:, :, CROSSED] = 0
    priors = np.round(np.array(state.priors()).clip(-MOST_PRIOR, MOST_PRIOR) * UNIT).astype(np.int64)
    place = list(roles.place)
    weights[1:, place] = np.maximum(weights[1:, place], 0)  # who lives elsewhere is no relative for that
    equal = state.others[STRANGERS][:, EQUAL].copy()
    elsewhere = math.floor(math.log2(state.moved) * UNIT) if place else 0
    return Evidence(weights, priors, equal, state.share * pairs, roles.place, elsewhere)


def _without_twins(candidates: Patterns, alike: Numbers, state: _Fit, pairs: float) -> Numbers:
    """How alike the names of one person are: among all pairs `alike` but for the name, less as many as are twins.

    Not among those that are rather one person than twins, which would be ever fewer.
    """
    called = state.roles.called
    assert called is not None
    found = candidates.counted(alike)[called] + state.m[called]
    found -= np.minimum(state.shares[-1] * pairs * state.others[-1][called], found)
    shares: Numbers = found / found.sum()
    return shares


def widest(fields: int) -> float:
    """Bits that one field may say at most, so that the sum of all can be stored."""
    return min(MOST_BITS, MOST_SUM / fields - RARE)


def _rising(m: Numbers, u: Numbers) -> Numbers:
    """log2(m/u), never falling from one level to the next; 0 for a missing value.

    Levels out of order are put together: the ratio of their sums, not the mean of their ratios.
    """
    m, u = np.maximum(m, 1e-9), np.maximum(u, 1e-9)
    ratio = m / u
    levels = slice(1, EQUAL + 1)
    for number, chance in enumerate(u):
        ratio[number, levels] = _never_falling(ratio[number, levels].tolist(), chance[levels].tolist())
    found: Numbers = np.log2(np.maximum(ratio, 1e-9))
    found[:, 0] = 0.0
    return found


def _never_falling(values: list[float], weights: list[float]) -> list[float]:
    """The nearest values that do not fall; neighbours that would are put together by their weighted mean."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for value, weight in zip(values, weights, strict=True):
        mean, total, count = value, weight, 1
        while blocks and blocks[-1][0] >= mean:
            before, heavy, several = blocks.pop()
            mean = (mean * total + before * heavy) / (total + heavy)
            total, count = total + heavy, count + several
        blocks.append((mean, total, count))
    return [mean for mean, _, count in blocks for _ in range(count)]


def _first_m(fields: int) -> Numbers:
    """Most matches agree, more of them the more alike the values are."""
    one = np.zeros(COUNT)
    one[1 : EQUAL + 1] = np.linspace(0, 1, len(CUTS) + 2) ** 3 + 0.1
    one[EQUAL] *= 3
    one[CROSSED] = 0.01
    return np.tile(one / one.sum(), (fields, 1))


def _plausible(m: Numbers, least: float) -> Numbers:
    """With `least` to MOST_DIFFERENT in the lowest two levels."""
    low = np.maximum(m[:, 1:3].sum(axis=1, keepdims=True), 1e-12)
    wanted = np.clip(low, least, MOST_DIFFERENT)
    found: Numbers = m * (1 - wanted) / np.maximum(1 - low, 1e-12)
    found[:, 1:3] = m[:, 1:3] * wanted / low
    return found


def _shares(patterns: Patterns, weights: Numbers, added: float, prior: Numbers | None = None) -> Numbers:
    """Of each level among the pairs that have the field; `added` pairs are spread as in `prior`, or evenly."""
    found = patterns.counted(weights)
    found[:, 1:] += added / (COUNT - 1) if prior is None else added * prior[:, 1:]
    shares: Numbers = found / found.sum(axis=1, keepdims=True)
    return shares


def _cross(state: _Fit, crossed: tuple[int, int] | None) -> None:
    """Names are crossed by chance as rarely as both agree by chance; relatives have one surname; twins are like one."""
    if crossed is not None:
        given, surname = crossed
        close = slice(EQUAL - CLOSE + 1, EQUAL + 1)
        strangers = state.others[STRANGERS]
        first, last = (max(float(strangers[name, close].sum()), 1e-9) for name in (given, surname))
        for number, other in enumerate(state.others):
            other[given, CROSSED] = max(first * last if number == STRANGERS else first, 1e-9)
        state.m[given, CROSSED] = min(state.m[given, CROSSED], MOST_CROSSED)
    called, strangers = state.roles.called, state.others[STRANGERS]
    if called is not None:
        last_kind = twins(state.m, strangers, called, float(strangers[called, CROSSED]))
        state.others = [*state.others[: len(state.shares) - 1], last_kind]

"""Persons of one household, who share surname, address and telephone: levels of candidates → how they agree (h).

They are learned from candidates that differ in everything that is a person's own (given name, day of birth), which are
no matches whatever else agrees; as a mixture of a few kinds, because couples, parents and neighbours share different
things together. What is a person's own they share as rarely as strangers, but for twins and namesakes; of a name that
is whole they share the surname. Twins are a kind of their own: all is like that of one person but the given name.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.records.evidence import Roles
from dbsim.hashing.records.levels import CROSSED, EQUAL, Levels
from dbsim.hashing.records.patterns import Patterns

KINDS = (
    3  # one of them twins where there is a name; with the strangers four sums, which SQL adds up in one 64-bit number
)
STEPS = 30
TWINS = 0.03  # of the relatives have one day of birth, and so many one given name
LEAST = 0.002  # pairs of relatives a row are thought to be there, also where keys find none of them
MOST = (
    4  # relatives of a person: where more share what relatives share, they are of one city, and no more often namesakes
)
NEVER = 1e-30
NAMESAKES = 0.001  # of twins
OFTEN_ALIKE = 3.0  # as strangers are the names of twins: Tim and Tom, Martin and Martina
TWIN = (0.001, 0.006)  # pairs of twins a row, at least and at most: of a hundred births one or two are of twins
MORE_OFTEN = 3.0  # than in the day of birth records of one person may differ in the name …
LEAST_APART, MOST_APART = 0.02, 0.35  # … within these
BETWEEN = 2  # levels above the highest that is different: Tim and Tom are alike
KEPT = 0.05  # of the relatives, when matches that differ in everything of their own are taken out

Numbers = NDArray[np.float64]


def relatives(
    candidates: Patterns, chance: Numbers, usual: Numbers, roles: Roles, pairs: float, one: float
) -> tuple[list[Numbers], list[float]]:
    """Kinds times fields × levels, and which share of all pairs is of the kind; without twins.

    `usual` is how much fields agree that are shared; of so many `pairs` the candidates are those that share a key, and
    `one` is the share that one relative of each row would be. Without a field of a person's own nobody is a relative.
    """
    own, count = roles.own, KINDS - (roles.called is not None)
    kinds = [(1 - share) * chance + share * usual for share in np.linspace(0.9, 0.5, count)]
    if not own:
        return kinds, [NEVER] * count
    levels = candidates.levels
    there = np.logical_and.reduce([levels[:, field] > 0 for field in own])
    apart = candidates.where(np.logical_and.reduce([there, *(levels[:, field] <= cut for field, cut in own.items())]))
    rest = [field for field in range(len(chance)) if field not in own]
    shares = [0.5 * max(apart.pairs, 1) / count / pairs] * count
    for _ in range(STEPS if len(apart) else 0):
        parts = _likelihoods(apart.levels, [chance, *kinds], [1.0, *shares], rest)[:, 1:]
        shares = [max(apart.total(part) / pairs, NEVER) for part in parts.T]
        kinds = [_counted(apart, part, kind) for part, kind in zip(parts.T, kinds, strict=True)]
    names = _names(candidates, [chance, *kinds], [1.0, *shares], roles)
    for number, (kind, share) in enumerate(zip(kinds, shares, strict=True)):
        twins = TWINS * min(1.0, MOST / max(2 * share / one, 1e-9))
        for field in own:
            alike = names[number] if names and field == roles.called else chance[field]
            kind[field] = (1 - twins) * alike
            kind[field, EQUAL] += twins
    return kinds, _enough(shares, candidates.pairs / max(candidates.where(there).pairs, 1), LEAST * one)


def _names(candidates: Patterns, kinds: list[Numbers], shares: list[float], roles: Roles) -> list[Numbers]:
    """Of whole names, how alike they are in each kind of relatives: among those who differ in the rest of their own."""
    others = {field: cut for field, cut in roles.own.items() if field != roles.called}
    if not roles.whole or not others or roles.called is None:
        return []
    levels = candidates.levels
    apart = candidates.where(
        np.logical_and.reduce([(levels[:, field] > 0) & (levels[:, field] <= cut) for field, cut in others.items()])
        & (levels[:, roles.called] < EQUAL)
    )
    rest = [field for field in range(len(kinds[0])) if field not in roles.own]
    parts = _likelihoods(apart.levels, kinds, shares, rest)[:, 1:]
    return [_counted(apart, part, kinds[0])[roles.called] for part in parts.T]


def twins(m: Numbers, chance: Numbers, called: int, crossed: float) -> Numbers:
    """How the records of twins agree: as those of one person do, but for the name."""
    found = m.copy()
    found[called] = chance[called]
    found[called, 2:EQUAL] *= OFTEN_ALIKE
    found[called, EQUAL] = NAMESAKES
    found[called, 1] = max(1 - float(found[called, 2 : EQUAL + 1].sum()), chance[called, 1] / 2)
    found[called, CROSSED] = crossed
    return found


def share_of_twins(candidates: Patterns, alike: Numbers, m: Numbers, roles: Roles, pairs: float, one: float) -> float:
    """Of all pairs: those `alike` but for the name that are more than one person's records would be.

    These differ in the name not much more often than in what else is a person's own, such as the day of birth.
    """
    fewest, most = (min(rate * one, 0.3) for rate in TWIN)
    others = [float(m[field, 1 : cut + 1].sum()) for field, cut in roles.own.items() if field != roles.called]
    if roles.called is None or not others:
        return fewest
    levels = candidates.levels[:, roles.called]
    apart = candidates.total(np.where((levels > 0) & (levels <= roles.own[roles.called] + BETWEEN), alike, 0.0))
    named = candidates.total(np.where(levels > 0, alike, 0.0))
    usual = min(max(MORE_OFTEN * float(np.mean(others)), LEAST_APART), MOST_APART)
    return min(max((apart - usual * (named - apart) / (1 - usual)) / pairs, fewest), most)


def _likelihoods(levels: Levels, kinds: list[Numbers], shares: list[float], fields: list[int]) -> Numbers:
    """pairs × kinds: the probability that a pair is of the kind."""
    found = np.tile(np.log2(shares), (len(levels), 1))
    for number, kind in enumerate(kinds):
        bits = np.log2(np.maximum(kind, 1e-9))
        bits[:, 0] = 0.0
        for field in fields:
            found[:, number] += bits[field][levels[:, field]]
    found = np.exp2(found - found.max(axis=1, keepdims=True))
    likely: Numbers = found / found.sum(axis=1, keepdims=True)
    return likely


def _counted(patterns: Patterns, weights: Numbers, before: Numbers) -> Numbers:
    """Of each level among the pairs that have the field, with one pair as before."""
    found = patterns.counted(weights)
    found[:, 1:] += before[:, 1:]
    shares: Numbers = found / found.sum(axis=1, keepdims=True)
    return shares


def _enough(shares: list[float], scale: float, least: float) -> list[float]:
    """Of all pairs, not only those that have every own field; and at least so many."""
    scale = max(scale, least / sum(shares))
    return [share * scale for share in shares]


def without_matches(shares: list[float], matches: float, m: Numbers, own: Mapping[int, int]) -> list[float]:
    """Shares of the kinds without the matches that were counted because they too differ in all that is their own."""
    among = matches * float(np.prod([max(m[field, 1 : cut + 1].sum(), 0.02) for field, cut in own.items()]))
    total = sum(shares)
    return [share * max((total - among) / total, KEPT) for share in shares]

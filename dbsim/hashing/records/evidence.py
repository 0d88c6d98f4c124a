"""The weight of evidence (Fellegi and Sunter 1969): levels of pairs → Evidence, in bits.

A pair is a match, or two strangers, or two persons of one household; how all of them agree is learned by fitting.py. A
pair's evidence is the least of that against strangers and that against each kind of relatives. Weights are whole
numbers of 1/UNIT bit: sums of them are the same on every engine, in any order, and four of them fit into one number of
64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.records.levels import EQUAL, Levels

UNIT = 64
STRANGERS = 0  # the other numbers are kinds of relatives

Numbers = NDArray[np.float64]
Weights = NDArray[np.int64]


@dataclass(frozen=True)
class Roles:
    """Numbers of the fields that are more than fields: given name and surname, which may be crossed.

    `own`: a person's own, with the highest level that still is different; `called`: of these, the name by which twins
    differ who have everything else in common (`whole`: with the surname, which they share); `echoes`: made of other
    fields, such as an address of e-mail of the names, so that it says new things only as far as namesakes differ in
    it; `place`: parts of the address, which all change when a person moves.
    """

    crossed: tuple[int, int] | None
    own: Mapping[int, int]
    echoes: Mapping[int, tuple[int, ...]]
    place: tuple[int, ...] = ()
    called: int | None = None
    whole: bool = False


@dataclass(frozen=True)
class Evidence:
    """`weights[against, field, level]` and `priors[against]` in 1/UNIT bit: against strangers, then against relatives.

    `equal[field]` is u of equal values, for what rare ones are worth. Fields of `place` that together say less against
    strangers than `moved` count as `moved` instead: the person lives elsewhere, which happens but once.
    """

    weights: Weights
    priors: Weights
    equal: Numbers
    matches: float  # expected number among all pairs of the sample
    place: tuple[int, ...] = ()
    moved: int = 0

    def bits(self, levels: Levels, rare: Weights | None = None) -> Weights:
        """Prior and weights of each pair, and what its equal rare values add (pairs × fields)."""
        found: Weights = self.against(levels, rare).min(axis=1)
        return found

    def against(self, levels: Levels, rare: Weights | None = None) -> Weights:
        """pairs × (strangers, kinds of relatives); rare values speak against strangers only: relatives share them."""
        found = np.tile(self.priors, (len(levels), 1))
        place = np.zeros_like(found)
        for number in range(levels.shape[1]):
            part = place if number in self.place else found
            part += self.weights[:, number, levels[:, number]].T
            if rare is not None:
                part[:, STRANGERS] += rare[:, number]
        return found + self.settled(place)

    def settled(self, place: Weights) -> Weights:
        """What the parts of an address say (pairs × kinds), or, if that is less, that the person has moved."""
        if self.place:
            place[place[:, STRANGERS] < self.moved] = [self.moved, *[0] * (len(self.priors) - 1)]
        return place

    def gain(self, field: int) -> int:
        """What equality adds to the level below."""
        return int(self.weights[STRANGERS, field, EQUAL] - self.weights[STRANGERS, field, EQUAL - 1])

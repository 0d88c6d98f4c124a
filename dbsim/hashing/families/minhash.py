"""One-permutation MinHash with optimal densification (Shrivastava 2017): Features → signature (documents × positions).

The hash range is cut into as many parts as there are positions; a position holds the smallest feature hash of its
part. A part left empty has three more chances, where other bits of the hash cut the range (as in Dahlgaard, Knudsen and
Thorup 2017): without them the estimate of ten features scatters a fifth more than that of real MinHash.
One still empty copies from the first filled part of a fixed random order of its own. So the probability that two
documents agree in a position is their Jaccard similarity, however few features they have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.family import Family, Keys, Model
from dbsim.hashing.keys import Plan, band
from dbsim.hashing.measures import jaccard
from dbsim.text.arithmetic import LANE, MASK, MIX_1, Hashes, combine, scale
from dbsim.text.features import Features

EMPTY = np.uint64(2**64 - 1)
CHANCES = 3
MANY = 5  # features a part: hardly one is left empty
QUICK_ATTEMPTS = 3
CHUNK = 4096


def signature(features: Features, positions: int) -> Hashes:
    """The minima; a document without features has EMPTY everywhere."""
    shape = len(features.offsets) - 1, positions
    if len(features.hashes) > MANY * math.prod(shape):
        found: Hashes = _minima(features, shape, 1)[0]
        if not (found == EMPTY).any():
            return found.reshape(shape)
    found, *chances = _minima(features, shape, 1 + CHANCES)
    for chance in chances:
        np.copyto(found, chance, where=found == EMPTY)
    _densify(found.reshape(shape))
    return found.reshape(shape)


def _minima(features: Features, shape: tuple[int, int], cuts: int) -> Hashes:
    """cuts × (documents · positions): the range cut once, or in all ways at once for the sake of few calls."""
    count, positions = shape
    size = count * positions
    minima = np.full((cuts, size), EMPTY, np.uint64)
    starts = np.arange(0, cuts * size, size)[:, None] if size else 0
    for documents, hashes in features.blocks():
        part = scale(_cuts(hashes)[:cuts], positions)
        part += starts
        if count > 1:
            part += documents * positions
        np.minimum.at(minima.reshape(-1), part.reshape(-1), np.concatenate([hashes] * cuts))
    return minima


def _cuts(hashes: Hashes) -> Hashes:
    """The 31 bits to cut the range by: the high lane, then others independent of it and of each other."""
    lanes = np.empty((1 + CHANCES, len(hashes)), np.uint64)
    high = np.right_shift(hashes, LANE, out=lanes[0])
    low = np.bitwise_and(hashes, MASK, out=lanes[1])
    np.bitwise_xor(high, low, out=lanes[2])
    np.bitwise_and(low * MIX_1, MASK, out=lanes[3])
    return lanes


def _densify(minima: Hashes) -> None:
    empty = (minima.reshape(-1) == EMPTY).nonzero()[0]
    if not len(empty):
        return
    filled = minima != EMPTY
    empty = empty[filled.any(axis=1)[empty // minima.shape[1]]]  # a document without features stays empty
    if not len(empty):
        return
    donors = donor_order(minima.shape[1])
    column = empty % minima.shape[1]
    start = empty - column  # of the document
    flat, filled = minima.reshape(-1), filled.reshape(-1)
    for attempt in range(QUICK_ATTEMPTS):  # most empty parts of a long text find a donor at once …
        donor = start + donors[column, attempt % donors.shape[1]]
        found = filled[donor]
        flat[empty[found]] = flat[donor[found]]
        left = ~found
        empty, column, start = empty[left], column[left], start[left]
    for first in range(0, len(empty), CHUNK):  # … those of a short text look through the whole order
        part = slice(first, first + CHUNK)
        order = start[part, None] + donors[column[part]]
        place = filled[order].argmax(axis=1)
        flat[empty[part]] = flat[order[np.arange(len(order)), place]]


@lru_cache(maxsize=32)
def donor_order(positions: int) -> NDArray[np.int64]:
    """Row i: all other positions in the order in which an empty part i looks at them."""
    pairs = np.arange(positions * positions, dtype=np.uint64) + np.uint64(1)
    order = combine([pairs, pairs]).reshape(positions, positions)
    np.fill_diagonal(order, EMPTY)
    return np.argsort(order, axis=1, kind="stable")[:, :-1]


@dataclass(frozen=True)
class MinHash(Family):
    """Keys are bands of minima; two documents agree in a row with the probability of their (weighted) Jaccard."""

    measure: ClassVar[str] = "jaccard"

    def collision(self, similarity: float) -> float:
        return similarity

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        return band(minima(documents.features, documents.weights, plan), plan)

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        return jaccard(left, right)


def minima(fields: Sequence[Features], weights: Sequence[float], plan: Plan) -> Hashes:
    """documents × positions, over all fields."""
    return mixture([signature(features, plan.positions) for features in fields], weights, plan)


def mixture(signatures: Sequence[Hashes], weights: Sequence[float], plan: Plan) -> Hashes:
    """Each position belongs to one field, by weight: so they agree with probability Σ weight·J, the score.

    A document without that field (EMPTY) uses the position's next choice, as the score renormalises the weights.
    """
    if len(signatures) == 1:
        return signatures[0]
    chosen = np.full_like(signatures[0], EMPTY)
    for choice in field_order(tuple(weights), plan):  # a later choice only fills what is still missing
        for field, found in enumerate(signatures):
            column = choice == field
            chosen[:, column] = np.where(chosen[:, column] == EMPTY, found[:, column], chosen[:, column])
    return chosen


@lru_cache(maxsize=32)
def field_order(weights: tuple[float, ...], plan: Plan) -> NDArray[np.int64]:
    """choices × positions: which field a position takes first, second, …, each by weight from those left.

    Drawn at random, a field of weight 0.3 may get 0.2 of 144 positions, and recall falls from 0.95 to 0.87. So the
    numbers of positions a key gives to the fields are the quantiles of the multinomial distribution, one a key; in
    fractions, because a last bit that differs between platforms could move a quantile.
    """
    shares = tuple(Fraction(repr(weight)) for weight in weights)
    fields = tuple(range(len(weights)))
    keys = [_orders(fields, shares, plan.rows, Fraction(2 * key + 1, 2 * plan.keys))[0] for key in range(plan.keys)]
    return np.array([order for key in keys for order in key]).T


def _orders(
    fields: tuple[int, ...], weights: tuple[Fraction, ...], rows: int, number: Fraction
) -> tuple[list[tuple[int, ...]], Fraction]:
    """The fields of `rows` positions in order of choice, read off a number from 0 to 1; and what is left of it."""
    if len(fields) == 1:
        return [fields] * rows, number
    found: list[tuple[int, ...]] = []
    total = sum((weights[field] for field in fields), Fraction(0))
    for field in fields:
        if not rows:
            break
        count, number = _binomial(rows, weights[field] / total, number)
        others, number = _orders(tuple(other for other in fields if other != field), weights, count, number)
        found += [(field, *other) for other in others]
        rows, total = rows - count, total - weights[field]
    return found, number


def _binomial(rows: int, share: Fraction, number: Fraction) -> tuple[int, Fraction]:
    """The quantile of the binomial distribution at `number`, and where in its step the number lies, from 0 to 1."""
    for count in range(rows):
        step = math.comb(rows, count) * share**count * (1 - share) ** (rows - count)
        if number < step:
            return count, number / step
        number -= step
    return rows, number / share**rows

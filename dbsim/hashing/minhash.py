"""One-permutation MinHash with optimal densification (Shrivastava 2017): Features → signature (documents × positions).

The hash range is cut into as many parts as there are positions; a position holds the smallest feature hash of its
part. A part without features copies from the first filled part of a fixed random order of its own, so that the
probability that two documents agree in a position is their Jaccard similarity, however few features they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.keys import Plan, band
from dbsim.text.arithmetic import Hashes, combine, high_lane, scale
from dbsim.text.features import Features

EMPTY = np.uint64(2**64 - 1)
QUICK_ATTEMPTS = 3
CHUNK = 4096


def signature(features: Features, positions: int) -> Hashes:
    """The minima; a document without features has EMPTY everywhere."""
    minima = np.full((len(features), positions), EMPTY, np.uint64)
    part = scale(high_lane(features.hashes), positions)
    part += features.documents * positions
    np.minimum.at(minima.reshape(-1), part, features.hashes)
    _densify(minima)
    return minima


def _densify(minima: Hashes) -> None:
    filled = minima != EMPTY
    empty = np.flatnonzero(~filled & filled.any(axis=1, keepdims=True))
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


class MinHash:
    """Keys are bands of minima; two documents agree in a row with the probability of their (weighted) Jaccard."""

    def collision(self, similarity: float) -> float:
        return similarity

    def keys(self, fields: Sequence[Features], weights: Sequence[float], plan: Plan) -> NDArray[np.int64]:
        minima = signature(fields[0], plan.positions)
        if len(fields) > 1:
            minima = self._mixture(fields, weights, plan.positions)
        return band(minima, plan)

    def _mixture(self, fields: Sequence[Features], weights: Sequence[float], positions: int) -> Hashes:
        """Each position belongs to one field, drawn by weight: it then agrees with probability Σ weight·J, the score.

        A document without that field uses the position's next choice, as the score renormalises the weights.
        """
        minima = np.full((len(fields[0]), positions), EMPTY, np.uint64)
        choices = field_order(tuple(weights), positions)
        signatures = [signature(features, positions) for features in fields]
        for choice in choices:  # a later choice only fills what is still missing
            for field, found in enumerate(signatures):
                column = choice == field
                minima[:, column] = np.where(minima[:, column] == EMPTY, found[:, column], minima[:, column])
        return minima


@lru_cache(maxsize=32)
def field_order(weights: tuple[float, ...], positions: int) -> NDArray[np.int64]:
    """choices × positions: which field a position takes first, second, …, each drawn by weight from those left."""
    numbers = np.arange(len(weights) * positions, dtype=np.uint64) + np.uint64(1)
    lanes = high_lane(combine([numbers << np.uint64(31), numbers])).reshape(len(weights), positions)
    uniform = (lanes.astype(np.float64) + 0.5) / 2**31
    arrival = -np.log(uniform) / np.array(weights)[:, None]  # the first of competing exponential clocks
    return np.argsort(arrival, axis=0, kind="stable")

"""Random projections without a stored matrix: Vectors → documents × positions.

The coefficient of a term in a projection is arithmetic on the term's hash: two lanes of 31 bits → two uniform numbers →
normal (Box and Muller), Cauchy (tangent) or symmetric Lévy numbers. Coefficients are rounded to 2⁻⁸, weights to 2⁻³⁰,
and added as whole numbers, so the sums are exact and do not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.vectors import UNIT, Vectors
from dbsim.text.arithmetic import Hashes, combine, high_lane, low_lane, numbered

Numbers = NDArray[np.float64]
GRAIN = 1 << 8  # coefficients are multiples of 1/GRAIN
LARGEST = float(1 << 24)  # of a Cauchy or Lévy number: with 30 bits of weight and 8 of grain the sum fits 63 bits;
# a difference of 2⁻²⁴ in one weight must still be able to move a document to another segment
BLOCK = 1 << 21  # coefficients held at once


def project(vectors: Vectors, positions: int, draw: Callable[[Numbers, Numbers], tuple[Numbers, ...]]) -> Numbers:
    """a·d for `positions` random vectors a."""
    weights = vectors.matrix.copy()
    weights.data = np.round(weights.data * UNIT).astype(np.int64)
    result = np.zeros((weights.shape[0], positions))
    step = max(BLOCK // max(len(vectors.terms), 1), 1)
    step += step % 2  # a draw may give two positions
    for start in range(0, positions, step):
        some = range(start, min(start + step, positions))
        result[:, start : some[-1] + 1] = weights @ coefficients(vectors.terms, some, draw)
    return result / (UNIT * GRAIN)


def coefficients(
    terms: Hashes, positions: range, draw: Callable[[Numbers, Numbers], tuple[Numbers, ...]]
) -> NDArray[np.int64]:
    """terms × positions, in multiples of 1/GRAIN."""
    each = len(draw(np.array([0.5]), np.array([0.5])))  # positions made from one hash
    numbers = numbered(positions.start // each, positions[-1] // each + 1)
    hashes = combine([np.repeat(terms, len(numbers)), np.tile(numbers, len(terms))])
    drawn = draw(uniform(high_lane(hashes)), uniform(low_lane(hashes)))
    columns = np.stack([part.reshape(len(terms), len(numbers)) for part in drawn], axis=2)
    found = columns.reshape(len(terms), each * len(numbers))[:, : len(positions)]
    return np.round(np.clip(found, -LARGEST, LARGEST) * GRAIN).astype(np.int64)


def uniform(lane: Hashes) -> Numbers:
    """Between 0 and 1, both excluded."""
    return (lane.astype(np.float64) + 0.5) / 2**31


def normal(first: Numbers, second: Numbers) -> tuple[Numbers, ...]:
    """Two independent standard normal numbers (Box and Muller 1958)."""
    radius, angle = np.sqrt(-2.0 * np.log(first)), 2.0 * np.pi * second
    return radius * np.cos(angle), radius * np.sin(angle)


def cauchy(first: Numbers, second: Numbers) -> tuple[Numbers, ...]:
    return np.tan(np.pi * (first - 0.5)), np.tan(np.pi * (second - 0.5))


def levy(first: Numbers, second: Numbers) -> tuple[Numbers, ...]:
    """(L₁ - L₂)/4 of two standard Lévy numbers 1/N²: the symmetric ½-stable number with e^(-√|t|) (see stable.py)."""
    one, other = normal(first, second)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        difference = (1.0 / np.square(one) - 1.0 / np.square(other)) / 4.0
    return (np.nan_to_num(difference, nan=0.0, posinf=LARGEST, neginf=-LARGEST),)

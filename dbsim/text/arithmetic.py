"""Combine 62-bit hashes into one 62-bit hash: uint64 arrays → uint64 array.

A hash is two lanes of 31 bits. By Horner's rule every number stays below 2⁶³, so that PostgreSQL's bigint, which
raises an error on overflow, can compute the identical value; two lanes because 31 bits alone would make unrelated
documents collide by chance in a table of millions. Both lanes are computed in one array of two rows: for the few
features of a single query numpy's calls are what takes the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

LANE = 31
MASK = np.uint64(2**31 - 1)
PRIME = np.uint64(2**31 - 1)  # the Mersenne prime: reduction is a shift and an add
MULTIPLIERS = (998_244_353, 1_000_000_007)  # of the high and of the low lane
MIX_1 = np.uint64(0x2C1B3C6D)
MIX_2 = np.uint64(0x297A2D39)
BLOCK = 1 << 14  # 256 kB per temporary of both lanes: stays in the second-level cache

_SHIFT = np.uint64(LANE)


def combine(columns: Sequence[Hashes]) -> Hashes:
    """One hash of the sequence columns[0][i], columns[1][i], …, for every i; the order matters."""
    result = np.empty(len(columns[0]), np.uint64)
    for start in range(0, len(result), BLOCK):
        part = slice(start, start + BLOCK)
        _combine(_lanes(np.stack([column[part] for column in columns])), result[part])
    return result


def combine_runs(hashes: Hashes, size: int) -> Hashes:
    """The same for every run of `size` neighbours."""
    result = np.empty(max(len(hashes) - size + 1, 0), np.uint64)
    for start in range(0, len(result), BLOCK):
        part = result[start : start + BLOCK]
        lanes = _lanes(hashes[start : start + len(part) + size - 1])
        shifted = np.ndarray((2, size, len(part)), np.uint64, lanes, strides=(lanes.strides[0], 8, 8))  # no copy
        _combine(shifted, part)
    return result


def combine_rows(matrix: Hashes) -> Hashes:
    """The same for every row of a matrix."""
    result = np.empty(len(matrix), np.uint64)
    for start in range(0, len(result), BLOCK):
        _combine(_lanes(matrix[start : start + BLOCK].T), result[start : start + BLOCK])
    return result


def _combine(columns: Hashes, out: Hashes) -> None:
    """`columns` are lanes × columns × numbers."""
    lanes = mix(_polynomial(columns))
    np.bitwise_or(lanes[0] << _SHIFT, lanes[1], out=out)


def _lanes(hashes: Hashes) -> Hashes:
    lanes = np.empty((2, *hashes.shape), np.uint64)
    np.right_shift(hashes, _SHIFT, out=lanes[0])
    np.bitwise_and(hashes, MASK, out=lanes[1])
    return lanes


def mix(lane: Hashes) -> Hashes:
    """A bijection of the 31-bit numbers that breaks the linearity of the polynomial."""
    lane = lane ^ (lane >> np.uint64(15))
    lane *= MIX_1
    lane &= MASK
    lane ^= lane >> np.uint64(12)
    lane *= MIX_2
    lane &= MASK
    lane ^= lane >> np.uint64(15)
    return lane


def scale(lane: Hashes, size: int) -> NDArray[np.int64]:
    """Map 31-bit numbers to 0 … size-1, keeping their order."""
    return ((lane * np.uint64(size)) >> _SHIFT).astype(np.int64)


def numbered(start: int, stop: int, salt: int = 0) -> Hashes:
    """Hashes of the numbers from start to stop - 1: random choices that are the same everywhere."""
    numbers = np.arange(start + 1, stop + 1, dtype=np.uint64)
    numbers |= numbers << _SHIFT  # a lane that is zero would stay zero
    return combine([numbers, np.full_like(numbers, salt)])


def high_lane(hashes: Hashes) -> Hashes:
    return hashes >> _SHIFT


def low_lane(hashes: Hashes) -> Hashes:
    return hashes & MASK


def _polynomial(columns: Hashes) -> Hashes:
    """Σ column · multiplier^place modulo PRIME, the last column's place being 0.

    A product is below 2⁶², so that four of them can be added as they are; more are reduced first, to below 2³².
    """
    products = columns * _powers(columns.shape[1])
    if columns.shape[1] > 4:
        products = _reduce(products)
    value = _reduce(_reduce(np.add.reduce(products, axis=1)))
    below: Hashes = np.minimum(value, value - PRIME)  # less than zero wraps to a large number
    return below


@lru_cache(maxsize=256)
def _powers(columns: int) -> Hashes:
    """Lanes × columns × 1."""
    places = range(columns - 1, -1, -1)
    return np.array([[[pow(base, place, int(PRIME))] for place in places] for base in MULTIPLIERS], np.uint64)


def _reduce(value: Hashes) -> Hashes:
    reduced = value & MASK
    reduced += value >> _SHIFT
    return reduced

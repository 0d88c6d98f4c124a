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
Halves = NDArray[np.uint32]

LANE = 31
MASK = np.uint64(2**31 - 1)
PRIME = np.uint64(2**31 - 1)  # the Mersenne prime: reduction is a shift and an add
MULTIPLIERS = (998_244_353, 1_000_000_007)  # of the high and of the low lane
MIX_1 = np.uint64(0x2C1B3C6D)
MIX_2 = np.uint64(0x297A2D39)
BLOCK = 1 << 14  # 256 kB per temporary of both lanes: stays in the second-level cache

_SHIFT = np.uint64(LANE)
# Arrays without a dimension: numpy takes half a microsecond longer to see what a number is.
_MASK, _MIX_1, _MIX_2, _12, _15 = (np.array(value, np.uint32) for value in (MASK, MIX_1, MIX_2, 12, 15))


def combine(columns: Sequence[Hashes]) -> Hashes:
    """One hash of the sequence columns[0][i], columns[1][i], …, for every i; the order matters."""
    result = np.empty(len(columns[0]), np.uint64)
    for start in range(0, len(result), BLOCK):
        part = slice(start, start + BLOCK)
        _combine([_lanes(column[part]) for column in columns], result[part])
    return result


def combine_runs(hashes: Hashes, size: int) -> Hashes:
    """The same for every run of `size` neighbours."""
    result = np.empty(max(len(hashes) - size + 1, 0), np.uint64)
    for start in range(0, len(result), BLOCK):
        part = result[start : start + BLOCK]
        lanes = _lanes(hashes[start : start + len(part) + size - 1])
        _combine([lanes[:, place : place + len(part)] for place in range(size)], part)
    return result


def combine_rows(matrix: Hashes) -> Hashes:
    """The same for every row of a matrix."""
    result = np.empty(len(matrix), np.uint64)
    for start in range(0, len(result), BLOCK):
        lanes = _lanes(matrix[start : start + BLOCK].T)
        _combine([lanes[:, column] for column in range(matrix.shape[1])], result[start : start + BLOCK])
    return result


def _combine(columns: Sequence[Hashes], out: Hashes) -> None:
    """Every column is lanes × numbers."""
    lanes = mix(_polynomial(columns).astype(np.uint32))
    out[:] = lanes[0]
    out <<= _SHIFT
    out |= lanes[1]


def _lanes(hashes: Hashes) -> Hashes:
    lanes = np.empty((2, *hashes.shape), np.uint64)
    np.right_shift(hashes, _SHIFT, out=lanes[0])
    np.bitwise_and(hashes, MASK, out=lanes[1])
    return lanes


def mix(lane: Halves) -> Halves:
    """A bijection of the 31-bit numbers that breaks the linearity of the polynomial; in 32 bits, four times as fast."""
    shifted = lane >> _15
    lane = lane ^ shifted
    lane *= _MIX_1
    lane &= _MASK
    lane ^= np.right_shift(lane, _12, out=shifted)
    lane *= _MIX_2
    lane &= _MASK
    lane ^= np.right_shift(lane, _15, out=shifted)
    return lane


def scale(lane: Hashes, size: int) -> NDArray[np.int64]:
    """Map 31-bit numbers to 0 … size-1, keeping their order."""
    scaled = lane * np.uint64(size)
    scaled >>= _SHIFT
    return scaled.view(np.int64)


def places(hashes: Hashes, size: int) -> NDArray[np.int64]:
    """By the low lanes."""
    return scale(low_lane(hashes), size)


def numbered(start: int, stop: int, salt: int = 0) -> Hashes:
    """Hashes of the numbers from start to stop - 1: random choices that are the same everywhere."""
    numbers = np.arange(start + 1, stop + 1, dtype=np.uint64)
    numbers |= numbers << _SHIFT  # a lane that is zero would stay zero
    return combine([numbers, np.full_like(numbers, salt)])


def high_lane(hashes: Hashes) -> Hashes:
    return hashes >> _SHIFT


def low_lane(hashes: Hashes) -> Hashes:
    return hashes & MASK


def _polynomial(columns: Sequence[Hashes]) -> Hashes:
    """Σ column · multiplier^place modulo PRIME, the last column's place being 0.

    A product is below (2³¹ - 1)², so that four of them and two lanes can be added before they are reduced.
    """
    powers, last = _powers(len(columns)), len(columns) - 1
    value = columns[0] * powers[0] if last else columns[0]
    for place in range(1, last):
        if place % 4 == 0:
            value = modulo(value, PRIME)
        value += columns[place] * powers[place]
    if last:
        value += columns[last]
    return modulo(value, PRIME)


@lru_cache(maxsize=256)
def _powers(columns: int) -> Hashes:
    """Columns × lanes × 1."""
    places = range(columns - 1, -1, -1)
    return np.array([[[pow(base, place, int(PRIME))] for base in MULTIPLIERS] for place in places], np.uint64)


def modulo(value: Hashes, divisor: np.uint64 | Hashes) -> Hashes:
    """value % divisor in half the time: numpy divides by one number with multiplications, but only for //."""
    quotient = value // divisor
    quotient *= divisor
    np.subtract(value, quotient, out=quotient)
    return quotient

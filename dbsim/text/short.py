"""The shingles of one short text with few calls: str → Shingles, equal to those of a batch.

Both lanes lie beside each other, so that every array has one dimension: of a few hundred numbers it is the calls that
take the time, and numpy's for more dimensions take twice as long.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import LANE, MASK, MULTIPLIERS, PRIME, Halves, Hashes, mix, modulo
from dbsim.text.features import Analyser
from dbsim.text.normalisers.mapped import Mapped
from dbsim.text.normalisers.registry import normaliser_of

LONGEST = 1 << 12  # bytes of a text: for longer ones numpy's own way is faster
WIDE = 32  # bits by which the upper lane is shifted here
HIGH, LOW = (1, 0) if sys.byteorder == "little" else (0, 1)

_SHIFT, _WIDE, _MASK, _PRIME = (np.array(value, np.uint64) for value in (LANE, WIDE, MASK, PRIME))


class Shingles(NamedTuple):
    """`words` are the hashes of the words; of every shingle's hash both halves, and the lower one."""

    words: Hashes
    wide: Hashes  # in the order of the hashes: both halves have 32 bits, of which the highest is free
    low: Halves


class ShortTexts:
    """The shingles of one field of words, whose hashes are `looked_up`."""

    def __init__(self, analyser: Analyser, looked_up: Callable[[Sequence[bytes]], Hashes]) -> None:
        normaliser = normaliser_of(analyser.normaliser)
        self._fold = normaliser.fold
        self._size = analyser.size
        self._looked_up = looked_up
        self._only_spaces = isinstance(normaliser, Mapped)  # of which no token has a tab or another white space in it

    def shingles(self, text: str) -> Shingles | None:
        """None of a text that is too long, or has no whole shingle."""
        folded = self._fold(text)
        if len(folded) > LONGEST:
            return None
        words = folded.split() if self._only_spaces else [word for word in folded.split(b" ") if word]
        if len(words) < self._size:
            return None
        hashes = self._looked_up(words)
        lanes = _runs(hashes, self._size)
        return Shingles(hashes, lanes.view(np.uint64), lanes[LOW::2])


def narrow(wide: Hashes) -> Hashes:
    """Hashes of 62 bits."""
    return (wide >> _WIDE << _SHIFT) | (wide & _MASK)


def widened(hashes: Hashes) -> Hashes:
    """The other way round."""
    return (hashes >> _SHIFT << _WIDE) | (hashes & _MASK)


def _runs(hashes: Hashes, size: int) -> Halves:
    """`combine_runs` of these hashes."""
    lanes: Hashes = np.empty(2 * len(hashes), np.uint64)
    np.bitwise_and(hashes, _MASK, out=lanes[LOW::2])
    np.right_shift(hashes, _SHIFT, out=lanes[HIGH::2])
    count, last = len(lanes) - 2 * (size - 1), size - 1
    value = lanes[2 * last :]
    for place in range(last):
        if place and place % 3 == 0:  # three products and two lanes are below 2⁶⁴
            value = modulo(value, _PRIME)
        value = value + lanes[2 * place : 2 * place + count] * _powers(last - place)[:count]
    return mix(modulo(value, _PRIME).astype(np.uint32))


@lru_cache(maxsize=64)
def _powers(power: int) -> NDArray[np.uint64]:
    """Of the multiplier of each lane, as often as the longest text may have words."""
    both = [pow(base, power, int(PRIME)) for base in MULTIPLIERS]
    return np.tile(np.array(both if HIGH == 0 else both[::-1], np.uint64), LONGEST // 2 + 1)

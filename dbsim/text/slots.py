"""`combine_rows` of a single text, for whose few numbers numpy's calls take several times as long: int → int.

An integer of Python, which has any length, is a vector of 64-bit slots: one operation works on all of them, as long as
no slot flows over and what a shift moves in from the next one is masked away.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dbsim.text import arithmetic
from dbsim.text.arithmetic import LANE, MULTIPLIERS

SLOT = 64
PRIME = int(arithmetic.PRIME)
MIX_1, MIX_2 = int(arithmetic.MIX_1), int(arithmetic.MIX_2)
POWERS = 256  # of both multipliers remembered


class Masks(NamedTuple):
    """The lowest bit of every slot, its lower 31 bits, its lower 33; the lower 31 of the first half of the slots."""

    ones: int
    lane: int
    rest: int
    half: int


def combine(columns: Sequence[int], slots: int, upper: int = LANE) -> int:
    """One hash of columns[0], columns[1], … in every slot, as `arithmetic.combine` has it; of hashes whose upper lane
    begins at this bit."""
    ones, lane, rest, half = _masks(slots)
    width, powers = SLOT * slots, _powers(len(columns))
    value = 0  # the high lanes of all slots below the low ones
    for place, (column, (high, low)) in enumerate(zip(columns, powers, strict=True)):
        if place % 4 == 3:  # four products are below 2⁶⁴
            value = (value & lane) + (value >> LANE & rest)
        value += (column >> upper & half) * high + ((column & half) * low << width)
    for _ in range(3):  # modulo 2³¹ - 1: below 2³⁴, then below 2³¹ + 8, then at most 2³¹ - 1 …
        value = (value & lane) + (value >> LANE & rest)
    value = value + (value + ones >> LANE & ones) & lane  # … which is 0
    value ^= value >> 15 & lane  # from here on as in `arithmetic.mix`
    value = value * MIX_1 & lane
    value ^= value >> 12 & lane
    value = value * MIX_2 & lane
    value ^= value >> 15 & lane
    return (value & half) << LANE | value >> width


@lru_cache(maxsize=64)
def _masks(slots: int) -> Masks:
    half = sum(1 << SLOT * slot for slot in range(slots))
    ones = half | half << SLOT * slots
    return Masks(ones, ones * PRIME, ones * ((1 << SLOT - LANE) - 1), half * PRIME)


@lru_cache(maxsize=POWERS)
def _powers(columns: int) -> list[tuple[int, ...]]:
    """Of the multipliers of both lanes, for every column."""
    return [tuple(pow(base, place, PRIME) for base in MULTIPLIERS) for place in range(columns - 1, -1, -1)]

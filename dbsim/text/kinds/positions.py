"""Digits as words that say where they stand: "4011" → "a4 b0 c1 d1 40 01 11"; a wrong digit spoils three of seven."""

from __future__ import annotations

from operator import add
from string import ascii_lowercase


def from_left(digits: str) -> str:
    """For numbers of a fixed length: postcodes, house numbers, numbers of insurances."""
    return _placed(digits, digits)


def from_right(digits: str) -> str:
    """For telephone numbers, which end alike with and without a country code."""
    return _placed(digits[::-1], digits)


def _placed(ordered: str, digits: str) -> str:
    places = ascii_lowercase.ljust(len(digits), "z")  # behind the 26th all are the same place
    return " ".join((*map(add, places, ordered), *map(add, digits, digits[1:])))

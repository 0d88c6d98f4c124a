"""Digits as words that say where they stand: "4011" → "a4 b0 c1 d1 40 01 11"; a wrong digit spoils three of seven."""

from __future__ import annotations

from string import ascii_lowercase


def from_left(digits: str) -> str:
    """For numbers of a fixed length: postcodes, house numbers, numbers of insurances."""
    placed = (ascii_lowercase[min(place, 25)] + digit for place, digit in enumerate(digits))
    return " ".join((*placed, *(digits[place : place + 2] for place in range(len(digits) - 1))))


def from_right(digits: str) -> str:
    """For telephone numbers, which end alike with and without a country code."""
    placed = (ascii_lowercase[min(place, 25)] + digit for place, digit in enumerate(reversed(digits)))
    return " ".join((*placed, *(digits[place : place + 2] for place in range(len(digits) - 1))))

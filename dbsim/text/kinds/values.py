"""What the values of a column look like: str → yes or no, and how many of them do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dbsim.text.kinds.dates import plausible
from dbsim.text.normalise import normalise

LOOKED_AT = 1000  # values
SAME, TOGETHER = 0.5, 0.3  # of the rows that have both are equal; of all rows have both
MADE_OF = 0.8  # of the rows that have all

_EMAIL = re.compile(r"\S+@\S+\.\S+")
_ISO = re.compile(r"1\d\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")  # of people who lived before 1800, too
_CALLED = re.compile(r"(?:\+|\(|0)[\d\s()/.\-]{6,20}|\d{2,4}[\s/.\-]+\d{2,4}[\s/.\-]*\d{3,4}")
_FRACTION = re.compile(r"[+-]?\d*[.,]\d+")


def share(values: Sequence[str], fulfils: Callable[[str], bool]) -> float:
    some = values[:LOOKED_AT]
    return sum(1 for value in some if fulfils(value)) / max(len(some), 1)


def mail(value: str) -> bool:
    return _EMAIL.fullmatch(value.strip()) is not None


def dated(value: str) -> bool:
    return plausible(value) or _ISO.fullmatch(value.strip()[:10]) is not None


def numeric(value: str) -> bool:
    letters = sum(character.isalpha() for character in value)
    return letters <= 1 and any(character.isdigit() for character in value)


def called(value: str) -> bool:
    """As telephone numbers are written, which plain numbers are not."""
    return _CALLED.fullmatch(value.strip()) is not None


def fraction(value: str) -> bool:
    return _FRACTION.fullmatch(value.strip()) is not None


def code(value: str) -> bool:
    """One word with a digit in it."""
    return len(value.split()) == 1 and any(character.isdigit() for character in value)


def years(values: Sequence[str]) -> bool:
    return share(values, lambda value: value.strip().isdecimal() and len(value.strip()) == 4) > 0.8


def counts_up(values: Sequence[str]) -> bool:
    numbers = sorted({int(value) for value in values if value.strip().isdecimal() and len(value) < 18})
    return len(numbers) > 50 and (numbers[-1] - numbers[0]) <= 4 * len(numbers)


def plain(values: Sequence[str]) -> list[str]:
    return [normalise(value) for value in values[:LOOKED_AT]]


def mostly_same(one: Sequence[str], other: Sequence[str]) -> bool:
    both = [(a, b) for a, b in zip(one, other, strict=True) if a and b]
    return len(both) > TOGETHER * len(one) and sum(a == b for a, b in both) > SAME * len(both)


def contains(whole: Sequence[str], parts: Sequence[Sequence[str]]) -> bool:
    """Whether values are made of those of other columns."""
    rows = [row for row in zip(whole, *parts, strict=True) if all(row)]
    made = sum(all(part in row[0] for part in row[1:]) for row in rows)
    return len(rows) > TOGETHER * len(whole) and made > MADE_OF * len(rows)

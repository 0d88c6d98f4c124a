"""Dates in any common format: str → YYYYMMDD; what is no date stays as its digits, so that it equals only itself."""

from __future__ import annotations

import re
from calendar import monthrange

from dbsim.text.normalise import normalise

FIRST, LAST = 1800, 2100  # years of plausible dates
PIVOT = 30  # 29 is 2029, 30 is 1930

_NAMES = (
    "jan ene gen,feb fev fab,mar mrz mae maer,apr abr avr,may mai mag mayo,jun juin giu,jul juil lug,aug ago aou,"
    "sep set,oct okt out ott,nov,dec dez dic des"
)
MONTHS = {start: number for number, starts in enumerate(_NAMES.split(","), 1) for start in starts.split()}
_TIME = re.compile(r"[T\s]\d{1,2}:\d\d.*$")
_PARTS = re.compile(r"[0-9]+|[^\W0-9_]+")
_USUAL = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")  # as databases write it: a fifth of the time
ORDINAL = frozenset(("st", "nd", "rd", "th", "of", "de", "den", "the"))


def date(text: str) -> str:
    usual = _USUAL.fullmatch(text)
    if usual and (found := _either(*map(int, usual.groups()))):
        return found
    parts = [part for part in _PARTS.findall(normalise(_TIME.sub("", text.strip()))) if part not in ORDINAL]
    found = _packed(parts[0]) if len(parts) == 1 else _from_parts(parts)
    return found or normalise(text, "digits")


def plausible(text: str) -> bool:
    """Whether the text was read as a date."""
    found = date(text)
    return len(found) == 8 and _valid(int(found[:4]), int(found[4:6]), int(found[6:])) is not None


def _from_parts(parts: list[str]) -> str | None:
    """Three parts, one of them possibly a month's name; weekdays before them are left out."""
    months = [month for part in parts if (month := _month(part))]
    numbers = [part for part in parts if part.isdecimal()]
    if any(len(number) > 4 for number in numbers):
        return None
    if months and len(numbers) == 2:
        day, year = numbers if len(numbers[0]) <= 2 else reversed(numbers)
        return _valid(_year(year), months[0], int(day))
    if len(parts) != 3 or len(numbers) != 3:
        return None
    first, second, third = numbers
    if len(first) == 4:
        return _either(int(first), int(second), int(third))
    return _either(_year(third), int(second), int(first)) if len(third) in (2, 4) else None


def _packed(part: str) -> str | None:
    if not part.isdecimal() or len(part) != 8:
        return None
    year_first = _valid(int(part[:4]), int(part[4:6]), int(part[6:]))
    return year_first or _either(int(part[4:]), int(part[2:4]), int(part[:2]))


def _either(year: int, month: int, day: int) -> str | None:
    """Day before month, as most of the world writes it, unless only the other order is a date."""
    return _valid(year, month, day) or _valid(year, day, month)


def _valid(year: int, month: int, day: int) -> str | None:
    if FIRST <= year <= LAST and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
        return f"{year:04d}{month:02d}{day:02d}"
    return None


def _year(digits: str) -> int:
    return int(digits) + (0 if len(digits) > 2 else 1900 if int(digits) >= PIVOT else 2000)


def _month(part: str) -> int | None:
    if not part.isalpha():
        return None
    return MONTHS.get(part[:4]) or MONTHS.get(part[:3])

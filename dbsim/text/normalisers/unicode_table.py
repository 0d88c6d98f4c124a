"""The pinned Unicode tables: character, profile → what it becomes; also as rows for a database to look up.

All knowledge is in the data files of dbsim/text, by `tools/make_unicode_table.py`; their headers have the rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

UNICODE_VERSION = "15.1.0"
FILES = ("unicode", "symbols")  # the first begins with profile "text", which the others override

# Real corpora use some 10,000 code points; without a limit hostile text could grow the memo to 1,100,000 (120 MB).
_REMEMBERED = 1 << 16


class _Ranges(NamedTuple):
    """Lines of the data file in code point order, ready for bisection; targets are read when first needed."""

    firsts: list[int]
    lasts: list[int]
    lines: list[list[str]]

    def find(self, code: int) -> str | None:
        """What the code point becomes, or None when no line lists it."""
        at = bisect_right(self.firsts, code) - 1
        if at < 0 or code > self.lasts[at]:
            return None
        return _target(self.lines[at], code, code - self.firsts[at])


def _target(line: list[str], code: int, offset: int) -> str:
    match line[0]:
        case "keep":
            return chr(code)
        case "alone":
            return f" {chr(code)} "
        case "drop":
            return ""
        case "map":
            return _spelled(line[2 + offset])
    start = _spelled(line[2])  # shift
    return start[:-1] + chr(ord(start[-1]) + offset)


def _spelled(target: str) -> str:
    if target == "-":
        return ""
    return "".join(" " if word == "_" else chr(int(word, 16)) for word in target.split("+"))


@cache
def _table() -> dict[str, _Ranges]:
    """Ranges by profile: "text" is the whole table, the others override it."""
    ranges = _Ranges([], [], [])
    table = {"text": ranges}
    for row in (row for name in FILES for row in _rows(name)):
        line = row.split(" ")
        if line[0] == "profile":
            ranges = table[line[1]] = _Ranges([], [], [])
            continue
        first, _, last = line[1].partition("-")
        ranges.firsts.append(int(first, 16))
        ranges.lasts.append(int(last or first, 16) + (len(line) - 3 if line[0] == "map" else 0))
        ranges.lines.append(line)
    return table


def _rows(name: str) -> list[str]:
    text = files("dbsim.text").joinpath(f"{name}-{UNICODE_VERSION}.txt").read_text("utf-8")
    return [row for row in text.splitlines() if not row.startswith("#")]


class Replaced(NamedTuple):
    """Code points first … last become prefix, then the character `shift` places on (None: none), then suffix."""

    profile: str
    first: int
    last: int
    prefix: str
    shift: int | None
    suffix: str


def replaced_ranges() -> Iterator[Replaced]:
    """The whole table in a form that a database can look up."""
    for profile, ranges in _table().items():
        for first, last, line in zip(ranges.firsts, ranges.lasts, ranges.lines, strict=True):
            match line[0]:
                case "keep":
                    yield Replaced(profile, first, last, "", 0, "")
                case "alone":
                    yield Replaced(profile, first, last, " ", 0, " ")
                case "drop":
                    yield Replaced(profile, first, last, "", None, "")
                case "map":
                    for code, target in enumerate(line[2:], first):
                        yield Replaced(profile, code, code, _spelled(target), None, "")
                case "shift":
                    start = _spelled(line[2])
                    yield Replaced(profile, first, last, start[:-1], ord(start[-1]) - first, "")


class Replacements(dict[str, str]):
    """What each character becomes in a profile, computed when first met; a space where no line lists it."""

    def __init__(self, profile: str) -> None:
        table = _table()
        self.layers = [table[name] for name in dict.fromkeys((profile, "text"))]

    def __missing__(self, char: str) -> str:
        found = (layer.find(ord(char)) for layer in self.layers)
        target = next((target for target in found if target is not None), " ")
        if len(self) < _REMEMBERED:
            self[char] = target
        return target

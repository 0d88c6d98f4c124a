"""Text to lower-case words without diacritics, the same on every Python: str -> UTF-8 bytes, tokens or str.

All knowledge is in the data file `unicode-15.1.0.txt`, by `tools/make_unicode_table.py`; its header has the rules.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

UNICODE_VERSION = "15.1.0"

# text: the table as it is; german: also ä -> ae, ö -> oe, ü -> ue;
# digits: 0-9 only, all in one token, for dates and telephone numbers in any format.
PROFILES = ("text", "german", "digits")

_NON_DIGITS = bytes(byte for byte in range(256) if byte not in b"0123456789")
_NON_ASCII = re.compile("[^\x00-\x7f]")
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
    for row in files(__package__).joinpath(f"unicode-{UNICODE_VERSION}.txt").read_text("utf-8").splitlines():
        if row.startswith("#"):
            continue
        line = row.split(" ")
        if line[0] == "profile":
            ranges = table[line[1]] = _Ranges([], [], [])
            continue
        first, _, last = line[1].partition("-")
        ranges.firsts.append(int(first, 16))
        ranges.lasts.append(int(last or first, 16) + (len(line) - 3 if line[0] == "map" else 0))
        ranges.lines.append(line)
    return table


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


class _Replacements(dict[str, str]):
    """What each character becomes, computed when first met."""

    def __init__(self, profile: str) -> None:
        table = _table()
        self.layers = [table[name] for name in (profile, "text") if name in table]

    def __missing__(self, char: str) -> str:
        found = (layer.find(ord(char)) for layer in self.layers)
        target = next((target for target in found if target is not None), " ")
        if len(self) < _REMEMBERED:
            self[char] = target
        return target


@cache
def _profile(profile: str) -> tuple[_Replacements, bytes | None, bytes]:
    """What non-ASCII characters become, what ASCII bytes become, and the bytes to delete."""
    if profile not in PROFILES:
        raise ValueError(f"There is no text profile {profile!r}; choose one of {', '.join(PROFILES)}.")
    replacements = _Replacements(profile)
    if profile == "digits":
        return replacements, None, _NON_DIGITS
    ascii_bytes = "".join(replacements[chr(code)] for code in range(128)).encode()
    return replacements, ascii_bytes + bytes(range(128, 256)), b""


def _replace(text: str, replacements: _Replacements) -> str:
    """Every non-ASCII character replaced; replacements are stable, so meeting one twice adds spaces at most."""
    if 4 * len(text.encode("ascii", "ignore")) > 3 * len(text):
        # Mostly ASCII: 1.5 kB of German take 14 µs this way, 36 µs by the join (re.sub with str.translate: 28 µs).
        kinds = set(_NON_ASCII.findall(text))
        if len(kinds) <= 32:  # each is a pass over the text
            for char in sorted(kinds):  # a set's own order differs between runs
                text = text.replace(char, replacements[char])
            return text
    return "".join(map(replacements.__getitem__, text))


def fold(text: str, profile: str = "text") -> bytes:
    """The mapped text as UTF-8, its tokens separated by one or more spaces."""
    replacements, ascii_bytes, delete = _profile(profile)
    if not text.isascii():
        text = _replace(text, replacements)
    return text.encode().translate(ascii_bytes, delete)


def tokens(text: str, profile: str = "text") -> list[bytes]:
    """The words of a text."""
    return fold(text, profile).split()


def normalise(text: str, profile: str = "text") -> str:
    """The words of a text, one space between them; normalising the result again changes nothing."""
    return b" ".join(tokens(text, profile)).decode()

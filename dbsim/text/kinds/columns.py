"""What a column's name says of what it holds: str → a meaning; the words are data (`columns.txt`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from dbsim.text.normalise import normalise

GIVEN, SURNAME = "given name", "surname"
# a name that says several things means the first of these: a mail zip is a postcode
ORDER = (GIVEN, SURNAME, "sex", "age", "title", "death", "phone", "address", "zip", "house", "town", "email", "name")
REST = ("birth", "measure", "date", "person", "digits")
PREFIX, SUFFIX = 5, 4  # letters of a word that may begin or end a compound
ENDINGS = ("nr", "num")
DATES = ("birth", "death", "date")
PLACE = ("zip", "town")

_SPLIT = re.compile(r"[\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@cache
def meanings() -> dict[str, tuple[str, ...]]:
    """Of each word what it may say."""
    found: dict[str, list[str]] = {}
    for line in files(__package__).joinpath("columns.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            meaning, _, words = line.partition(": ")
            for word in words.split():
                found.setdefault(word.strip('"').replace(" ", ""), []).append(meaning)
    return {word: tuple(said) for word, said in found.items()}


def words_of(column: str) -> list[str]:
    """Lower case, without digits at their ends; words of Chinese characters are not taken apart."""
    whole = normalise(_CAMEL.sub(" ", column)).lower()
    return [word for word in _SPLIT.split(whole) if word]


def said(column: str) -> frozenset[str]:
    """All that the words of a name say, the longest that stand together first; else what a compound's parts say."""
    words, known = words_of(column), meanings()
    found: set[str] = set()
    while words:
        length = next((n for n in range(len(words), 0, -1) if "".join(words[:n]) in known), 0)
        found |= set(known["".join(words[:length])]) if length else set()
        words = words[max(length, 1) :]
    return frozenset(found) if found else _compound("".join(words_of(column)), known)


def _compound(joined: str, known: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """geburtsdatum, telefonnummer, KUNDENNR."""
    starts = [word for word in known if len(word) >= PREFIX and joined.startswith(word)]
    ends = [word for word in known if len(word) >= SUFFIX and joined.endswith(word)]
    longest = [max(some, key=len) for some in (starts, ends) if some]
    numbered = {"digits"} if joined.endswith(ENDINGS) else set[str]()
    return frozenset({meaning for word in longest for meaning in known[word]} | numbered)


def meaning(column: str) -> str | None:
    """The one thing that decides: a number that identifies, then a row's own mark, then what a person's record has."""
    found = said(column)
    if "identity" in found:
        return "identity"
    if "birth" in found and not found & {"town", "name", "house", "age", "sex", "title"}:
        return "birth"
    if "other" in found or ("person" in found and "digits" in found):
        return "other"
    if "event" in found and not found & {"phone", "email", "address", "town", "zip", "name"}:
        return "event"
    if {GIVEN, SURNAME} <= found:
        return "name"
    return next((one for one in (*ORDER, *REST) if one in found), None)


def lives_there(column: str) -> bool:
    """A part of where a person lives; nobody moves away from where they were born."""
    found = said(column)
    return bool(found & set(PLACE)) and "birth" not in found

"""What the SQL twins of the kinds of field fill in: the lists and classes of characters that Python uses → names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from string import ascii_letters

from dbsim.tables.names import literal
from dbsim.text.kinds import addresses, dates, emails, names, placeholders
from dbsim.text.kinds.registry import PREFIX

KIND = PREFIX  # of the normalisers that are kinds, known once their registry is loaded
COUNTRY = re.compile(r"^(kind-phone)\+[0-9]+(@[0-9]+)$")  # the country is an argument of the function


def without_country(full: str) -> str:
    """The name under which a kind has its file."""
    return COUNTRY.sub(r"\1\2", full)


@cache
def kind_names() -> dict[str, object]:
    words, endings = addresses.abbreviations()
    return {
        **_classes(),
        "placeholders": _array(sorted(placeholders.WORDS)),
        "titles": _array(sorted(names.TITLES)),
        "same_domains": " ".join(f"WHEN {literal(a)} THEN {literal(b)}" for a, b in emails.SAME.items()),
        "address_words": _json(words),
        "address_endings": _array(endings),
        "address_full_endings": _array(endings.values()),
        "months": _json(dates.MONTHS),
        "ordinals": _array(sorted(dates.ORDINAL)),
        "first_year": dates.FIRST,
        "last_year": dates.LAST,
        "pivot": dates.PIVOT,
    }


def _classes() -> dict[str, object]:
    """As Python knows them, for use between the brackets of a regular expression."""
    every = "".join(map(chr, (*range(1, 0xD800), *range(0xE000, 0x110000))))
    beyond = every[127:]
    other = _ranges(re.findall(r"[^\W_]+", beyond))
    letters = _ranges(run for found in re.findall(r"[^\W\d_]+", beyond) for run in _alphabetic(found))
    return {
        "beyond": other,
        "alphanumeric": "0-9A-Za-z" + other,
        "alphabetic": "A-Za-z" + letters,
        "spaces": _ranges(re.findall(r"\s+", every)),
        "decimals": _ranges(re.findall(r"\d+", every)),
    }


def _alphabetic(run: str) -> list[str]:
    """Without numerals that are no digits, such as those of Rome."""
    return "".join(char if char.isalpha() else " " for char in run).split()


def _ranges(runs: Iterable[str]) -> str:
    found = []
    for run in runs:
        start = 0
        for place in range(1, len(run) + 1):
            if place == len(run) or ord(run[place]) != ord(run[place - 1]) + 1:
                first, last = run[start], run[place - 1]
                found.append(_escaped(first) + ("" if first == last else f"-{_escaped(last)}"))
                start = place
    return "".join(found)


def _escaped(char: str) -> str:
    assert char not in ascii_letters
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _array(values: Iterable[str]) -> str:
    return f"ARRAY[{', '.join(map(literal, values))}]::text[]"


def _json(values: Mapping[str, object]) -> str:
    return f"{literal(json.dumps(values))}::jsonb"

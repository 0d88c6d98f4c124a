"""What a file does not say: CSV file → separator; records → the type of each column of a new table."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from itertools import islice
from typing import Any, TextIO

from sqlalchemy import Boolean, Double, Text
from sqlalchemy.types import TypeEngine

from dbsim.errors import InvalidOption
from dbsim.tables.types import row_number

Record = dict[str, Any]
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
PROBE = 200  # records looked at to choose the separator
LEAST, MOST = -(2**63), 2**63 - 1
LONGEST_NUMBER = 20  # characters of the longest 64-bit number; also keeps int() away from a megabyte of digits


def separator_named(given: str) -> str:
    """A character, or its name: `tab` is hard to type in a shell."""
    names = {name: character for character, name in SEPARATORS.items()}
    found = names.get(given.lower(), "\t" if given == r"\t" else given)
    if len(found) != 1 or found in "\r\n\0\"'" or found.isalnum():
        raise InvalidOption(f"the separator {given!r} is not one character: say {_listed(SEPARATORS)}")
    return found


def separator_of(file: TextIO, name: str) -> str:
    """The one that splits the header, and the first records into no more values than the header has names.

    Where two are left, the one that fills every column of every record; where two do, only the user can tell.
    """
    widths = {character: _widths(file, character) for character in SEPARATORS}
    split = [character for character, found in widths.items() if found and found[0] > 1]
    if len(split) < 2:
        return split[0] if split else ","
    fits = [character for character in split if max(widths[character]) == widths[character][0]]
    full = [character for character in fits if min(widths[character]) == widths[character][0]]
    for left in (fits, full):
        if len(left) == 1:
            return left[0]
    doubtful = full or fits or split
    raise InvalidOption(f"is {name} separated by {_listed(doubtful)}? Say it with --separator; nothing was imported")


def _widths(file: TextIO, separator: str) -> list[int]:
    """How many values the header and the first records have; [] when it is no CSV with this separator."""
    file.seek(0)
    try:
        reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
        return [len(row) for row in islice(reader, PROBE) if row]
    except csv.Error:
        return []
    finally:
        file.seek(0)


def _listed(separators: Iterable[str]) -> str:
    return " or ".join(SEPARATORS[character] for character in separators)


def types_of(records: Iterable[Record], key: str, *, written: bool) -> dict[str, TypeEngine[Any]]:
    """Of all columns that any record has, after all records: the last one may be the first that is no number.

    `written` records have text only (CSV), in which numbers are looked for.
    """
    found: dict[str, set[type]] = {}
    for record in records:
        for name, value in record.items():
            kinds = found.setdefault(name, set())
            if kinds != {str}:
                kind = _kind(value, str if name.lower() == key else type(None)) if written else type(value)
                kinds |= {kind} - {type(None)}
                if str in kinds:
                    found[name] = {str}
    return {name: _type(kinds) for name, kinds in found.items()}


def _kind(value: str | None, empty: type) -> type:
    return empty if not value else type(number(value))


def number(value: str) -> int | float | str:
    """The number when it is written just like the text, otherwise the text: 007, +5, 1e3 and 1.10 stay as they are."""
    if len(value) > LONGEST_NUMBER or not value.isascii() or value[-1:] not in "0123456789":
        return value
    for convert in (int, float):
        try:
            made = convert(value)
        except ValueError:
            continue
        if str(made) == value and LEAST <= made <= MOST:
            return made
    return value


def _type(kinds: set[type]) -> TypeEngine[Any]:
    if kinds == {bool}:
        return Boolean()
    if kinds == {int}:
        return row_number()
    if kinds and kinds <= {int, float}:
        return Double()
    return Text()

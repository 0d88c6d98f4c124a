"""What a table's columns hold: name, values → Guess (kind, role, or why it is left out), for people to correct.

The name decides where it says something (`columns`), the values where it does not (`values`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dbsim.text.kinds import values as look
from dbsim.text.kinds.columns import DATES, GIVEN, SURNAME, lives_there, meaning, words_of
from dbsim.text.kinds.placeholders import missing

MOST_FIELDS = 12
LONG = 80  # characters of a usual value: longer ones are prose
YEAR = "year of birth"
# one typing error in a given name leaves 0.4 or more, in a date 0.6; two years of one decade have 0.55
DIFFERENT = {GIVEN: 3, "date": 5, "name": 6, YEAR: 6}
PRESENT = 0.02  # of all rows, to be worth a field
FEW = 20  # values tell nothing about what all of them are like
# what tells persons apart comes first when there are too many columns; what is in no list comes before the last
TELLING = (GIVEN, SURNAME, "birth", "identity", "name", "phone", "email", "zip", "address", "town", "house", "sex", "")


@dataclass(frozen=True)
class Guess:
    """`kind` is None for a column that is left out; `reason` says why it was taken for this."""

    column: str
    kind: str | None
    role: str = ""
    reason: str = ""

    def __str__(self) -> str:
        what = f"{self.kind}" if self.kind else "left out"
        return f"{self.column}: {what}{f' ({self.role})' if self.role else ''}, {self.reason}"

    @property
    def base(self) -> str:
        return (self.kind or "").split("@")[0].split("+")[0]


def guess(columns: Mapping[str, Sequence[str]], given: Mapping[str, str] | None = None) -> list[Guess]:
    """Of each column by some of its values, in the table's order; `given` are kinds that the user states."""
    given = given or {}
    found = [
        _with_role(name, given[name], "as you said") if name in given else _guess(name, values)
        for name, values in columns.items()
    ]
    stated = set(given)
    for step in (_born_once, _said_twice, _limited):
        found = step(found, columns, stated)
    return _single_roles(found)


def crossed(guesses: Sequence[Guess]) -> tuple[int, int] | None:
    """Numbers of given name and surname among the fields."""
    roles = [guess.role for guess in guesses if guess.kind]
    return (roles.index(GIVEN), roles.index(SURNAME)) if {GIVEN, SURNAME} <= set(roles) else None


def own(guesses: Sequence[Guess]) -> dict[int, int]:
    """Fields in which persons of a household differ, each with the tenths of likeness below which values do.

    Given name, dates and year of birth; a name that is whole instead of the given name, in which relatives share the
    surname.
    """
    used = [one for one in guesses if one.kind]
    given = {number: DIFFERENT[GIVEN] for number, one in enumerate(used) if one.role == GIVEN}
    whole = {n: DIFFERENT["name"] for n, one in enumerate(used) if one.base == "name" and one.role != SURNAME}
    dates = {number: DIFFERENT["date"] for number, one in enumerate(used) if one.base == "date"}
    years = {number: DIFFERENT[YEAR] for number, one in enumerate(used) if one.role == YEAR}
    return dict(sorted(((given or whole) | (dates or years)).items()))


def called(guesses: Sequence[Guess]) -> tuple[int, bool] | None:
    """The field by which twins differ, and whether it is a whole name with the surname in it."""
    used = [one for one in guesses if one.kind]
    given = [number for number, one in enumerate(used) if one.role == GIVEN]
    whole = [number for number, one in enumerate(used) if one.base == "name" and one.role != SURNAME]
    return (given[0], False) if given else (whole[0], True) if whole else None


def born(guesses: Sequence[Guess]) -> bool:
    """Whether a column is a date, or is called like a day or year of birth."""
    used = [one for one in guesses if one.kind]
    return any(one.base == "date" or meaning(one.column) in DATES for one in used)


def echoes(guesses: Sequence[Guess]) -> dict[int, list[int]]:
    """Fields that are made of the names, each with the whole name; with none where given name and surname are known."""
    kinds = [one.base for one in guesses if one.kind]
    whole = [number for number, kind in enumerate(kinds) if kind == "name"][:1] if crossed(guesses) is None else []
    return {number: whole for number, kind in enumerate(kinds) if kind == "email"}


def place(guesses: Sequence[Guess]) -> list[int]:
    """Parts of the address, which change together when a person moves; one part alone changes like any field."""
    used = [one for one in guesses if one.kind]
    found = [n for n, one in enumerate(used) if one.base == "address" or lives_there(one.column)]
    return found if len(found) > 1 else []


# ── a column by itself ──
def _guess(name: str, values: Sequence[str]) -> Guess:
    there = [value for value in values if not missing(value)]
    if len(there) <= PRESENT * len(values):
        return Guess(name, None, reason="hardly any value")
    if meaning(name) == "other":
        return Guess(name, None, reason="looks like a number or mark of the row's own")
    kind, reason = _kind(name, there)
    if why := _useless(name, kind, there):
        return Guess(name, None, reason=why)
    found = _with_role(name, kind, reason)
    return replace(found, role=YEAR) if meaning(name) == "birth" and look.years(there) else found


def _kind(name: str, values: Sequence[str]) -> tuple[str, str]:
    """By the values where they are unmistakable, then by the name, then by what most values look like."""
    what, digits = meaning(name), look.share(values, look.numeric)
    if look.share(values, look.mail) > 0.6:
        return "email", "values with @"
    dates = look.share(values, look.dated)
    if dates > (0.5 if what in DATES else 0.9) and what != "identity":
        return "date", "dates by name and value" if what in DATES else "values that are dates"
    if what == "phone" and digits > 0.5:
        return "phone", "by its name"
    if what in (GIVEN, SURNAME, "name", "person", "address") and digits < 0.5:
        return ("address" if what == "address" else "name"), "by its name"
    if what in (None, "person") and look.share(values, look.called) > 0.6:
        return "phone", "values that look like telephone numbers"
    if digits > 0.8:
        return "digits", "values that are numbers"
    return "text", "nothing special"


def _useless(name: str, kind: str, values: Sequence[str]) -> str:
    """Why a column says nothing about who a row is of, if it does not."""
    what, different = meaning(name), {value.strip().lower() for value in values}
    if len(different) == 1 and len(values) > 1:
        return "all values are the same"
    if kind == "text" and float(np.median([len(value) for value in values])) > LONG:
        return "long texts: make an index of their own for them"
    if what == "event" and kind in ("date", "digits"):
        return "when something happened to the row or to the person, other than birth"
    unknown = what in (None, "digits", "person", "date") and kind in ("digits", "text")
    if kind == "digits" and (what == "measure" or (unknown and look.share(values, look.fraction) > 0.3)):
        return "a measure or a sum, which changes"
    if unknown and len(different) == len(values) and (look.counts_up(values) or _codes(values)):
        return "another one in every row: the row's own, not the person's"
    if len(different) == 2 and len(values) > FEW and what not in ("sex", "town", "zip") and kind in ("digits", "text"):
        return "a mark with two values"
    return ""


def _codes(values: Sequence[str]) -> bool:
    return len(values) > FEW and look.share(values, look.code) > 0.9


def _with_role(name: str, kind: str, reason: str) -> Guess:
    what = meaning(name)
    role = what if kind.split("@")[0] == "name" and what in (GIVEN, SURNAME) else ""
    return Guess(name, kind, role or "", reason)


# ── columns beside each other ──
def _born_once(found: list[Guess], columns: Mapping[str, Sequence[str]], stated: set[str]) -> list[Guess]:
    """Where a column is the day or year of birth, other dates are of something else, and an age is no news."""
    births = {one.column for one in found if one.kind and meaning(one.column) == "birth"}
    if not births:
        return found

    def spared(one: Guess) -> Guess:
        what = meaning(one.column)
        if one.column in births | stated or not one.kind or (one.base != "date" and what != "age") or what == "death":
            return one
        why = "an age, which changes" if what == "age" else "a date of something else than birth"
        return Guess(one.column, None, reason=why)

    return [spared(one) for one in found]


def _said_twice(found: list[Guess], columns: Mapping[str, Sequence[str]], stated: set[str]) -> list[Guess]:
    """What another column says already would count twice: the whole name, an address that is mostly the same."""
    used = [one for one in sorted(found, key=_rank) if one.kind]
    plain = {one.column: look.plain(columns[one.column]) for one in used if one.column in columns}
    names = [next((one.column for one in used if one.role == role), None) for role in (GIVEN, SURNAME)]
    kept: list[str] = []
    reasons: dict[str, str] = {}
    for one in used:
        if one.column in plain and one.column not in stated:
            given, surname = (plain.get(name or "") for name in names)
            whole = one.base in ("name", "text") and one.column not in names and given and surname
            if whole and look.contains(plain[one.column], [given or [], surname or []]):
                reasons[one.column] = f"made of {names[0]} and {names[1]}"
            elif same := next((other for other in kept if look.mostly_same(plain[one.column], plain[other])), None):
                reasons[one.column] = f"mostly the same as {same}"
        if one.column in plain and one.column not in reasons:
            kept.append(one.column)
    return [Guess(one.column, None, reason=reasons[one.column]) if one.column in reasons else one for one in found]


def _limited(found: list[Guess], columns: Mapping[str, Sequence[str]], stated: set[str]) -> list[Guess]:
    """At most so many fields: those that tell persons apart, and those the user named."""
    wanted = [one for one in found if one.kind and one.column not in stated]
    room = max(MOST_FIELDS - len(stated), 0)
    telling = sorted(wanted, key=lambda one: (_rank(one), -len(set(columns[one.column]))))
    surplus = {one.column for one in telling[room:]}
    reason = f"more than {MOST_FIELDS} columns; name it with --column to have it"
    return [Guess(one.column, None, reason=reason) if one.column in surplus else one for one in found]


def _rank(one: Guess) -> int:
    what = one.role or meaning(one.column) or one.base
    what = "birth" if what == YEAR or one.base == "date" else what
    return TELLING.index(what if what in TELLING else "")


def _single_roles(found: Sequence[Guess]) -> list[Guess]:
    """Only the first given name and the first surname can be crossed; a `Name` beside a `Vorname` is the surname."""
    roles = {one.role for one in found}
    called = [one.column for one in found if one.base == "name" and not one.role and words_of(one.column) == ["name"]]
    if GIVEN in roles and SURNAME not in roles and len(called) == 1:
        found = [replace(one, role=SURNAME) if one.column == called[0] else one for one in found]
    seen: set[str] = set()
    kept = []
    for one in found:
        first = one.role not in seen
        seen |= {one.role}
        kept.append(one if first else Guess(one.column, one.kind, "", one.reason))
    return kept

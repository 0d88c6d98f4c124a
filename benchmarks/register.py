"""A generated register of persons with known duplicates: rows, seed → Register; the rates are the constants below.

Names are made of syllables and drawn with the frequencies of real ones (rank^-0.9), so that a few surnames are common
and most are rare; households share surname and address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

COLUMNS = ("given", "surname", "born", "street", "house", "postcode", "city", "phone", "email")
DUPLICATES = 0.10  # of all rows are further records of a person
HOUSEHOLD = 0.25  # of the persons live with the person before them, of whom half share the surname
ERRORS = (0.55, 0.30, 0.15)  # of the further records have one, two, three errors
RATES = {  # of the errors
    "typo": 0.32,
    "heard": 0.14,
    "missing": 0.16,
    "moved": 0.12,
    "married": 0.07,
    "crossed": 0.05,
    "date format": 0.07,
    "umlaut": 0.04,
    "abbreviated": 0.03,
}
SOUNDS = (("th", "t"), ("ph", "f"), ("ck", "k"), ("ei", "ai"), ("y", "i"), ("dt", "t"), ("tz", "z"), ("v", "f"))
_PARTS = (
    "b br d dr f fr g gr h j k kl kr l m n p pr r s sch st t th v w z ph",
    "a e i o u ei au ie ä ö ü y",
    "n r l s t m ck tz dt rt nd lm ch",
)
_ONSETS, _CORES, _CODAS = (part.split() for part in _PARTS)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
Row = list[str]


@dataclass
class Register:
    """`rows[i]` has a value for each of COLUMNS; rows with the same `entities[i]` are one person."""

    rows: list[Row]
    entities: np.ndarray
    seed: int
    columns: tuple[str, ...] = COLUMNS
    errors: dict[str, int] = field(default_factory=dict)

    def pairs(self) -> set[tuple[int, int]]:
        """Row numbers (a < b) of every two records of one person."""
        order = np.argsort(self.entities, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(self.entities[order])) + 1)
        return {
            (int(a), int(b)) for group in groups if len(group) > 1 for i, a in enumerate(group) for b in group[i + 1 :]
        }


def register(rows: int, seed: int = 1) -> Register:
    """The same rows for the same seed; in random order."""
    random = np.random.default_rng(seed)
    persons = max(int(rows * (1 - DUPLICATES)), 1)
    made = _persons(persons, random)
    again = random.integers(0, persons, rows - persons)
    counts: dict[str, int] = {}
    made += [_spoiled(list(made[person]), random, counts, made) for person in again.tolist()]
    entities = np.concatenate([np.arange(persons), again])
    order = random.permutation(rows)
    return Register([made[place] for place in order.tolist()], entities[order], seed, errors=counts)


def _persons(count: int, random: np.random.Generator) -> list[Row]:
    given = _drawn(_names(random, 600, 2), count, random)
    surnames = _drawn(_names(random, max(count // 8, 400), 3), count, random)
    streets = _drawn([f"{name}straße" for name in _names(random, max(count // 50, 200), 2)], count, random)
    cities = _names(random, max(count // 400, 60), 2)
    city = random.integers(0, len(cities), count)
    days = random.integers(0, 365 * 90, count)
    born = (np.datetime64("1925-01-01") + days).astype(str)
    house = random.integers(1, 150, count)
    phone = random.integers(10**6, 10**9, count)
    rows = []
    for i in range(count):
        place = [streets[i], str(house[i]), f"{10000 + 37 * int(city[i]) % 90000}", cities[city[i]]]
        surname = surnames[i]
        if rows and random.random() < HOUSEHOLD:
            place = rows[-1][3:7]
            surname = rows[-1][1] if random.random() < 0.5 else surname
        email = f"{given[i].lower()}.{surname.lower()}{i % 97}@example.org"
        rows.append([given[i], surname, str(born[i]), *place, f"0{phone[i]}", email])
    return rows


def _names(random: np.random.Generator, count: int, syllables: int) -> list[str]:
    """Distinct names of up to so many syllables."""
    found: dict[str, None] = {}
    while len(found) < count:
        parts = [
            str(random.choice(_ONSETS)) + str(random.choice(_CORES))
            for _ in range(int(random.integers(1, syllables + 1)))
        ]
        name = "".join(parts) + str(random.choice(_CODAS))
        if len(name) > 3:
            found[name.capitalize()] = None
    return list(found)


def _drawn(names: list[str], count: int, random: np.random.Generator) -> list[str]:
    share = np.arange(1, len(names) + 1) ** -0.9
    return [names[i] for i in random.choice(len(names), count, p=share / share.sum()).tolist()]


# ── errors ──
def _spoiled(row: Row, random: np.random.Generator, counts: dict[str, int], others: list[Row]) -> Row:
    kinds, shares = list(RATES), np.array(list(RATES.values()))
    for _ in range(1 + int(random.choice(3, p=ERRORS))):
        kind = kinds[int(random.choice(len(kinds), p=shares / shares.sum()))]
        counts[kind] = counts.get(kind, 0) + 1
        _ERRORS[kind](row, random, others)
    return row


def _typo(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    place = int(random.choice(9, p=[0.2, 0.25, 0.15, 0.15, 0.03, 0.06, 0.06, 0.05, 0.05]))
    value = row[place]
    if not value:
        return
    at, kind = int(random.integers(0, len(value))), int(random.integers(0, 4))
    letter = str(random.integers(0, 10)) if value[at].isdigit() else _LETTERS[int(random.integers(0, 26))]
    swapped = value[:at] + value[at + 1 : at + 2] + value[at : at + 1] + value[at + 2 :]
    row[place] = [
        value[:at] + letter + value[at + 1 :],
        value[:at] + letter + value[at:],
        value[:at] + value[at + 1 :],
        swapped,
    ][kind]


def _heard(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    place = int(random.integers(0, 2))
    for sound, other in SOUNDS:
        if sound in row[place]:
            row[place] = row[place].replace(sound, other, 1)
            return
    row[place] += "e"


def _missing(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    row[int(random.choice(9, p=[0.05, 0.02, 0.13, 0.15, 0.1, 0.1, 0.05, 0.2, 0.2]))] = ""


def _moved(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    row[3:7] = others[int(random.integers(0, len(others)))][3:7]


def _married(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    row[1] = others[int(random.integers(0, len(others)))][1]


def _crossed(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    row[0], row[1] = row[1], row[0]


def _date(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    parts = row[2].split("-")
    if len(parts) == 3:
        row[2] = f"{int(parts[2])}.{int(parts[1])}.{parts[0]}" if all(part.isdigit() for part in parts) else row[2]


def _umlaut(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    for place in (0, 1, 3, 6):
        row[place] = row[place].replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").replace("ß", "ss")


def _abbreviated(row: Row, random: np.random.Generator, others: list[Row]) -> None:
    row[3] = row[3].replace("straße", "str.")


_ERRORS: dict[str, Callable[[Row, np.random.Generator, list[Row]], None]] = {
    "typo": _typo,
    "heard": _heard,
    "missing": _missing,
    "moved": _moved,
    "married": _married,
    "crossed": _crossed,
    "date format": _date,
    "umlaut": _umlaut,
    "abbreviated": _abbreviated,
}

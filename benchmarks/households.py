"""A generated register of families: rows, seed, rates → Register; they share surname, address, telephone and e-mail.

Twins have one day of birth, juniors the given name of the family's first person; errors are those of register.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.register import Register, Row, _names, _spoiled

SIZES = (0.3, 0.3, 0.2, 0.15, 0.05)  # of families with one person, two, …
OTHER_SURNAME = 0.4  # of the second persons
SHARED_PHONE, SHARED_EMAIL = 0.7, 0.3


@dataclass(frozen=True)
class Rates:
    """`duplicates`: of the rows; `twins`, `juniors`: of the children; `missing`: of the values but names."""

    duplicates: float = 0.1
    sizes: tuple[float, ...] = SIZES
    twins: float = 0.03
    juniors: float = 0.05
    missing: float = 0.0
    given: int = 600  # different names
    surnames: int = 0  # 0: an eighth of the persons


def households(rows: int, seed: int, rates: Rates | None = None) -> Register:
    """The same rows for the same seed; in random order."""
    rates = rates or Rates()
    random = np.random.default_rng(seed)
    persons = max(int(rows * (1 - rates.duplicates)), 1)
    family = _Families(persons, random, rates)
    made: list[Row] = []
    while len(made) < persons:
        made += family.next()
    del made[persons:]
    again = random.integers(0, persons, rows - persons)
    counts: dict[str, int] = {}
    made += [_spoiled(list(made[person]), random, counts, made) for person in again.tolist()]
    entities, order = np.concatenate([np.arange(persons), again]), random.permutation(rows)
    found = [_thinned(made[place], random, rates.missing) for place in order.tolist()]
    return Register(found, entities[order], seed, errors=counts)


class _Families:
    def __init__(self, persons: int, random: np.random.Generator, rates: Rates) -> None:
        self.random, self.rates = random, rates
        self.given = self._drawing(_names(random, rates.given, 2))
        self.surname = self._drawing(_names(random, rates.surnames or max(persons // 8, 150), 3))
        self.street = self._drawing([f"{name}straße" for name in _names(random, max(persons // 50, 100), 2)])
        self.cities = _names(random, max(persons // 400, 20), 2)

    def next(self) -> list[Row]:
        random = self.random
        surname, city = self.surname(), int(random.integers(0, len(self.cities)))
        place = [self.street(), str(random.integers(1, 150)), f"{10000 + 37 * city % 90000}", self.cities[city]]
        phone, year = self._phone(), int(random.integers(1930, 1985))
        email = f"{surname.lower()}{random.integers(0, 999)}@example.org" if random.random() < SHARED_EMAIL else ""
        found: list[Row] = []
        for number in range(1 + int(random.choice(len(self.rates.sizes), p=self.rates.sizes))):
            given, born = self._person(number, year, found)
            own = self.surname() if number == 1 and random.random() < OTHER_SURNAME else surname
            called = phone if random.random() < SHARED_PHONE else self._phone()
            mail = email or f"{given.lower()}.{own.lower()}{random.integers(0, 97)}@example.org"
            found.append([given, own, born, *place, called, mail])
        return found

    def _person(self, number: int, year: int, before: list[Row]) -> tuple[str, str]:
        """Given name and day of birth; the first two are parents."""
        random, rates = self.random, self.rates
        if number < 2:
            return self.given(), self._day(year + int(random.integers(-4, 5)))
        twin = number > 2 and random.random() < rates.twins
        given = before[0][0] if random.random() < rates.juniors else self.given()
        return given, before[-1][2] if twin else self._day(year + int(random.integers(22, 36)))

    def _day(self, year: int) -> str:
        return str(np.datetime64(f"{year}-01-01") + int(self.random.integers(0, 365)))

    def _phone(self) -> str:
        return f"0{self.random.integers(10**6, 10**9)}"

    def _drawing(self, names: list[str]) -> Callable[[], str]:
        reached = np.cumsum(np.arange(1, len(names) + 1) ** -0.9)
        return lambda: names[int(np.searchsorted(reached, self.random.random() * reached[-1]))]


def _thinned(row: Row, random: np.random.Generator, missing: float) -> Row:
    return [value if place < 2 or random.random() >= missing else "" for place, value in enumerate(row)]

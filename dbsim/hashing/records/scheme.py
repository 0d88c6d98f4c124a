"""Compound keys under a cost cap, planned on a sample: Atoms → Scheme; Atoms, Scheme → int64 (documents × keys).

For every two fields the loosest key whose expected number of candidates a row is under the cap; where none is, a third
field is added. A missing field makes the key one of this row's own, which equals that of an exact copy only.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.records.atoms import AGAIN, CLOSE, EXACT, LOOSE, NAMES, FieldAtoms
from dbsim.text.arithmetic import Hashes, combine

Part = tuple[str, str]  # field, kind of atom
Parts = tuple[Part, ...]

CAP, CAP_LARGE, CAP_FEW = 2.0, 5.0, 8.0  # candidates a key and row: usual, above LARGE rows, with FEW fields
CAP_NAMES = 10.0  # of both names alone: in a million rows the most frequent ones are those of thousands
LARGE, FEW = 100_000, 3
SINGLE = 6  # fields or fewer: those that tell rows apart have a key of their own
BUDGET = 30.0  # candidates a row by all keys, up to which tables of few fields have more of the same
MOST_KEYS = 64
TOGETHER = 1 << 16  # numbers hashed at once
LITTLE = 0.1  # candidates a row are not worth a closer look
DUPLICATES = 0.5  # of the other fields agree: then a pair is what keys are for, and does not count as their cost

_TWO = [(LOOSE, LOOSE), (LOOSE, CLOSE), (CLOSE, LOOSE), (EXACT, LOOSE), (LOOSE, EXACT), (CLOSE, CLOSE), (EXACT, EXACT)]
_THREE = [
    (LOOSE, LOOSE, LOOSE),
    (EXACT, LOOSE, LOOSE),
    (LOOSE, EXACT, LOOSE),
    (LOOSE, LOOSE, EXACT),
    (EXACT, EXACT, LOOSE),
    (EXACT, LOOSE, EXACT),
    (LOOSE, EXACT, EXACT),
    (EXACT, EXACT, EXACT),
]
_PART = re.compile(rf"(\d+|{NAMES})([{LOOSE}{CLOSE}{EXACT}{AGAIN}])")


@dataclass(frozen=True)
class Scheme:
    """The keys of an index; as text `0a1a-0e2b-ne`: field number (n: both names) and atom, keys separated by a dash."""

    keys: tuple[Parts, ...]

    def __str__(self) -> str:
        return "-".join("".join(map("".join, parts)) for parts in self.keys)

    @staticmethod
    def parse(text: str) -> Scheme:
        keys = []
        for part in filter(None, text.split("-")):
            found = [match.groups() for match in _PART.finditer(part)]
            if "".join(map("".join, found)) != part:
                raise ValueError(f"{part!r} is no compound key: write field numbers, each with a, b or e")
            keys.append(tuple((number, kind) for number, kind in found))
        return Scheme(tuple(keys))

    @property
    def again(self) -> bool:
        """Whether minima by other orders are needed."""
        return any(kind in AGAIN for parts in self.keys for _, kind in parts)

    def values(self, atoms: Mapping[str, FieldAtoms], copies: Hashes) -> NDArray[np.int64]:
        """documents × keys; `copies` names rows that are equal in every field."""
        found = np.empty((len(self.keys), len(copies)), np.uint64)
        for numbers in self._alike(len(copies)):
            found[numbers] = self._some(numbers, atoms, copies)
        return np.ascontiguousarray(found.T).view(np.int64)

    def _alike(self, documents: int) -> Iterator[list[int]]:
        """Keys of as many parts, which are made at once: of one row, all of them in a moment."""
        most = max(TOGETHER // max(documents, 1), 1)
        sizes = [len(parts) for parts in self.keys]
        for size in sorted(set(sizes)):
            numbers = [number for number, other in enumerate(sizes) if other == size]
            yield from (numbers[start : start + most] for start in range(0, len(numbers), most))

    def _some(self, numbers: list[int], atoms: Mapping[str, FieldAtoms], copies: Hashes) -> Hashes:
        """keys × documents; where an atom is missing, the key is one of this row and its copies."""
        chosen = [self.keys[number] for number in numbers]
        columns = [np.concatenate([atoms[name].of(kind) for name, kind in side]) for side in zip(*chosen, strict=True)]
        salt = np.repeat(np.array(numbers, np.uint64) + np.uint64(1), len(copies))
        made = combine([*columns, salt])
        lacking = np.flatnonzero(np.logical_or.reduce([column == 0 for column in columns]))
        if len(lacking):
            made[lacking] = combine([copies[lacking % len(copies)], salt[lacking], salt[lacking]])
        return made.reshape(len(numbers), len(copies))


def plan(atoms: Mapping[str, FieldAtoms], rows: int, crossed: tuple[int, int] | None) -> Scheme:
    """For a table of so many rows, of which the atoms are a sample."""
    return _Planner(dict(atoms), rows, crossed).scheme()


def default(fields: int, crossed: tuple[int, int] | None) -> Scheme:
    """Without rows to plan on: every two fields by their minima."""
    pairs: list[tuple[str, ...]] = list(itertools.combinations(map(str, range(fields)), 2)) or [("0",)]
    keys = [tuple((name, CLOSE) for name in pair) for pair in pairs]
    return Scheme(tuple(([((NAMES, EXACT),)] if crossed else []) + keys)[:MOST_KEYS])


@dataclass
class _Planner:
    atoms: dict[str, FieldAtoms]
    rows: int
    crossed: tuple[int, int] | None
    _rates: dict[Part, float] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [name for name in self.atoms if name != NAMES]

    @cached_property
    def sample(self) -> int:
        return len(next(iter(self.atoms.values())).exact)

    @cached_property
    def cap(self) -> float:
        if len(self.names) <= FEW:
            return CAP_FEW
        return CAP_LARGE if self.rows > LARGE else CAP

    def scheme(self) -> Scheme:
        if len(self.names) == 1:
            return Scheme(tuple(((self.names[0], kind),) for kind in (EXACT, CLOSE, LOOSE)))
        found = {pair: self._loosest(pair, _TWO) for pair in self._pairs()}
        chosen = [parts for parts in found.values() if parts]
        frequent = [pair for pair, parts in found.items() if parts is None and NAMES not in pair]
        chosen += [parts for three in self._triples(frequent) if (parts := self._loosest(three, _THREE))]
        names: Parts = ((NAMES, EXACT),)
        if self.crossed is not None and self._cost(names) <= CAP_NAMES:
            chosen.insert(0, names)
        chosen += self._more(chosen)
        return Scheme(tuple(chosen[:MOST_KEYS])) if chosen else default(len(self.names), self.crossed)

    def _more(self, chosen: Sequence[Parts]) -> list[Parts]:
        """Where few fields make few pairs: fields that tell rows apart alone, and the same pairs by other minima."""
        if len(self.names) > SINGLE:
            return []
        wanted: list[Parts] = [((name, EXACT),) for name in self.names]
        if len(self.names) <= FEW:
            wanted += [
                tuple((name, _again(kind, other)) for name, kind in parts) for other in AGAIN for parts in chosen
            ]
        found: list[Parts] = []
        total = sum(self._cost(parts) for parts in chosen)
        for parts in wanted:
            cost = self._cost(parts)
            if parts not in (*chosen, *found) and cost <= self.cap and total + cost <= BUDGET:
                found.append(parts)
                total += cost
        return found

    def _pairs(self) -> list[tuple[str, ...]]:
        pairs: list[tuple[str, ...]] = list(itertools.combinations(self.names, 2))
        if self.crossed is not None:
            others = [name for name in self.names if int(name) not in self.crossed]
            pairs += [(NAMES, name) for name in others]
        return pairs

    def _triples(self, frequent: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Three fields of which no two have a key."""
        known = set(frequent)
        return [
            three
            for three in itertools.combinations(self.names, 3)
            if all(pair in known for pair in itertools.combinations(three, 2))
        ]

    def _loosest(self, fields: Sequence[str], kinds: Sequence[Sequence[str]]) -> Parts | None:
        """The most expensive one that is under the cap."""
        best, highest = None, -1.0
        for some in kinds:
            parts = tuple(zip(fields, some, strict=True))
            cost = self._cost(parts)
            if highest < cost <= self.cap:
                best, highest = parts, cost
        return best

    def _cost(self, parts: Parts) -> float:
        """Candidates a row as if the fields were independent, but at least those there are that are not duplicates."""
        chance = self.rows * float(np.prod([self._rate(part) for part in parts]))
        if chance > self.cap:
            return chance
        scale, columns = self.rows / self.sample, [self.atoms[name].of(kind) for name, kind in parts]
        together = _collisions(columns) * scale
        if together > max(chance, LITTLE):
            together = self._strangers(columns, {name for name, _ in parts}) * scale
        return max(chance, together)

    def _strangers(self, columns: Sequence[Hashes], used: set[str]) -> float:
        """The collisions of rows that agree in little else; neighbours in the order of the key stand for all."""
        there = np.flatnonzero(np.logical_and.reduce([column != 0 for column in columns]))
        values = combine([column[there] for column in columns]) if len(columns) > 1 else columns[0][there]
        order = np.argsort(values, kind="stable")
        size = np.unique(values, return_inverse=True, return_counts=True)
        weight = size[2][size[1]][order][1:]
        same = values[order][1:] == values[order][:-1]
        a, b, weight = there[order][:-1][same], there[order][1:][same], weight[same]
        compared, agreed = np.zeros(len(a)), np.zeros(len(a))
        for name in self.names:
            if name not in used:
                atom = self.atoms[name].loose
                both = (atom[a] != 0) & (atom[b] != 0)
                compared += both
                agreed += both & (atom[a] == atom[b])
        strangers = agreed < DUPLICATES * np.maximum(compared, 1)
        return float(weight[strangers].sum()) / self.sample

    def _rate(self, part: Part) -> float:
        """Probability that a row agrees with another in one field."""
        if part not in self._rates:
            name, kind = part
            self._rates[part] = _collisions([self.atoms[name].of(kind)]) / self.sample
        return self._rates[part]


def _again(kind: str, other: str) -> str:
    return other if kind == LOOSE else kind


def _collisions(columns: Sequence[Hashes]) -> float:
    """How many other rows of the sample agree with a row in all columns, on average."""
    there = np.logical_and.reduce([column != 0 for column in columns])
    values = columns[0][there] if len(columns) == 1 else combine([column[there] for column in columns])
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum()) / max(len(there), 1)

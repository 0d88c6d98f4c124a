"""Fuzzy-fingerprints (Stein 2005; Potthast 2006, §3.3): prefix-class shares of words → one key a scheme.

quantify: the share of each prefix class among the words; reduce: the few classes themselves; discretise: the deviation
from the expected share falls into an interval of a fuzzification scheme; combine: Σ δᵢ·rⁱ, or a hash when that is
longer than 62 bits. How often two similar texts collide is only known by measuring (`dbsim tune`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.families.shared.prefixes import LANGUAGES, combined, observed, prefixes, shipped, without
from dbsim.hashing.family import Family, Keys, Model
from dbsim.hashing.keys import WORD, Plan
from dbsim.hashing.measures import cosine
from dbsim.hashing.probing import Rows, probe
from dbsim.hashing.vectors import align, fit_frequencies, vectors
from dbsim.text.arithmetic import combine

Numbers = NDArray[np.float64]
CLASSES = (6, 8, 10, 13, 18, 26)


@dataclass(frozen=True)
class Fuzzy(Family):
    """`classes` of combined prefixes (0: every prefix is a class of its own), `schemes` keys of `intervals` each.

    `expected` shares are those of english, of german, or of the table itself; `drop` leaves out first letters. The
    setting of Stein 2005 is fuzzy:prefix=1:classes=0:drop=jquvwxyz, that of Potthast 2006 fuzzy@1 (deviation=absolute).
    """

    prefix: int = 2
    classes: int = 26
    schemes: int = 2
    intervals: int = 3
    deviation: str = "absolute"
    expected: str = "table"
    drop: str = ""

    measure: ClassVar[str] = "cosine"
    learns: ClassVar[bool] = True
    fixed: ClassVar[bool] = True
    max_rows: ClassVar[int] = 1000  # a row is a class

    def __post_init__(self) -> None:
        if not 1 <= self.prefix <= 3:
            raise ValueError(f"prefixes have 1 to 3 letters, not {self.prefix}")
        if not 0 <= self.classes <= 1000:
            raise ValueError(f"{self.classes} classes are not possible: use 1 to 1000, or 0 for one a prefix")
        if self.deviation not in _schemes() or str(self.intervals) not in _schemes()[self.deviation]:
            raise ValueError("a scheme has intervals=2 or intervals=3 of deviation=absolute or deviation=signed")
        if not 1 <= self.schemes <= len(self._known_borders()):
            raise ValueError(f"there are {len(self._known_borders())} schemes of that kind, not {self.schemes}")
        if self.expected not in (*LANGUAGES, "table"):
            raise ValueError(f"expected shares are those of {', '.join(LANGUAGES)} or table, not of {self.expected}")
        if not all("a" <= letter <= "z" for letter in self.drop):
            raise ValueError(f"only letters a to z can be dropped, not {self.drop!r}")
        if self.expected != "table":
            shipped(self.expected, self.prefix)

    @property
    def portable(self) -> bool:
        return self.expected != "table"

    def plan(self, threshold: float, recall: float) -> Plan:
        return Plan(max(self.classes, 1), self.schemes)

    def grid(self, threshold: float, recall: float) -> list[tuple[Family, Plan]]:
        counts = sorted({*(10, 13, 18, 26), self.classes})
        made = [replace(self, classes=c, schemes=s) for c in counts for s in range(1, len(self._known_borders()) + 1)]
        return [(family, family.plan(threshold, recall)) for family in made]

    def settings(self) -> list[Family]:
        """Fewer classes of two intervals find much more where texts are short or the table is small."""
        schemes = range(1, len(self._known_borders()) + 1)
        made = [replace(self, classes=c, intervals=i, schemes=s) for c in CLASSES for i in (2, 3) for s in schemes]
        return [self, *(one for one in made if one != self)]

    def fit(self, documents: Documents, plan: Plan) -> Model:
        folded = [text for field in documents.fields for text in field.folded]
        return fit_frequencies(documents) | self.division(folded)

    def division(self, folded: Sequence[bytes] = ()) -> Model:
        """The class of every prefix, and the classes' expected shares; `folded` texts are those of the table."""
        shares = observed(folded, self.prefix) if self.expected == "table" else shipped(self.expected, self.prefix)
        shares = without(shares, self.prefix, self.drop)
        if not shares.any():
            raise ValueError(f"without the letters {self.drop} no prefix is left: drop fewer letters")
        if self.classes:
            classes = combined(shares, self.classes)
        else:
            classes = np.where(shares > 0, np.cumsum(shares > 0) - 1, -1)
        masses = np.bincount(classes[classes >= 0], shares[classes >= 0])
        return {"classes": classes.astype(np.int32), "masses": masses / masses.sum()}

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        deviations = self.deviations(documents, model)
        return np.stack([self._combine(_interval(deviations, borders)) for borders in self.borders], axis=1)

    def probes(self, documents: Documents, plan: Plan, model: Model, count: int) -> Keys:
        """The neighbouring interval of the classes closest to a border."""
        deviations = self.deviations(documents, model)
        found = []
        for borders in self.borders:
            distance = np.abs(deviations[:, :, None] - borders)
            nearest = distance.argmin(axis=2)
            values = _interval(deviations, borders)
            others = np.where(values > nearest, nearest, nearest + 1)
            rows = Rows(values, others, distance.min(axis=2))
            found.append(probe(rows, Plan(values.shape[1], 1), count, self._combine))
        return np.concatenate(found, axis=1)

    def similarity(self, left: Documents, right: Documents, model: Model) -> Numbers:
        return cosine(*align(vectors(left, model), vectors(right, model)))

    def deviations(self, documents: Documents, model: Model) -> Numbers:
        """documents × classes: share/expected - 1, or its absolute value; a text without words has share 0 of all."""
        classes, masses = model["classes"].astype(np.int64), model["masses"].astype(np.float64)
        shares, present = np.zeros((len(documents), len(masses))), np.zeros((len(documents), 1))
        for field in documents.fields:
            document, prefix = prefixes(field.folded, self.prefix)
            kind = classes[prefix]
            place = (document * len(masses) + kind)[kind >= 0]
            found = np.bincount(place, minlength=shares.size).reshape(shares.shape)
            total = found.sum(axis=1, keepdims=True)
            shares += field.weight * found / np.maximum(total, 1)
            present += field.weight * (total > 0)
        deviations = shares / np.maximum(present, 1e-300) / masses - 1.0
        return np.asarray(np.abs(deviations) if self.deviation == "absolute" else deviations)

    def _combine(self, intervals: NDArray[np.int64]) -> Keys:
        """Σ δᵢ·rⁱ while it fits; a text's key does not depend on the other texts, so neither does the choice."""
        words = []
        for start in range(0, intervals.shape[1], self.digits):
            part = intervals[:, start : start + self.digits]
            words.append(part @ self.intervals ** np.arange(part.shape[1], dtype=np.int64))
        return words[0] if len(words) == 1 else combine([word.astype(np.uint64) for word in words]).astype(np.int64)

    @property
    def digits(self) -> int:
        """Intervals that fit into a key as they are."""
        return int(WORD // np.log2(self.intervals))

    @property
    def borders(self) -> list[Numbers]:
        """Of the intervals of each scheme in use."""
        return [np.array(borders) for borders in self._known_borders()[: self.schemes]]

    def _known_borders(self) -> list[list[float]]:
        return _schemes()[self.deviation][str(self.intervals)]


def _interval(deviations: Numbers, borders: Numbers) -> NDArray[np.int64]:
    return np.searchsorted(borders, deviations, side="right")


@cache
def _schemes() -> dict[str, dict[str, list[list[float]]]]:
    data = json.loads(files(__package__).joinpath("data/fuzzy_schemes.json").read_text("utf-8"))
    return {kind: data[kind] for kind in ("absolute", "signed")}

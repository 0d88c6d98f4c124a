"""A model of a table's persons from a sample of its rows, and scores by it: Documents → Model; filters → bits.

The model is a few arrays: weights, prior, and for every field the values that are frequent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.records import fitting
from dbsim.hashing.records.adjusting import frequency
from dbsim.hashing.records.adjusting.frequency import Frequencies
from dbsim.hashing.records.adjusting.labelled import Labels, corrected
from dbsim.hashing.records.atoms import FieldAtoms
from dbsim.hashing.records.candidates import candidate_pairs
from dbsim.hashing.records.evidence import Evidence, Roles
from dbsim.hashing.records.levels import EQUAL, Places, Rows, levels
from dbsim.hashing.records.patterns import Patterns

RANDOM = 300_000  # pairs from which chance agreement is counted

Model = dict[str, NDArray[np.generic]]
Crossed = tuple[int, int] | None


@dataclass(frozen=True)
class Learned:
    """What was learned of a table."""

    evidence: Evidence
    frequencies: tuple[Frequencies, ...]
    crossed: Crossed

    def rarities(self, atoms: dict[str, FieldAtoms]) -> NDArray[np.int16]:
        """documents × fields: what equality with this value adds."""
        columns = [table.of(atoms[str(number)].exact) for number, table in enumerate(self.frequencies)]
        return np.stack(columns, axis=1)

    def score(
        self, left: Rows, right: Rows, a: Places, b: Places, rarities: tuple[NDArray[np.int16], NDArray[np.int16]]
    ) -> NDArray[np.int64]:
        """Evidence of the pairs left[a[i]], right[b[i]], in 1/UNIT bit."""
        found = levels(left, right, a, b, self.crossed)
        return self.evidence.bits(found, self.frequent(found, rarities[0][a], rarities[1][b]))

    def frequent(self, found: NDArray[np.int8], one: NDArray[np.int16], two: NDArray[np.int16]) -> NDArray[np.int64]:
        both = np.minimum(one, two).astype(np.int64)
        added: NDArray[np.int64] = np.where(found == EQUAL, both, 0)
        return added

    def own(self, rows: Rows, rarities: NDArray[np.int16]) -> NDArray[np.int64]:
        """What an exact copy of each row would score: the most it can reach."""
        there = np.stack([counts > 0 for counts in rows.counts], axis=1)
        copies = np.where(there, EQUAL, 0).astype(np.int8)
        return self.evidence.bits(copies, np.where(there, rarities, 0).astype(np.int64))

    def taught(self, labels: Labels) -> Learned:
        """The same, with weights that also suit what people decided."""
        widest = fitting.widest(len(self.frequencies))
        return replace(self, evidence=corrected(self.evidence, labels, widest, fitting.MOST_PRIOR))

    def to_model(self) -> Model:
        model: Model = {
            "weights": self.evidence.weights,
            "priors": self.evidence.priors,
            "equal": self.evidence.equal,
            "matches": np.array([self.evidence.matches]),
        }
        if self.evidence.place:
            model["place"], model["moved"] = np.array(self.evidence.place), np.array([self.evidence.moved])
        for number, table in enumerate(self.frequencies):
            model[f"values{number}"] = table.values
            model[f"added{number}"] = table.added
            model[f"other{number}"] = np.array([table.other])
        return model

    @staticmethod
    def of(model: Model, crossed: Crossed) -> Learned:
        weights = model["weights"].astype(np.int64)
        frequencies = (
            Frequencies(
                model[f"values{number}"].astype(np.int64),
                model[f"added{number}"].astype(np.int16),
                int(model[f"other{number}"][0]),
            )
            for number in range(weights.shape[1])
        )
        found = Evidence(
            weights,
            model["priors"].astype(np.int64),
            model["equal"].astype(np.float64),
            float(model["matches"][0]),
            tuple(model["place"].tolist()) if "place" in model else (),
            int(model["moved"][0]) if "moved" in model else 0,
        )
        return Learned(found, tuple(frequencies), crossed)


def learn(documents: Documents, atoms: dict[str, FieldAtoms], keys: NDArray[np.int64], roles: Roles) -> Learned:
    """From a sample with its keys; the same sample gives the same model."""
    count, crossed = len(documents), roles.crossed
    if count < 2:
        raise ValueError("one row is not enough to learn from: fill the table before the first sync")
    rows = Rows.of([field.filters for field in documents.fields])
    a, b = candidate_pairs(keys[documents.present])
    places = documents.present.nonzero()[0]
    random = np.random.default_rng(0)
    one = random.integers(0, count, RANDOM)
    two = (one + random.integers(1, count, RANDOM)) % count
    found = fitting.fit(
        Patterns.of(levels(rows, rows, places[a], places[b], crossed)),
        Patterns.of(levels(rows, rows, one, two, crossed)),
        roles,
        count,
        max(count, documents.drawn_from),
    )
    frequencies = (
        frequency.fit(atoms[str(number)].exact, float(equal), found.gain(number) // 2)
        for number, equal in enumerate(found.equal)
    )
    return Learned(found, tuple(frequencies), crossed)

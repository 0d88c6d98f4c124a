"""Random hyperplanes (Charikar 2002, Bodó 2012): tf-idf vectors → signs of projections, `rows` bits a key; cosine.

quantify: tf-idf; reduce: project on random normals; discretise: the sign; combine: the bits of one whole number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.family import Family, Keys, Model
from dbsim.hashing.keys import LIMIT_ROWS, Plan, bit_keys
from dbsim.hashing.measures import cosine
from dbsim.hashing.probing import Rows, probe
from dbsim.hashing.projections import normal, project
from dbsim.hashing.vectors import align, fit_frequencies, vectors


@dataclass(frozen=True)
class Hyperplane(Family):
    """A row is one bit; it agrees with probability 1 - θ/π, θ the angle between two vectors."""

    measure: ClassVar[str] = "cosine"
    learns: ClassVar[bool] = True  # document frequencies
    max_rows: ClassVar[int] = LIMIT_ROWS  # a row is one bit, which unrelated texts share half of the time

    def collision(self, similarity: float) -> float:
        return 1.0 - math.acos(min(max(similarity, -1.0), 1.0)) / math.pi

    def fit(self, documents: Documents, plan: Plan) -> Model:
        return fit_frequencies(documents)

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        bits = (self._projections(documents, plan, model) >= 0).astype(np.int64)
        return bit_keys(bits.reshape(-1, plan.rows)).reshape(-1, plan.keys)

    def probes(self, documents: Documents, plan: Plan, model: Model, count: int) -> Keys:
        margins = self._projections(documents, plan, model)
        bits = (margins >= 0).astype(np.int64)
        return probe(Rows(bits, 1 - bits, np.abs(margins)), plan, count, bit_keys)

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        return cosine(*align(vectors(left, model), vectors(right, model)))

    def _projections(self, documents: Documents, plan: Plan, model: Model) -> NDArray[np.float64]:
        return project(vectors(documents, model), plan.positions, normal)

"""α-stable projections (Datar et al. 2004; Potthast 2006, §3.2.3): tf-idf vectors → segment numbers; L2, L1 and L½.

quantify: tf-idf; reduce: project on vectors of α-stable numbers; discretise: ⌊(a·d + c)/u⌋; combine: a 62-bit mix.
Two documents at distance r fall into one segment with P(r) = ∫₀ᵘ (2/r)·f(x/r)·(1 - x/u) dx, f symmetric; the source
prints it without the 2, which its one-sided Lévy density needs no, its symmetric two do. Lévy numbers are positive, so
the difference of two projections would depend on the signs of a-b and not on ‖a-b‖½ alone; the difference of two Lévy
numbers is symmetric, ½-stable as well, and makes the formula true.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.hashing import measures
from dbsim.hashing.documents import Documents
from dbsim.hashing.family import Family, Keys, Model
from dbsim.hashing.keys import LIMIT_ROWS, Plan, band
from dbsim.hashing.probing import Rows, probe
from dbsim.hashing.projections import Numbers, cauchy, levy, normal, project, uniform
from dbsim.hashing.vectors import align, fit_frequencies, vectors
from dbsim.text.arithmetic import high_lane, numbered

SEGMENTS = 4.0  # u as a multiple of the distance at the threshold: wider brings hardly better keys (Datar, fig. 3)
OFFSET = 1 << 40  # segment numbers are stored as positive ones


@dataclass(frozen=True)
class Stable(Family):
    """A row is a segment number. `width` is u; 0 chooses it from the threshold."""

    width: float = 0.0

    learns: ClassVar[bool] = True  # document frequencies
    max_rows: ClassVar[int] = LIMIT_ROWS
    alpha: ClassVar[float]

    def __post_init__(self) -> None:
        if not 0 <= self.width <= 1000:
            raise ValueError(f"a segment width of {self.width} is not possible: use a number above 0, or 0 to choose")

    def settled(self, threshold: float) -> Family:
        if self.width:
            return self
        return replace(self, width=max(round(SEGMENTS * self.distance(threshold), 4), 0.001))

    @abstractmethod
    def distance(self, similarity: float) -> float:
        """Of vectors of length one, from the similarity in `measures`."""

    @abstractmethod
    def density(self, x: float) -> float:
        """Of the family's symmetric α-stable number, at x ≥ 0."""

    @abstractmethod
    def draw(self, first: Numbers, second: Numbers) -> tuple[Numbers, ...]:
        """α-stable numbers from hashes."""

    def collision(self, similarity: float) -> float:
        distance = self.distance(similarity)
        return 1.0 if distance <= 0 else _segment_probability(self, self.width / distance)

    def fit(self, documents: Documents, plan: Plan) -> Model:
        return fit_frequencies(documents)

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        segments = np.floor(self._positions(documents, plan, model)).astype(np.int64)
        return _mix(segments.reshape(-1, plan.rows)).reshape(-1, plan.keys)

    def probes(self, documents: Documents, plan: Plan, model: Model, count: int) -> Keys:
        places = self._positions(documents, plan, model)
        segments = np.floor(places).astype(np.int64)
        above = places - segments > 0.5
        costs = np.where(above, 1.0 - (places - segments), places - segments)
        return probe(Rows(segments, segments + np.where(above, 1, -1), costs), plan, count, _mix)

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        a, b = align(vectors(left, model, self.alpha), vectors(right, model, self.alpha))
        filled = (np.diff(a.indptr) > 0)[:, None] & (np.diff(b.indptr) > 0)[None, :]
        return np.where(filled, self.compare(a, b), 0.0)

    @abstractmethod
    def compare(self, left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> NDArray[np.float64]:
        """left × right: the similarity, from 0 to 1."""

    def _positions(self, documents: Documents, plan: Plan, model: Model) -> NDArray[np.float64]:
        """(a·d + c)/u, c a fixed random share of a segment for each position."""
        found = project(vectors(documents, model, self.alpha), plan.positions, self.draw)
        return found / self.width + uniform(high_lane(numbered(0, plan.positions)))[None, :]


@dataclass(frozen=True)
class Gauss(Stable):
    measure: ClassVar[str] = "l2"
    alpha: ClassVar[float] = 2.0

    def distance(self, similarity: float) -> float:
        return (1.0 - similarity) * math.sqrt(2.0)

    def density(self, x: float) -> float:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def draw(self, first: Numbers, second: Numbers) -> tuple[Numbers, ...]:
        return normal(first, second)

    def compare(self, left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> NDArray[np.float64]:
        return measures.l2(left, right)


@dataclass(frozen=True)
class Cauchy(Stable):
    measure: ClassVar[str] = "l1"
    alpha: ClassVar[float] = 1.0

    def distance(self, similarity: float) -> float:
        return (1.0 - similarity) * 2.0

    def density(self, x: float) -> float:
        return 1.0 / (math.pi * (1.0 + x * x))

    def draw(self, first: Numbers, second: Numbers) -> tuple[Numbers, ...]:
        return cauchy(first, second)

    def compare(self, left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> NDArray[np.float64]:
        return measures.l1(left, right)


@dataclass(frozen=True)
class Levy(Stable):
    measure: ClassVar[str] = "lhalf"
    alpha: ClassVar[float] = 0.5

    def distance(self, similarity: float) -> float:
        return ((1.0 - similarity) * 2.0) ** 2

    def density(self, x: float) -> float:
        """Symmetric ½-stable, in Fresnel integrals; 2/π at zero."""
        if x < 1e-7:
            return 2.0 / math.pi
        sine, cosine = scipy.special.fresnel(math.sqrt(1.0 / (2.0 * math.pi * x)))
        angle = 1.0 / (4.0 * x)
        share = math.sin(angle) * (0.5 - sine) + math.cos(angle) * (0.5 - cosine)
        return float(share / math.sqrt(2.0 * math.pi * x**3))

    def draw(self, first: Numbers, second: Numbers) -> tuple[Numbers, ...]:
        return levy(first, second)

    def compare(self, left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> NDArray[np.float64]:
        return measures.lhalf(left, right)


@lru_cache(maxsize=4096)
def _segment_probability(family: Stable, ratio: float) -> float:
    """The collision integral with u/r = ratio, a decade at a time: the Lévy density is steep and its tail heavy."""
    if ratio > 1e12:
        return 1.0
    points = [10.0**power for power in range(-3, 12)]
    edges = [0.0, *(point for point in points if point < ratio), ratio]
    pieces = (
        scipy.integrate.quad(lambda x: 2.0 * family.density(x) * (1.0 - x / ratio), low, high)[0]
        for low, high in pairwise(edges)
    )
    return min(float(sum(pieces)), 1.0)


def _mix(segments: NDArray[np.int64]) -> Keys:
    numbers = (segments + OFFSET).astype(np.uint64)
    return band(numbers, Plan(segments.shape[1], 1)).reshape(-1)

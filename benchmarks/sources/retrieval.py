"""Keys and exact similarities → recall and precision at thresholds; settings tuned to a number of hits a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.special import ndtri
from scipy.stats import rankdata

from dbsim.hashing.documents import Documents
from dbsim.hashing.families.fuzzy import Fuzzy
from dbsim.hashing.projections import normal, project
from dbsim.hashing.vectors import fit_frequencies, inverse_frequency, vectors

THRESHOLDS = tuple(round(step / 20, 2) for step in range(21))
HITS = 10.0
SPREAD, QUANTILES = "spread", "quantiles"  # what borders are fitted to
Numbers = NDArray[np.float64]
Keys = NDArray[np.int64]
# multiples of a scale; a deviation near a border of one scheme lies inside an interval of another
SIGNED = ((-1.0, 1.0), (-0.7, 1.4), (-1.4, 0.7))
ABSOLUTE = ((0.6, 1.6), (0.9, 2.2), (0.4, 1.2))


@dataclass(frozen=True)
class Collection:
    """Texts analysed, the rows asked with, and queries × rows of exact cosine similarity (a row's own is -1)."""

    documents: Documents
    queries: NDArray[np.int64]
    exact: Numbers


def collection(analysed: Documents, queries: int) -> Collection:
    matrix = vectors(analysed, fit_frequencies(analysed)).matrix
    chosen = np.linspace(0, len(analysed) - 1, min(queries, len(analysed))).astype(np.int64)
    return Collection(analysed, chosen, exact_cosine(matrix, chosen))


def exact_cosine(matrix: csr_array, chosen: NDArray[np.int64]) -> Numbers:
    exact = np.asarray((matrix[chosen] @ matrix.T).toarray())
    exact[np.arange(len(chosen)), chosen] = -1.0
    return exact


@dataclass(frozen=True)
class Found:
    """Which rows each query found, and by what setting."""

    name: str
    scale: float
    hits: NDArray[np.bool_]

    @property
    def mean(self) -> float:
        return float(self.hits.sum(axis=1).mean())

    def recall(self, exact: Numbers, threshold: float) -> float:
        """Mean over the queries with a similar row."""
        near = exact >= threshold
        wanted = near.sum(axis=1)
        if not wanted.any():
            return 1.0
        return float(((near & self.hits).sum(axis=1)[wanted > 0] / wanted[wanted > 0]).mean())

    def precision(self, exact: Numbers, threshold: float) -> float:
        """Mean over the queries with a hit."""
        got = self.hits.sum(axis=1)
        if not got.any():
            return 1.0
        return float((((exact >= threshold) & self.hits).sum(axis=1)[got > 0] / got[got > 0]).mean())

    def curve(self, exact: Numbers, kind: str) -> list[tuple[float, float]]:
        return [(threshold, getattr(self, kind)(exact, threshold)) for threshold in THRESHOLDS]


def collide(keys: Keys, queries: NDArray[np.int64]) -> NDArray[np.bool_]:
    """queries × rows: one key or more in common, the query itself left out."""
    found = np.zeros((len(queries), len(keys)), bool)
    for column in keys.T:
        found |= column[queries][:, None] == column[None, :]
    found[np.arange(len(queries)), queries] = False
    return found


def tuned(
    name: str, keys_at: Callable[[float], Keys], queries: NDArray[np.int64], low: float, high: float, hits: float = HITS
) -> Found:
    """The scale between low and high at which a query finds `hits` rows: more with a larger scale."""
    best: Found | None = None
    for _ in range(14):
        middle = float(np.sqrt(low * high))
        found = Found(name, middle, collide(keys_at(middle), queries))
        if best is None or abs(np.log((found.mean + 1e-3) / hits)) < abs(np.log((best.mean + 1e-3) / hits)):
            best = found
        low, high = (middle, high) if found.mean < hits else (low, middle)
    assert best is not None
    return best


def digits(intervals: NDArray[np.int64]) -> Keys:
    """Rows of small numbers → one number each: equal rows alike, others only with probability 2⁻⁶³."""
    weights = np.random.default_rng(intervals.shape[1]).integers(1, 1 << 62, intervals.shape[1]) * 2 + 1
    return (intervals * weights).sum(axis=1)


def lengthened(analysed: Documents) -> Numbers:
    """The length of each tf-idf vector before it is scaled to one."""
    matrix, terms = counted(analysed), np.unique(analysed.fields[0].tokens.hashes)
    matrix.data *= inverse_frequency(terms, fit_frequencies(analysed))[matrix.indices]
    return np.sqrt(np.asarray(matrix.power(2).sum(axis=1)).reshape(-1))


def stable_keys(
    analysed: Documents, rows: int = 20, keys: int = 17, lengths: Numbers | None = None
) -> Callable[[float], Keys]:
    """α-stable hashing (Gauss), k rows and l keys as in the source; the scale is the segment width u."""
    drawn = project(vectors(analysed, fit_frequencies(analysed)), rows * keys, normal)
    if lengths is not None:
        drawn = drawn * lengths[:, None]
    shift = np.random.default_rng(7).random(rows * keys)

    def keys_at(width: float) -> Keys:
        segments = np.floor(drawn / width + shift).astype(np.int64).reshape(len(drawn), keys, rows)
        return np.stack([digits(segments[:, place]) for place in range(keys)], axis=1)

    return keys_at


def fuzzy_keys(family: Fuzzy, analysed: Documents, schemes: int, *, fitted: str = "") -> Callable[[float], Keys]:
    """Fuzzy-fingerprints with borders at multiples of a scale; `fitted` see `measured`."""
    deviations = measured(family, analysed, fitted)
    borders: Sequence[tuple[float, float]] = ABSOLUTE if family.deviation == "absolute" else SIGNED

    def keys_at(scale: float) -> Keys:
        made = []
        for scheme in borders[:schemes]:
            intervals = np.searchsorted(scale * np.array(scheme), deviations, side="right")
            made.append(digits(intervals))
        return np.stack(made, axis=1)

    return keys_at


def measured(family: Fuzzy, analysed: Documents, fitted: str) -> Numbers:
    """documents × classes: deviations as they are, or as the table has them.

    By their spread: from the class's median, in its mean deviation from that. By quantiles: each value's rank among
    those of its class, on the scale of a normal distribution, so that equal borders are equal quantiles.
    """
    deviations = family.deviations(analysed, family.division([text for f in analysed.fields for text in f.folded]))
    if not fitted:
        return deviations
    if fitted == SPREAD:
        centre = np.median(deviations, axis=0)
        scores = (deviations - centre) / np.maximum(np.abs(deviations - centre).mean(axis=0), 1e-9)
    else:
        scores = ndtri((rankdata(deviations, axis=0) - 0.5) / len(deviations))
    return np.asarray(np.abs(scores) if family.deviation == "absolute" else scores)


def shifted_keys(family: Fuzzy, analysed: Documents, schemes: int, *, fitted: str = "") -> Callable[[float], Keys]:
    """As many schemes as wanted: three intervals of equal width, their borders at a random place for every class."""
    deviations = measured(family, analysed, fitted)
    shift = np.random.default_rng(5).random((schemes, deviations.shape[1]))

    def keys_at(scale: float) -> Keys:
        intervals = (np.floor(deviations / (2 * scale) + one).astype(np.int64) for one in shift)
        return np.stack([digits(np.clip(some, -1, 1)) for some in intervals], axis=1)

    return keys_at


def counted(analysed: Documents) -> csr_array:
    """documents × words: how often each occurs."""
    tokens = analysed.fields[0].tokens
    terms, place = np.unique(tokens.hashes, return_inverse=True)
    documents = np.repeat(np.arange(len(tokens.counts)), tokens.counts)
    return csr_array(coo_array((np.ones(len(place)), (documents, place)), shape=(len(analysed), len(terms))))


def plain_cosine(analysed: Documents, chosen: NDArray[np.int64]) -> Numbers:
    """Of word counts as they are, the frequent words included."""
    matrix = counted(analysed)
    lengths = np.sqrt(np.asarray(matrix.power(2).sum(axis=1)).reshape(-1))
    matrix.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(matrix.indptr))
    return exact_cosine(matrix, chosen)


def word_jaccard(analysed: Documents, chosen: NDArray[np.int64]) -> Numbers:
    """Of the sets of words."""
    matrix = counted(analysed)
    matrix.data[:] = 1.0
    sizes = np.diff(matrix.indptr).astype(float)
    common = np.asarray((matrix[chosen] @ matrix.T).toarray())
    found = common / np.maximum(sizes[chosen][:, None] + sizes[None, :] - common, 1.0)
    found[np.arange(len(chosen)), chosen] = -1.0
    return np.asarray(found)

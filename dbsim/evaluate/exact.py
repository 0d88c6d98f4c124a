"""Brute force beside the index: queries × the whole table, a block at a time → counts at thresholds, exact scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.signer import Signer
from dbsim.tables.source import Key

BLOCK = 1000  # rows compared at once: with 1,000 queries some 10 MB an array
STEPS = 20
THRESHOLDS = tuple(round(step / STEPS, 2) for step in range(STEPS + 1))
GRAIN = 1e-9  # of a threshold: 0.7 may come out of a division as 0.6999999

Numbers = NDArray[np.int64]
Candidates = Mapping[Key, Sequence[tuple[int, float]]]  # row → (query, estimated score)


@dataclass
class Compared:
    """What the comparison adds up.

    `similar[q, s]` are the rows whose similarity to query q lies in step s of THRESHOLDS; of the candidates key, query,
    estimate and exact similarity are kept one by one.
    """

    queries: int
    threshold: float = 1.0
    rows: int = 0
    similar: Numbers = field(init=False)
    near: Numbers = field(init=False)  # rows that reach the index's threshold, which may lie between two steps
    keys: list[Key] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    estimates: list[float] = field(default_factory=list)
    exact: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.similar = np.zeros((self.queries, STEPS + 1), np.int64)
        self.near = np.zeros(self.queries, np.int64)

    def at_least(self) -> Numbers:
        """queries × thresholds: rows that reach each of them."""
        return np.asarray(self.similar[:, ::-1].cumsum(axis=1)[:, ::-1])


def steps(similarities: NDArray[np.float64]) -> Numbers:
    """The highest step of THRESHOLDS that each similarity reaches."""
    return np.clip(np.floor((similarities + GRAIN) * STEPS), 0, STEPS).astype(np.int64)


def compare(
    compared: Compared,
    signer: Signer,
    queries: Sequence[Sequence[str]],
    own: Mapping[Key, int],
    rows: tuple[Sequence[Key], Sequence[Sequence[str]]],
    candidates: Candidates,
) -> None:
    """Add some rows of the table; `queries[field][query]`, and the row that each query was taken from."""
    keys, texts = rows
    for start in range(0, len(keys), BLOCK):
        part = slice(start, start + BLOCK)
        exact = signer.similarity(queries, [column[part] for column in texts])
        for place, key in enumerate(keys[part]):
            if key in own:
                exact[own[key], place] = -1.0  # a row is no near-duplicate of itself
            for query, estimate in candidates.get(key, ()):
                if own.get(key) != query:
                    compared.keys.append(key)
                    compared.asked.append(query)
                    compared.estimates.append(estimate)
                    compared.exact.append(float(exact[query, place]))
        counted = exact >= 0
        number = np.repeat(np.arange(len(exact)), counted.sum(axis=1)) * (STEPS + 1) + steps(exact[counted])
        compared.similar += np.bincount(number, minlength=compared.similar.size).reshape(compared.similar.shape)
        compared.near += (exact >= compared.threshold - GRAIN).sum(axis=1)
        compared.rows += exact.shape[1]

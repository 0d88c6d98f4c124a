"""What a setting would find, tried on a sample: texts → edited copies; keys → which documents share one.

A sample of a large table holds few real near-duplicates, so copies of its texts with words dropped and replaced, more
and more of them, ask the questions; every pair of a copy and a text counts with its exact similarity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.family import Family, Keys

MOST_EDITED = 0.5  # share of words changed in the last query; the first is an exact copy
NEAR = 10  # rows on each side of a forest's key


def edited(texts: Sequence[Sequence[str]], queries: int) -> list[list[str]]:
    """Copies of every n-th text, each with a larger share of its words dropped or replaced by words of another."""
    rng = np.random.default_rng(0)
    size = len(texts[0])
    chosen = np.linspace(0, size - 1, min(queries, size)).astype(int)
    shares = np.linspace(0.0, MOST_EDITED, len(chosen))
    return [
        [
            edit(column[place], column[int(rng.integers(size))], share, rng)
            for place, share in zip(chosen, rng.permutation(shares), strict=True)
        ]
        for column in texts
    ]


def edit(text: str, other: str, share: float, rng: np.random.Generator) -> str:
    """Half of the changed words are dropped, half replaced by words of another text."""
    words, spare = text.split(), other.split() or ["x"]
    chance = rng.random(len(words))
    kept = (
        spare[int(place * len(spare))] if change < share / 2 else word
        for word, change, place in zip(words, chance, rng.random(len(words)), strict=True)
        if not share / 2 <= change < share
    )
    return " ".join(kept)


def collisions(family: Family, keys: Keys, wanted: Keys, near: int = NEAR) -> NDArray[np.bool_]:
    """queries × documents: what the search statement would find; `near` rows on each side of a forest's key."""
    found = np.zeros((len(wanted), len(keys)), bool)
    for column in range(keys.shape[1]):
        if family.nearest:
            found |= _neighbours(keys[:, column], wanted[:, column, 0], near)
        else:
            for value in range(wanted.shape[2]):
                found |= wanted[:, column, value][:, None] == keys[:, column][None, :]
    if family.radius is not None:
        distance = np.bitwise_count(wanted[:, None, :, 0] ^ keys[None, :, :]).sum(axis=2, dtype=np.int64)
        found &= distance <= family.radius
    return found


def _neighbours(keys: NDArray[np.int64], wanted: NDArray[np.int64], near: int) -> NDArray[np.bool_]:
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted)
    found = np.zeros((len(wanted), len(keys)), bool)
    for step in range(-near, near):
        inside = (place + step >= 0) & (place + step < len(keys))
        found[np.flatnonzero(inside), order[(place + step)[inside]]] = True
    return found

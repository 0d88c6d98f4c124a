"""Texts like those that short promises break on, generated: templated notices, titles, code; with their exact truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from dbsim.hashing.signer import Signer

Pairs = dict[tuple[int, int], float]
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "xu", "za")


def _words(random: np.random.Generator, count: int) -> list[str]:
    return ["".join(random.choice(SYLLABLES, random.integers(2, 5))) for _ in range(count)]


def templated(random: np.random.Generator, rows: int) -> list[str]:
    """Product notices and advisories: 10 to 60 words, of which a template gives 70 to 90 %."""
    found: list[str] = []
    while len(found) < rows:
        template = _words(random, int(random.integers(10, 61)))
        own = max(round(len(template) * random.uniform(0.1, 0.3)), 1)
        places = random.choice(len(template), own, replace=False)
        for _ in range(min(int(random.integers(2, 12)), rows - len(found))):
            words = list(template)
            for place, word in zip(places, _words(random, own), strict=True):
                if random.random() < 0.7:  # the others keep what the template has
                    words[place] = word
            found.append(" ".join(words))
    return found


def titles(random: np.random.Generator, rows: int) -> list[str]:
    """4 to 12 words of a small vocabulary; half of them are others with a word changed, added or left out."""
    vocabulary = _words(random, 400)
    found: list[str] = []
    while len(found) < rows:
        words = random.choice(vocabulary, random.integers(4, 13)).tolist()
        found.append(" ".join(words))
        for _ in range(int(random.integers(0, 3))):
            changed = list(words)
            place = int(random.integers(len(changed)))
            changed[place : place + int(random.integers(0, 2))] = random.choice(
                vocabulary, random.integers(0, 2)
            ).tolist()
            found.append(" ".join(changed))
    return found[:rows]


def code(random: np.random.Generator, rows: int) -> list[str]:
    """Methods: the same statements with other names and some lines more or fewer."""
    found: list[str] = []
    while len(found) < rows:
        lines = [" ".join(_words(random, int(random.integers(2, 7)))) for _ in range(int(random.integers(3, 15)))]
        for _ in range(int(random.integers(1, 6))):
            name = _words(random, 1)[0]
            kept = [line for line in lines if random.random() < 0.92]
            found.append(f"public void {name} return " + " ".join(kept))
    return found[:rows]


KINDS: dict[str, Callable[[np.random.Generator, int], list[str]]] = {
    "templated": templated,
    "titles": titles,
    "code": code,
}


def exact_pairs(signer: Signer, texts: list[str], lowest: float, block: int = 2000) -> Pairs:
    """(i, j) → J for all i < j with J ≥ lowest: a sparse product, block by block."""
    features = signer.features(0, texts)
    _, terms = np.unique(features.hashes, return_inverse=True)
    width = int(terms.max(initial=0)) + 1
    entries = np.unique(features.documents * width + terms)
    starts = np.searchsorted(entries, np.arange(len(texts) + 1) * width)
    matrix = scipy.sparse.csr_array((np.ones(len(entries)), entries % width, starts), shape=(len(texts), width))
    sizes: NDArray[np.int64] = np.diff(starts)
    other = matrix.T.tocsr()
    found: Pairs = {}
    for start in range(0, len(texts), block):
        common = (matrix[start : start + block] @ other).tocoo()
        i, j = common.row + start, common.col
        value = common.data / (sizes[i] + sizes[j] - common.data)
        kept = (i < j) & (value >= lowest - 1e-12)
        found |= zip(zip(i[kept].tolist(), j[kept].tolist(), strict=True), value[kept].tolist(), strict=True)
    return found

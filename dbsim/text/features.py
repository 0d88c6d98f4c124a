"""The set of shingles or n-grams of each document as hashes: list[str] → Features (ragged array of 62-bit hashes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes, combine_runs
from dbsim.text.characters import FILLER
from dbsim.text.normalisers.registry import normaliser_of
from dbsim.text.tokens import TokenHasher, Tokens, offsets_of

PIECE = 1 << 18  # tokens combined at once
BLOCK = 1 << 14  # features looked at together: their temporaries stay small, however long a text is


@dataclass(frozen=True)
class Features:
    """`hashes[offsets[i]:offsets[i+1]]` are the features of document i, repeats included, in text order."""

    hashes: Hashes
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def documents(self) -> NDArray[np.int64]:
        """The document number of every feature."""
        return np.repeat(np.arange(len(self)), self.counts)

    def blocks(self) -> list[tuple[NDArray[np.int64], Hashes]]:
        """(document numbers, hashes) of some features at a time; of a single document the number just once."""
        starts = range(0, len(self.hashes), BLOCK)
        if len(self) == 1:
            number = np.zeros(1, np.int64)
            return [(number, self.hashes[start : start + BLOCK]) for start in starts]
        return [(self.documents[start : start + BLOCK], self.hashes[start : start + BLOCK]) for start in starts]

    def of(self, document: int) -> frozenset[int]:
        """The feature set of one document, for exact comparison."""
        return frozenset(self.hashes[self.offsets[document] : self.offsets[document + 1]].tolist())


class Analysed(NamedTuple):
    """The texts of one field, normalised; their words or characters; the runs of these."""

    folded: list[bytes]
    tokens: Tokens
    features: Features


@dataclass(frozen=True, kw_only=True)
class Analyser:
    """How one field's text becomes tokens and features: words or characters, and how many of them in a row."""

    normaliser: str = "text"
    unit: str = "words"
    size: int = 3

    def fold(self, texts: Sequence[str]) -> list[bytes]:
        return list(map(normaliser_of(self.normaliser).fold, texts))

    def tokens(self, texts: Sequence[str], hasher: TokenHasher) -> Tokens:
        return self._tokens(self.fold(texts), hasher)

    def analyse(self, texts: Sequence[str], hasher: TokenHasher) -> Analysed:
        folded = self.fold(texts)
        tokens = self._tokens(folded, hasher)
        return Analysed(folded, tokens, shingles(tokens, self.size))

    def _tokens(self, folded: Sequence[bytes], hasher: TokenHasher) -> Tokens:
        if self.unit == "words":
            return hasher.words(folded)
        return hasher.characters(folded, padding=self.size - 1)

    def shingles(self, text: str) -> list[str]:
        """The shingles as text, each once, in text order: what `features` hashes, for people to read."""
        words = normaliser_of(self.normaliser).fold(text).decode().split()
        if self.unit == "words":
            tokens, gap = words, " "
        else:
            pad = FILLER * (self.size - 1)
            tokens, gap = list(pad + FILLER.join(words) + pad) if words else [], ""
        runs = (tokens[start : start + self.size] for start in range(max(len(tokens) - self.size + 1, 1)))
        return list(dict.fromkeys(gap.join(run) for run in runs if run))


def shingles(tokens: Tokens, size: int) -> Features:
    """Every run of `size` tokens; a shorter text is one run, filled up, and so equals only an equal text."""
    padded = _fill_short(tokens, size)
    runs = _runs(padded, size)
    if size == 1:
        return Features(runs, padded.offsets)
    if len(padded.offsets) == 2:
        return Features(runs, np.array([0, len(runs)]))
    counts = np.maximum(padded.counts - (size - 1), 0)
    inside = np.ones(len(runs), bool)  # runs that do not reach into the next document
    ends = padded.offsets[1:-1]
    for back in range(1, size):
        crossing = ends - back
        inside[crossing[(crossing >= 0) & (crossing < len(runs))]] = False
    return Features(runs[inside], offsets_of(counts))


def _runs(tokens: Tokens, size: int) -> Hashes:
    """Of all tokens in a row, whatever document they belong to."""
    total = int(tokens.offsets[-1]) - size + 1
    if total <= PIECE:
        return combine_runs(tokens.hashes, size)
    found = np.empty(total, np.uint64)
    for start in range(0, total, PIECE):
        part = found[start : start + PIECE]
        part[:] = combine_runs(tokens.piece(start, start + len(part) + size - 1), size)
    return found


def _fill_short(tokens: Tokens, size: int) -> Tokens:
    """Append zero hashes to documents with fewer than `size` tokens (empty ones stay empty)."""
    counts = tokens.counts
    if not ((counts > 0) & (counts < size)).any():
        return tokens
    filled = np.where(counts > 0, np.maximum(counts, size), 0)
    offsets = offsets_of(filled)
    hashes = np.zeros(offsets[-1], np.uint64)
    shift = np.repeat(offsets[:-1] - tokens.offsets[:-1], counts)
    hashes[np.arange(len(tokens.hashes)) + shift] = tokens.hashes
    return Tokens(hashes, offsets)

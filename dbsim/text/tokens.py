"""Keyed 62-bit hashes of words or characters: list[folded bytes] → Tokens (flat hashes, offsets per document)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes
from dbsim.text.characters import CharacterTable, Points, spell
from dbsim.text.words import MARGIN, Words, WordTable

PIECE = 1 << 17  # bytes cut into words at once: the arrays of a piece take ten times as much and stay in the cache
LONG = 1 << 21  # characters hashed at once
SHORT = 1 << 12  # bytes of a text whose words a dictionary finds sooner than numpy's calls take


class Tokens:
    """`hashes[offsets[i]:offsets[i+1]]` are the tokens of document i, in order."""

    def __init__(self, hashes: Hashes, offsets: NDArray[np.int64]) -> None:
        self.hashes = hashes
        self.offsets = offsets
        self.counts = offsets[1:] - offsets[:-1]

    def piece(self, start: int, stop: int) -> Hashes:
        """Some of the hashes, in little memory also if the text is long."""
        return self.hashes[start:stop]


class LongTokens(Tokens):
    """Tokens hashed when asked for: a character takes one to four bytes, its hash eight."""

    def __init__(self, points: Points, offsets: NDArray[np.int64], table: CharacterTable) -> None:
        self._points = points
        self._table = table
        self.offsets = offsets
        self.counts = offsets[1:] - offsets[:-1]

    @property
    def hashes(self) -> Hashes:  # type: ignore[override]
        return self._table.hashes(self._points)

    def piece(self, start: int, stop: int) -> Hashes:
        return self._table.hashes(self._points[start:stop])


class TokenHasher:
    """Hashes words and characters; keeps what it hashed between calls."""

    def __init__(self, secret: bytes) -> None:
        self.table = WordTable(secret)
        self._characters = CharacterTable(self.table.hash)

    def words(self, folded: Sequence[bytes]) -> Tokens:
        """The words of each folded text."""
        if len(folded) == 1 and len(folded[0]) <= SHORT:
            found = self.table.looked_up([word for word in folded[0].split(b" ") if word])
            return Tokens(found, np.array([0, len(found)]))
        text = b" ".join((b"", *folded, b" " * MARGIN))
        ends = np.fromiter(map(len, folded), np.int64, len(folded))
        ends += 1
        np.cumsum(ends, out=ends)
        offsets = np.zeros(len(folded) + 1, np.int64)
        hashes = []
        for start, stop in pairwise(_cuts(text)):
            words = Words.between(text, start, stop)
            offsets[1:] += words.starts.searchsorted(ends)
            hashes.append(self.table.hashes(words))
        return Tokens(hashes[0] if len(hashes) == 1 else np.concatenate(hashes), offsets)

    def characters(self, folded: Sequence[bytes], padding: int) -> Tokens:
        """The characters of each folded text, gaps as one filler, `padding` fillers at both ends."""
        points, counts = spell(folded, padding)
        if len(points) > LONG:
            return LongTokens(points, offsets_of(counts), self._characters)
        return Tokens(self._characters.hashes(points), offsets_of(counts))


def offsets_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _cuts(text: bytes) -> Iterator[int]:
    """Places of spaces about PIECE bytes apart, the first and the last one included."""
    last = len(text) - 1
    cut = 0
    while last - cut > PIECE:
        yield cut
        cut = text.find(b" ", cut + PIECE)
    yield cut
    if cut < last:
        yield last

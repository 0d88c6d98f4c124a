"""Keyed 62-bit hashes of words or characters: list[folded bytes] → Tokens (flat hashes, offsets per document)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes
from dbsim.text.words import MARGIN, Words, WordTable

PIECE = 1 << 17  # bytes cut into words at once: the arrays of a piece take ten times as much and stay in the cache
FILLER = "_"  # stands for the gap between words and before and after a text in character n-grams


@dataclass(frozen=True)
class Tokens:
    """`hashes[offsets[i]:offsets[i+1]]` are the tokens of document i, in order."""

    hashes: Hashes
    offsets: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.offsets[1:] - self.offsets[:-1]


class TokenHasher:
    """Hashes words and characters; keeps what it hashed between calls."""

    def __init__(self, secret: bytes) -> None:
        self.table = WordTable(secret)
        self._characters = np.empty(0, np.int64)

    def words(self, folded: Sequence[bytes]) -> Tokens:
        """The words of each folded text."""
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
        pad = FILLER * padding
        texts = [FILLER.join(document.decode().split()) for document in folded]
        padded = [pad + text + pad if text else "" for text in texts]
        points = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32)
        if not len(self._characters):
            self._characters = np.full(0x110000, -1, np.int64)
        hashes = self._characters[points]
        if (hashes < 0).any():
            for point in np.unique(points[hashes < 0]).tolist():
                self._characters[point] = self.table.hash(chr(point).encode())
            hashes = self._characters[points]
        counts = np.fromiter(map(len, padded), np.int64, len(padded))
        return Tokens(hashes.view(np.uint64), offsets_of(counts))


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

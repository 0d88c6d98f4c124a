"""Keyed 62-bit hashes of words or characters: list[folded bytes] → Tokens (flat hashes, offsets per document)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes

PIECE = 1 << 20  # bytes split into words at once: a text of 100 MB must not become 17 million objects
CACHE_LIMIT = 1 << 18  # words remembered; emptied when full, about 40 MB
HASH_BITS = 62
FILLER = "_"  # stands for the gap between words and before and after a text in character n-grams


@dataclass(frozen=True)
class Tokens:
    """`hashes[offsets[i]:offsets[i+1]]` are the tokens of document i, in order."""

    hashes: Hashes
    offsets: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.offsets[1:] - self.offsets[:-1]


class TokenHasher(dict[bytes, int]):
    """SHA-256(secret ‖ token), cut to 62 bits, remembered: nobody without the secret can build colliding texts."""

    def __init__(self, secret: bytes) -> None:
        super().__init__()
        self._secret = hashlib.sha256(secret)
        self._characters = np.empty(0, np.int64)

    def __missing__(self, token: bytes) -> int:
        state = self._secret.copy()
        state.update(token)
        value = int.from_bytes(state.digest()[:8], "big") >> (64 - HASH_BITS)
        self[token] = value
        return value

    def words(self, folded: Sequence[bytes]) -> Tokens:
        """The words of each folded text."""
        counts = np.zeros(len(folded), np.int64)
        words = chain.from_iterable(self._bounded(_split(folded, counts)))
        hashes = np.fromiter(map(self.__getitem__, words), np.uint64)
        return Tokens(hashes, offsets_of(counts))

    def _bounded(self, pieces: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
        """Between two pieces, not two calls: one long text must not outgrow the cache either."""
        for words in pieces:
            if len(self) > CACHE_LIMIT:
                self.clear()
            yield words

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
                self._characters[point] = self[chr(point).encode()]
            hashes = self._characters[points]
        counts = np.fromiter(map(len, padded), np.int64, len(padded))
        return Tokens(hashes.astype(np.uint64), offsets_of(counts))


def offsets_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _split(folded: Sequence[bytes], counts: NDArray[np.int64]) -> Iterator[list[bytes]]:
    for number, document in enumerate(folded):
        if len(document) <= PIECE:
            words = document.split()
            counts[number] = len(words)
            yield words
        else:
            for piece in _pieces(document):
                words = piece.split()
                counts[number] += len(words)
                yield words


def _pieces(document: bytes) -> Iterator[bytes]:
    """Cut at a space, so that no word is cut."""
    start = 0
    while start < len(document):
        space = document.find(b" ", start + PIECE)
        end = len(document) if space < 0 else space
        yield document[start:end]
        start = end

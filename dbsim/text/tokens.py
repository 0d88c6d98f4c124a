"""Keyed 62-bit hashes of words or characters: list[folded bytes] → Tokens (flat hashes, offsets per document)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

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


class TokenHasher(dict[bytes, bytes]):
    """SHA-256(secret ‖ token), cut to 62 bits, remembered: nobody without the secret can build colliding texts.

    Kept as 8 bytes, most significant first: joining them is twice as fast as making an array of Python's integers.
    """

    def __init__(self, secret: bytes) -> None:
        super().__init__()
        self._secret = hashlib.sha256(secret)
        self._characters = np.empty(0, np.int64)

    def __missing__(self, token: bytes) -> bytes:
        state = self._secret.copy()
        state.update(token)
        value = int.from_bytes(state.digest()[:8], "big") >> (64 - HASH_BITS)
        self[token] = found = value.to_bytes(8, "big")
        return found

    def words(self, folded: Sequence[bytes]) -> Tokens:
        """The words of each folded text."""
        hashed = [b"".join(map(self._hash_words, _pieces(document))) for document in folded]
        counts = np.fromiter(map(len, hashed), np.int64, len(hashed)) // 8
        return Tokens(np.frombuffer(b"".join(hashed), ">u8").astype(np.uint64), offsets_of(counts))

    def _hash_words(self, piece: bytes) -> bytes:
        if len(self) > CACHE_LIMIT:  # between two pieces, not two calls: one long text must not outgrow it either
            self.clear()
        return b"".join(map(self.__getitem__, piece.split()))

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
                self._characters[point] = int.from_bytes(self[chr(point).encode()], "big")
            hashes = self._characters[points]
        counts = np.fromiter(map(len, padded), np.int64, len(padded))
        return Tokens(hashes.view(np.uint64), offsets_of(counts))


def offsets_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _pieces(document: bytes) -> list[bytes]:
    """Cut at a space, so that no word is cut."""
    if len(document) <= PIECE:
        return [document]
    starts = [0]
    while (space := document.find(b" ", starts[-1] + PIECE)) >= 0:
        starts.append(space)
    return [document[start:end] for start, end in pairwise([*starts, len(document)])]

"""The shingles of one short text with few calls: str → Shingles, equal to those of a batch.

What a word adds to the hash of a shingle depends on its place in it only. So its share for every place is remembered as
bytes, which are strung together for a text and added up: no number passes through Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from struct import Struct

import numpy as np

from dbsim.text.arithmetic import LANE, MULTIPLIERS, PRIME, Halves, Hashes, mix, modulo
from dbsim.text.features import Analyser
from dbsim.text.normalisers.registry import normaliser_of

LONGEST = 1 << 12  # bytes of a text: for longer ones numpy's own way is faster
KNOWN = 1 << 16  # words remembered
LONGEST_KEPT = 256  # bytes of such a word

_SHIFT, _PRIME = np.array(LANE, np.uint64), int(PRIME)


@dataclass(frozen=True)
class Shingles:
    """`digits` are the hashes of the words, eight bytes each; `lanes` the upper and lower halves of the shingles'."""

    digits: bytes
    lanes: Halves

    @cached_property
    def hashes(self) -> Hashes:
        found: Hashes = self.lanes[0].astype(np.uint64)
        found <<= _SHIFT
        found |= self.lanes[1]
        return found


class Shares(dict[bytes, bytes]):
    """What each word adds to a shingle: both lanes of its hash in every place, then its hash, highest byte first."""

    def __init__(self, size: int, hashed: Callable[[bytes], int]) -> None:
        super().__init__({b"": b""})  # between two spaces there is no word
        self._hashed = hashed
        self._packed = Struct(f"={2 * size}Q").pack
        self._powers = [[pow(base, place, _PRIME) for base in MULTIPLIERS] for place in range(size - 1, -1, -1)]

    def __missing__(self, word: bytes) -> bytes:
        value = self._hashed(word)
        high, low = value >> LANE, value & _PRIME
        shares = [share for one, other in self._powers for share in (high * one % _PRIME, low * other % _PRIME)]
        found = self._packed(*shares) + value.to_bytes(8, "big")
        if len(word) <= LONGEST_KEPT:
            self[word] = found
        return found


class ShortTexts:
    """The shingles of one field of words, each word hashed by `hashed`."""

    def __init__(self, analyser: Analyser, hashed: Callable[[bytes], int]) -> None:
        self._fold = normaliser_of(analyser.normaliser).fold
        self._size = size = analyser.size
        self._hashed = hashed
        self._shares = Shares(size, hashed)

    def shingles(self, text: str) -> Shingles | None:
        """None of a text that is too long, or has no whole shingle."""
        folded = self._fold(text)
        if len(folded) > LONGEST:
            return None
        if len(self._shares) > KNOWN:
            self._shares = Shares(self._size, self._hashed)  # another thread may still read the old ones
        joined = b"".join(map(self._shares.__getitem__, folded.split(b" ")))
        parts = np.frombuffer(joined, np.uint64).reshape(-1, 2 * self._size + 1).T.copy()
        count = parts.shape[1] - self._size + 1
        if count < 1:
            return None
        total = parts[:2, :count]
        for place in range(1, self._size):
            total += parts[2 * place : 2 * place + 2, place : place + count]
        return Shingles(parts[-1].tobytes(), mix(modulo(total, PRIME).astype(np.uint32)))

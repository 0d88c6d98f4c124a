"""One short text signed and compared with few calls, for questions: str → what `Signer` makes of it, to the last bit.

Of the time that a batch takes for a single text of 1.5 kB, 0.2 ms, numpy's calls take most: here it is half of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dbsim.hashing.families.minhash import signature
from dbsim.hashing.fingerprint import PRIME_BITS, random_primes
from dbsim.hashing.keys import Plan
from dbsim.hashing.measures import common, distinct
from dbsim.text.arithmetic import LANE, Hashes
from dbsim.text.features import Analyser, Features
from dbsim.text.short import Shingles, ShortTexts
from dbsim.text.slots import SLOT, combine

ROUNDING = 1e12  # as `Signer.paired` has it


class One(NamedTuple):
    """The signature of one text, and its shingles."""

    fingerprint: int
    keys: tuple[int, ...]
    bits: bytes
    bits_set: int
    shingles: Shingles


class SingleTexts:
    """Of one field of words, hashed by MinHash, with filters of 2^n bits."""

    def __init__(
        self, analyser: Analyser, bits: int, plan: Plan, secret: bytes, hashed: Callable[[bytes], int]
    ) -> None:
        self._texts = ShortTexts(analyser, hashed)
        self._primes = random_primes(secret)
        self._bits, self._plan = bits, plan
        self._shift = np.array(LANE - (bits.bit_length() - 1), np.uint32)
        # where the parts of the range begin that `scale` makes, and where the last one ends
        ends = (-(-place * 2**LANE // plan.positions) << LANE for place in range(plan.positions + 1))
        self._bounds = np.fromiter(ends, np.uint64, plan.positions + 1)
        self._rows = np.arange(plan.positions).reshape(plan.keys, plan.rows).T.reshape(-1)

    def shingles(self, text: str) -> Shingles | None:
        """None of a text that is too long or too short for this."""
        return self._texts.shingles(text)

    def sign(self, text: str) -> One | None:
        found = self.shingles(text)
        if found is None:
            return None
        marks = np.zeros(self._bits, np.uint8)
        marks[found.lanes[1] >> self._shift] = 1
        bits = np.packbits(marks).tobytes()
        bits_set = int.from_bytes(bits, "big").bit_count()
        return One(self._fingerprint(found), self._keys(found.hashes), bits, bits_set, found)

    def compare(self, question: Shingles, text: str) -> tuple[float, int] | None:
        """The exact Jaccard similarity, and the fingerprint of the text."""
        found = self.shingles(text)
        if found is None:
            return None
        mine, other = distinct(question.hashes), distinct(found.hashes)
        shared = common(mine, other)
        similarity = shared / (len(mine) + len(other) - shared)
        return round(similarity * ROUNDING) / ROUNDING, self._fingerprint(found)

    def _fingerprint(self, shingles: Shingles) -> int:
        number = int.from_bytes(b"\1" + shingles.digits, "big")
        first, second = self._primes
        return (number % first) << PRIME_BITS | number % second

    def _keys(self, hashes: Hashes) -> tuple[int, ...]:
        """`band` of the minima, which are ordered by their rows."""
        keys, width = self._plan.keys, SLOT // 8 * self._plan.keys
        minima = self._minima(hashes)[self._rows].astype("<u8").tobytes()
        columns = [int.from_bytes(minima[row : row + width], "little") for row in range(0, len(minima), width)]
        combined = combine(columns, keys) if len(columns) > 1 else columns[0]
        return tuple(np.frombuffer(combined.to_bytes(width, "little"), "<i8").tolist())

    def _minima(self, hashes: Hashes) -> Hashes:
        """The smallest of every part, where none is empty: the first one behind the beginning of the part."""
        ordered = np.sort(hashes)
        starts = ordered.searchsorted(self._bounds)
        if (starts[1:] > starts[:-1]).all():
            return np.asarray(ordered[starts[:-1]])
        found: Hashes = signature(Features(hashes, np.array([0, len(hashes)])), self._plan.positions)[0]
        return found

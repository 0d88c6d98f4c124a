"""One short text signed and compared with few calls, for questions: str → what `Signer` makes of it, to the last bit.

Of the time that a batch takes for a single text of 1.5 kB, 0.2 ms, numpy's calls take most: here it is a third of it,
and a third of that is looking up the words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dbsim.hashing.families.minhash import signature
from dbsim.hashing.fingerprint import PRIME_BITS, random_primes
from dbsim.hashing.keys import Plan
from dbsim.hashing.measures import common, distinct
from dbsim.text.arithmetic import LANE, Hashes
from dbsim.text.features import Analyser, Features
from dbsim.text.short import WIDE, Shingles, ShortTexts, narrow, widened
from dbsim.text.slots import SLOT, combine

HALVES = [1 << power for power in range(16, 10, -1)]  # the longest text has 2¹⁷ bits
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
        self,
        analyser: Analyser,
        bits: int,
        plan: Plan,
        secret: bytes,
        looked_up: Callable[[Sequence[bytes]], Hashes],
    ) -> None:
        self.shingles = ShortTexts(analyser, looked_up).shingles
        self._primes = random_primes(secret)
        # Dividing is the dear part of a fingerprint: halved a few times, by what 2^place leaves, the number of 250
        # words takes 2.4 µs instead of 3.7.
        modulus = self._primes[0] * self._primes[1]
        self._halves = [(place, pow(2, place, modulus), (1 << place) - 1) for place in HALVES]
        self._bits, self._plan = bits, plan
        self._shift = np.array(LANE - (bits.bit_length() - 1), np.uint32)
        # where the parts of the range begin that `scale` makes, and where the last one ends
        ends = (-(-place * 2**LANE // plan.positions) << WIDE for place in range(plan.positions + 1))
        self._bounds = np.fromiter(ends, np.uint64, plan.positions + 1)
        self._rows = np.arange(plan.positions).reshape(plan.keys, plan.rows).T.reshape(-1)

    def sign(self, text: str) -> One | None:
        found = self.shingles(text)
        if found is None:
            return None
        marks = np.zeros(self._bits, np.uint8)
        marks[found.low >> self._shift] = 1
        bits = np.packbits(marks).tobytes()
        bits_set = int.from_bytes(bits, "big").bit_count()
        return One(self._fingerprint(found), self._keys(found), bits, bits_set, found)

    def compare(self, question: Shingles, texts: Iterable[str]) -> list[tuple[float, int]] | None:
        """The exact Jaccard similarity of each text, and its fingerprint; None if one is too long or too short."""
        mine, compared = distinct(question.wide), []
        for text in texts:
            found = self.shingles(text)
            if found is None:
                return None
            other = distinct(found.wide)
            shared = common(mine, other)
            similarity = shared / (len(mine) + len(other) - shared)
            compared.append((round(similarity * ROUNDING) / ROUNDING, self._fingerprint(found)))
        return compared

    def _fingerprint(self, shingles: Shingles) -> int:
        number = int.from_bytes(shingles.words[::-1].astype("<u8").tobytes() + b"\1", "little")
        for place, rest, lower in self._halves:
            if upper := number >> place:
                number = upper * rest + (number & lower)
        first, second = self._primes
        return (number % first) << PRIME_BITS | number % second

    def _keys(self, shingles: Shingles) -> tuple[int, ...]:
        """`band` of the minima, which are ordered by their rows."""
        keys, minima = self._plan.keys, self._minima(shingles)
        if self._plan.rows == 1:
            return tuple(narrow(minima).tolist())
        width, digits = SLOT // 8 * keys, minima.astype("<u8", copy=False).tobytes()
        columns = [int.from_bytes(digits[row : row + width], "little") for row in range(0, len(digits), width)]
        combined = combine(columns, keys, WIDE)
        return tuple(np.frombuffer(combined.to_bytes(width, "little"), "<i8").tolist())

    def _minima(self, shingles: Shingles) -> Hashes:
        """The smallest of every part, where none is empty: the first one behind the beginning of the part."""
        ordered = shingles.wide.copy()
        ordered.sort()
        starts = ordered.searchsorted(self._bounds)
        if len(set(starts.tolist())) == len(starts):
            return ordered.take(starts.take(self._rows))
        found = signature(Features(narrow(shingles.wide), np.array([0, len(ordered)])), self._plan.positions)[0]
        return widened(found).take(self._rows)

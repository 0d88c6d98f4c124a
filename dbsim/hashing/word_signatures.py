"""Superimposed coding (signature list; Potthast 2006, §2.2.2): token hashes → documents × bits; words → bits asked for.

A document's signature is the OR of its words' signatures, each of t bits of m. A document with d different words holds
a foreign word's signature with P = (1 - e^(-d·t/m))^t; for d words it is least at t = m·ln 2/d, where half of the bits
are set and P = 2^-t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes, high_lane, low_lane, scale
from dbsim.text.tokens import Tokens

LN2 = math.log(2.0)
SMALLEST, LARGEST = 64, 1 << 16  # bits of a signature
MOST_BITS = 32  # of a word
SURELY = 2.33  # standard errors of a sample's mean that the table's mean lies below in 99 of 100 cases
REMEMBERED = 1000  # of words that were asked for
AT_ONCE = 1 << 22  # bits of signatures made at once, a byte each


@dataclass(frozen=True)
class WordSignature:
    """`bits` of a document's signature, of which a word sets `per_word` (some may coincide)."""

    bits: int
    per_word: int

    def __post_init__(self) -> None:
        if self.bits % 64 or not SMALLEST <= self.bits <= LARGEST:
            raise ValueError(f"a signature of {self.bits} bits is not possible: use a multiple of 64 up to {LARGEST}")
        if not 1 <= self.per_word <= MOST_BITS:
            raise ValueError(f"a word sets 1 to {MOST_BITS} bits, not {self.per_word}")

    def places(self, words: Hashes, wider: int = 0) -> NDArray[np.int64]:
        """words × per_word: double hashing from the two halves of a token's hash.

        Of a signature with 2^`wider` times the bits: place p here is one of the places p·2^wider … there.
        """
        first, second = low_lane(words), high_lane(words)
        steps = np.arange(self.per_word, dtype=np.uint64)
        # both lanes have 31 bits, so the sum stays below 2⁶⁴ for any number of steps allowed
        lanes = (first[:, None] + steps[None, :] * (second[:, None] | np.uint64(1))) & np.uint64((1 << 31) - 1)
        return scale(lanes, self.bits << wider).astype(np.int64)

    def sign(self, tokens: Tokens, wider: int = 0) -> NDArray[np.uint8]:
        """documents × bits/8, most significant bit first; with 2^`wider` times the bits."""
        bits = self.bits << wider
        step, documents = max(AT_ONCE // bits, 1), len(tokens.counts)
        made = np.zeros((documents, bits // 8), np.uint8)
        for start in range(0, documents, step):
            counts = tokens.counts[start : start + step]
            words = tokens.hashes[tokens.offsets[start] : tokens.offsets[start + len(counts)]]
            found = np.zeros((len(counts), bits), np.uint8)
            found[np.repeat(np.arange(len(counts)), counts)[:, None], self.places(words, wider)] = 1
            made[start : start + step] = np.packbits(found, axis=1)
        return made

    def question(self, words: Hashes) -> NDArray[np.uint8]:
        """bits/8: what a document that holds all these words must have set."""
        found = np.zeros(self.bits, np.uint8)
        found[self.places(words).reshape(-1)] = 1
        return np.packbits(found)

    def false_drops(self, words: NDArray[np.int64] | float) -> NDArray[np.float64]:
        """P of a document of so many different words to hold a word it has not."""
        return np.asarray((1.0 - np.exp(-np.asarray(words, float) * self.per_word / self.bits)) ** self.per_word)

    def realised(self, signatures: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same of documents as they were signed, by the bits that are set: documents × bits/64 → documents."""
        filled = np.bitwise_count(signatures.view(np.uint64)).sum(axis=1, dtype=np.int64) / self.bits
        return np.asarray(filled**self.per_word)


def as_numbers(signatures: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Documents × bits/64, signed: what a column of a table holds."""
    return np.ascontiguousarray(signatures).view(">i8").astype(np.int64)


def turned(places: NDArray[np.int64], signatures: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Bit slices: for every bit of the signatures the places that have it, as bits; bits × places/8, in whole 64s.

    `signatures` has 64-bit words, a row for each of `places`; where there is no row, there is no bit.
    """
    rows = -(-(int(places.max()) + 1) // 64) * 64 if len(places) else 64
    bits = np.zeros((rows, 64 * signatures.shape[1]), np.uint8)
    bits[places] = np.unpackbits(np.ascontiguousarray(signatures).astype(">i8").view(np.uint8), axis=1)
    return np.packbits(np.ascontiguousarray(bits.T), axis=1)


def contained(question: NDArray[np.uint8], signatures: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which signatures have all bits of the question."""
    return np.asarray(((signatures & question) == question).all(axis=1))


def choose_signature(words: NDArray[np.int64], wanted: float, most: int = LARGEST, share: float = 1.0) -> WordSignature:
    """Bits and bits a word for a table whose documents have so many different words: the mean rate is `wanted`.

    The formula's optimum holds for one length. Lengths vary, and long documents drop far more often than short ones
    less often, so m grows from the optimum of the mean length until the mean of P over the lengths is low enough. Of a
    sample, a `share` of the table, it is the mean that the table surely keeps to: few long texts are most of it.
    """
    if not 0 < wanted < 1:
        raise ValueError(f"a false-drop rate of {wanted} is not possible: use a number between 0 and 1")
    lengths = words[words > 0]
    if not len(lengths):
        return WordSignature(SMALLEST, 1)
    margin = SURELY * math.sqrt((1.0 - share) / len(lengths))
    best = min(max(round(-math.log2(wanted)), 1), MOST_BITS)
    bits = min(_whole(best * float(lengths.mean()) / LN2), most)
    while True:
        settings = (WordSignature(bits, count) for count in range(1, min(best + 3, MOST_BITS) + 1))
        rate, found = min(((_most_drops(one.false_drops(lengths), margin), one) for one in settings), key=itemgetter(0))
        if rate <= wanted or bits >= most:
            return found
        bits = min(_whole(bits * 1.05), most)


def _most_drops(rates: NDArray[np.float64], margin: float) -> float:
    return float(rates.mean() + margin * rates.std())


def _whole(bits: float) -> int:
    return min(max(math.ceil(bits / 64) * 64, SMALLEST), LARGEST)


class Marks:
    """What the signature of a text must have set that has certain words; remembered, as they are asked for again."""

    def __init__(self, fields: Sequence[WordSignature | None], hashed: Callable[[bytes], Hashes]) -> None:
        """`hashed`: the words of a folded text as token hashes."""
        self._fields, self._hashed = fields, hashed
        self._marks: dict[tuple[int, bytes], NDArray[np.int64]] = {}
        self._places: dict[tuple[int, bytes, int], list[int]] = {}

    def places(self, field: int, folded: bytes, wider: int = 0) -> list[int]:
        """The bits that are set, in order."""
        known = self._places.get((field, folded, wider))
        if known is None:
            known = np.unique(self._of(field).places(self._hashed(folded), wider)).tolist()
            if len(self._places) >= REMEMBERED:
                self._places = {}
            self._places[field, folded, wider] = known
        return known

    def mark(self, field: int, folded: bytes) -> NDArray[np.int64]:
        """The same as signed 64-bit numbers."""
        known = self._marks.get((field, folded))
        if known is None:
            known = as_numbers(self._of(field).question(self._hashed(folded))[None, :]).reshape(-1)
            if len(self._marks) >= REMEMBERED:
                self._marks = {}
            self._marks[field, folded] = known
        return known

    def _of(self, field: int) -> WordSignature:
        words = self._fields[field]
        assert words is not None
        return words

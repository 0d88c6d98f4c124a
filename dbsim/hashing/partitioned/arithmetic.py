"""Bloom filters as in Kampf's sketch: text → n-gram indexes → k parts of prime length (pure numpy).

Text is folded to 37 symbols, padded and cut into n-grams, each a number below 38^n found from the one before. A filter
has k parts of p bits, p prime; n-gram x sets in part j the bit (x mod p + j·(x mod (p-2) + 1)) mod p. Sizes follow from
the expected length of the text and the false-positive rate. Nothing of it is keyed: who knows the method can test
names against a filter, which is why it is not what an index stores unless asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from dbsim.text.normalisers.registry import normaliser_of

ALPHABET = "_abcdefghijklmnopqrstuvwxyz0123456789"  # the first one fills
BASE = len(ALPHABET)
HALF = 0.6185  # 2^(-ln 2): the rate falls by it with every bit a word, half of the bits being set
Numbers = NDArray[np.int64]
Bits = NDArray[np.bool_]

_PLACES = np.zeros(256, np.int64)
_PLACES[np.frombuffer(ALPHABET.encode(), np.uint8)] = np.arange(BASE)


@dataclass(frozen=True)
class Shape:
    """`parts` disjoint parts of `length` bits each, one hash function a part."""

    parts: int
    length: int

    @property
    def bits(self) -> int:
        return self.parts * self.length

    def rate(self, words: int) -> float:
        """Of false positives when so many words are in it."""
        return float((1 - np.exp(-self.parts * words / self.bits)) ** self.parts)

    def collisions(self, words: int) -> float:
        """The source's own model of the bit-collision rate δ (§4.8)."""
        return float((1 - np.exp(-0.75 * words / self.length)) ** self.parts)


def shape_for(characters: int, size: int, rate: float) -> Shape:
    """§4.5 and §4.6: the fewest bits a word with this rate, as many parts as then are best, the next prime below."""
    if not 0 < rate < 1 or characters < 1 or size < 1:
        raise ValueError("a filter needs characters and a size of n-grams from 1 on, and a rate between 0 and 1")
    words = characters + size - 1
    per_word = max(int(np.ceil(np.log(rate) / np.log(HALF))), 2)
    parts = hashes_for(per_word)
    return Shape(parts, _prime_up_to(max(per_word * words // parts, 5)))


def hashes_for(per_word: float) -> int:
    """The best number of hash functions for so many bits a word."""
    return int(np.floor(per_word * np.log(2) + 0.5))


def folded(text: str) -> str:
    """In the alphabet: without marks, ä → ae, ß → ss; what has no symbol becomes the filler."""
    plain = normaliser_of("german@1").fold(text).decode("utf-8", "replace")
    return "".join(letter if letter in ALPHABET else ALPHABET[0] for letter in plain)


def grams(text: str, size: int) -> list[str]:
    """Of a folded text, padded: c characters give c + n - 1."""
    if not text:
        return []
    padded = ALPHABET[0] * (size - 1) + text + ALPHABET[0] * (size - 1)
    return [padded[place : place + size] for place in range(len(padded) - size + 1)]


def indexes(text: str, size: int) -> Numbers:
    """Σ (Ord + 1)·37^(n-j-1) of every n-gram of a folded text, each from the one before (§3.4, with the + 1)."""
    if not text:
        return np.empty(0, np.int64)
    padded = ALPHABET[0] * (size - 1) + text + ALPHABET[0] * (size - 1)
    symbols = _PLACES[np.frombuffer(padded.encode("ascii"), np.uint8)] + 1
    first = int(reduce(lambda total, one: total * BASE + int(one), symbols[:size].tolist(), 0))
    found, gone = [first], BASE**size
    for old, new in zip(symbols[: len(symbols) - size].tolist(), symbols[size:].tolist(), strict=True):
        found.append(found[-1] * BASE - old * gone + new)
    return np.array(found, np.int64)


def positions(words: Numbers, shape: Shape) -> Numbers:
    """Words × parts: the bit of the whole filter that each word sets in each part."""
    prime = shape.length
    first, step = words % prime, words % (prime - 2) + 1
    part = np.arange(shape.parts)
    return np.asarray((first[:, None] + part * step[:, None]) % prime + part * prime)


def filter_of(words: Numbers, shape: Shape) -> Bits:
    bits = np.zeros(shape.bits, bool)
    bits[positions(words, shape).reshape(-1)] = True
    return bits


def contains(bits: Bits, word: int, shape: Shape) -> bool:
    """Whether a word may be in it; never False for one that is."""
    return bool(bits[positions(np.array([word], np.int64), shape)].all())


def merged(filters: Sequence[Bits]) -> Bits:
    """Filters of fields with equal weight as one: all of one shape, their words in one set."""
    if len({len(one) for one in filters}) != 1:
        raise ValueError("only filters of one shape can be merged: make them for the same length and rate")
    return np.asarray(np.logical_or.reduce(list(filters)), bool)


# ── similarity ──
def raw(a: Bits, b: Bits) -> float:
    """|A ∧ B| / |A ∨ B|; 0 when both are empty."""
    either = int((a | b).sum())
    return int((a & b).sum()) / either if either else 0.0


def corrected(a: Bits, b: Bits, shape: Shape, words: int) -> float:
    """§4.7: times (1 + δ²)/(1 + 2δ - δ²), δ for so many words in a filter."""
    rate = shape.collisions(words)
    return raw(a, b) * (1 + rate**2) / (1 + 2 * rate - rate**2)


def estimated(a: Bits, b: Bits, shape: Shape) -> float:
    """From the numbers of words that so many set bits tell of: (n(A) + n(B) - n(A ∪ B)) / n(A ∪ B), from 0 to 1."""
    one, two, both = (_words(int(bits.sum()), shape) for bits in (a, b, a | b))
    return float(np.clip((one + two - both) / both, 0.0, 1.0)) if both else 0.0


def profile(similarities: Sequence[float], weights: Sequence[float]) -> float:
    """§4.9: Σ g·J with Σ g = 1."""
    return float(np.dot(similarities, weights) / np.sum(weights))


def _words(count: int, shape: Shape) -> float:
    """A full filter tells of as many as one bit less would."""
    return -shape.length * float(np.log(1 - min(count, shape.bits - 1) / shape.bits))


def _prime_up_to(number: int) -> int:
    return next(one for one in range(number, 1, -1) if all(one % d for d in range(2, int(one**0.5) + 1)))

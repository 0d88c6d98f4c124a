"""Rabin's fingerprint of the normalised text (x mod random primes), for exact copies: Tokens per field → int64.

The text is read as one large number whose digits are the 62-bit hashes of its tokens, and reduced by two random primes
of 30 bits: small enough for a fast division here and for PostgreSQL's bigint. The digits are keyed, so that two
different texts collide with probability 2⁻⁶⁰, whoever wrote them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes, modulo
from dbsim.text.tokens import Tokens

PRIME_BITS = 30
DIGIT = 2**64
FIELD_END = DIGIT - 1  # no token hash has its two highest bits set
FEW = 8  # documents for which Python's large integers are faster than arrays
LONG = 1 << 16  # tokens: a longer text is not worth a table of powers
PIECE = 1 << 14  # tokens read as one integer


def fingerprints(fields: Sequence[Tokens], secret: bytes) -> NDArray[np.int64]:
    """One number below 2⁶⁰ per document; equal normalised fields give equal numbers."""
    primes = random_primes(secret)
    documents = len(fields[0].offsets) - 1
    if documents <= FEW or max(int(tokens.counts.max()) for tokens in fields) > LONG:
        return np.fromiter(_by_integers(fields, primes), np.int64, documents)
    first, second = (_remainders(fields, np.uint64(prime)) for prime in primes)
    return (first << np.uint64(PRIME_BITS) | second).astype(np.int64)


def _by_integers(fields: Sequence[Tokens], primes: tuple[int, int]) -> Iterator[int]:
    """int.from_bytes and % are linear in C; a long text is read in pieces, each after the remainder of those before."""
    first, second = primes
    at_once = [tokens.piece(0, tokens.offsets[-1]) if tokens.offsets[-1] <= PIECE else None for tokens in fields]
    for document in range(len(fields[0].offsets) - 1):
        number = 1
        for field, tokens in enumerate(fields):
            if field:
                number = number * DIGIT + FIELD_END
            start, stop = int(tokens.offsets[document]), int(tokens.offsets[document + 1])
            for piece in range(start, stop, PIECE):
                end, hashes = min(piece + PIECE, stop), at_once[field]
                found = tokens.piece(piece, end) if hashes is None else hashes[piece:end]
                digits = found.astype(">u8").tobytes()
                number = int.from_bytes((number % (first * second)).to_bytes(8, "big") + digits, "big")
        yield (number % first) << PRIME_BITS | number % second


def _remainders(fields: Sequence[Tokens], prime: np.uint64) -> Hashes:
    """The numbers modulo one prime, field after field; nothing exceeds 2⁶¹."""
    value = np.ones(len(fields[0].offsets) - 1, np.uint64)
    for field, tokens in enumerate(fields):
        if field:
            value = modulo(value * _powers(int(prime), 2)[1] + np.uint64(FIELD_END % int(prime)), prime)
        powers = _powers(int(prime), 1 << int(tokens.counts.max()).bit_length())
        value = modulo(value * powers[tokens.counts] + _digits(tokens, powers, prime), prime)
    return value


def _digits(tokens: Tokens, powers: Hashes, prime: np.uint64) -> Hashes:
    """Σ hash · DIGIT^(tokens after it) of each document."""
    after = np.repeat(tokens.offsets[1:], tokens.counts)
    after -= np.arange(1, len(after) + 1)
    terms = modulo(tokens.hashes, prime)
    terms *= powers.take(after)
    found = np.zeros(len(tokens.offsets) - 1, np.uint64)
    there = tokens.counts > 0
    if there.any():
        found[there] = np.add.reduceat(modulo(terms, prime), tokens.offsets[:-1][there])  # LONG of them are below 2⁴⁶
    return modulo(found, prime)


@lru_cache(maxsize=128)
def _powers(prime: int, count: int) -> Hashes:
    """Of DIGIT, modulo the prime."""
    found = np.ones(count, np.uint64)
    known = 1
    while known < count:
        step = np.uint64(pow(DIGIT, known, prime))
        found[known : 2 * known] = modulo(found[: min(known, count - known)] * step, np.uint64(prime))
        known *= 2
    return found


@lru_cache(maxsize=64)
def random_primes(secret: bytes) -> tuple[int, int]:
    """The first primes after two numbers of 30 bits drawn from the secret; the lower one starts below 3·2²⁸."""
    digest = hashlib.sha256(secret + b"rabin").digest()
    starts = (int.from_bytes(digest[place : place + 4], "big") >> 4 for place in (0, 4))
    first, second = (start % 2**28 + base for start, base in zip(starts, (2**29, 3 * 2**28), strict=True))
    return _next_prime(first), _next_prime(second)


def _next_prime(number: int) -> int:
    while not is_prime(number):
        number += 1
    return number


def is_prime(number: int) -> bool:
    """Miller-Rabin with the bases that decide every number below 3.3·10²⁴ (Sorenson and Webster 2015)."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(base, number, odd, twos) for base in bases)


def _passes(base: int, number: int, odd: int, twos: int) -> bool:
    value = pow(base, odd, number)
    if value in (1, number - 1):
        return True
    for _ in range(twos - 1):
        value = value * value % number
        if value == number - 1:
            return True
    return False

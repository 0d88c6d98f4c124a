"""Rabin's fingerprint of the normalised text (x mod random primes), for exact copies: Tokens per field → int64.

The text is read as one large number whose digits are the 62-bit hashes of its tokens, and reduced by two random primes
of 30 bits: small enough for a fast division here and for PostgreSQL's bigint. The digits are keyed, so that two
different texts collide with probability 2⁻⁶⁰, whoever wrote them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dbsim.text.tokens import Tokens

PRIME_BITS = 30
FIELD_END = b"\xff" * 8  # no token hash has its two highest bits set


def fingerprints(fields: Sequence[Tokens], secret: bytes) -> NDArray[np.int64]:
    """One number below 2⁶⁰ per document; equal normalised fields give equal numbers."""
    first, second = random_primes(secret)
    digits = [(tokens.hashes.astype(">u8").tobytes(), (tokens.offsets * 8).tolist()) for tokens in fields]
    documents = len(fields[0].offsets) - 1
    if len(digits) == 1:
        data, offsets = digits[0]
        texts = (data[offsets[i] : offsets[i + 1]] for i in range(documents))
    else:
        texts = (
            FIELD_END.join(data[offsets[i] : offsets[i + 1]] for data, offsets in digits) for i in range(documents)
        )
    # int.from_bytes and % are linear in C; numpy has no number wider than 64 bits
    numbers = (int.from_bytes(b"\x01" + text, "big") for text in texts)
    return np.fromiter(((x % first) << PRIME_BITS | x % second for x in numbers), np.int64, documents)


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

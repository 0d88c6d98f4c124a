"""Rabin fingerprints: the prime, the formula with Python's integers, and what must be equal or different."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.hashing.fingerprint import fingerprints, is_prime, random_primes
from dbsim.text.features import Analyser
from dbsim.text.normalise import fold, normalise
from dbsim.text.tokens import TokenHasher
from tests.unit.test_tokens import SECRET, any_text, words_by_loop

WORDS = Analyser()
few_words = st.lists(st.sampled_from(["a", "b", "ab", "c", "bc", "Ä", "Straße", "!"]), max_size=4).map(" ".join)


def sign(*columns: list[str], analyser: Analyser = WORDS, secret: bytes = SECRET) -> list[int]:
    """Fingerprints of documents given as one list of texts per field."""
    hasher = TokenHasher(secret)
    return [int(value) for value in fingerprints([analyser.tokens(column, hasher) for column in columns], secret)]


# The prime


def test_is_prime_against_a_sieve() -> None:
    limit = 50_000
    sieve = np.ones(limit, bool)
    sieve[:2] = False
    for number in range(2, int(limit**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = False
    assert [is_prime(number) for number in range(limit)] == sieve.tolist()


@pytest.mark.parametrize(
    "prime", [2**31 - 1, 2**61 - 1, 2**62 - 57, 2**63 - 25, 2**64 - 59, 998_244_353, 1_000_000_007]
)
def test_large_primes(prime: int) -> None:
    assert is_prime(prime)


# Strong pseudoprimes: the least to the first 1, 2, … 9 and 12 prime bases (OEIS A014233), then Carmichael numbers,
# squares of primes and products of two large primes.
@pytest.mark.parametrize(
    "composite",
    [
        2047,
        1_373_653,
        25_326_001,
        3_215_031_751,
        2_152_302_898_747,
        3_474_749_660_383,
        341_550_071_728_321,
        3_825_123_056_546_413_051,
        318_665_857_834_031_151_167_461,
        561,
        1729,
        118_901_521,
        172_947_529,
        (2**31 - 1) ** 2,
        998_244_353 * 1_000_000_007,
        2**62 - 1,
        43 * 43,
        -7,
        0,
        1,
    ],
)
def test_composites_and_pseudoprimes(composite: int) -> None:
    assert not is_prime(composite)


@pytest.mark.parametrize("secret", [b"", b"a", SECRET, b"\xff" * 16])
def test_random_primes_have_30_bits_and_are_the_next(secret: bytes) -> None:
    digest = hashlib.sha256(secret + b"rabin").digest()
    for prime, place, base in zip(random_primes(secret), (0, 4), (2**29, 3 * 2**28), strict=True):
        start = base + (int.from_bytes(digest[place : place + 4], "big") >> 4)
        assert 2**29 < prime < 2**30
        assert is_prime(prime)
        assert not any(is_prime(number) for number in range(start, prime))


def test_each_secret_has_its_prime() -> None:
    assert len({random_primes(b"secret %d" % number) for number in range(200)}) == 200


# The formula


def fingerprint_by_integers(texts: list[str]) -> int:
    """Base 2⁶⁴, a leading 1, a digit of ones between two fields; modulo the prime."""
    number = 1
    for place, text in enumerate(texts):
        if place:
            number = number * 2**64 + 2**64 - 1
        for digit in words_by_loop(text):
            number = number * 2**64 + digit
    first, second = random_primes(SECRET)
    return number % first * 2**30 + number % second


@given(st.lists(st.tuples(any_text | few_words, any_text | few_words, few_words), min_size=1, max_size=5))
def test_against_the_formula(rows: list[tuple[str, str, str]]) -> None:
    for fields in (1, 2, 3):
        columns = [[row[field] for row in rows] for field in range(fields)]
        found = sign(*columns)
        assert found == [fingerprint_by_integers(list(row[:fields])) for row in rows]
        assert all(0 <= value < 2**62 for value in found)


@given(st.lists(any_text | few_words, min_size=2))
def test_equal_exactly_when_the_normalised_texts_are_equal(texts: list[str]) -> None:
    found, normalised = sign(texts), [normalise(text) for text in texts]
    for i in range(len(texts)):
        for j in range(i):
            assert (found[i] == found[j]) == (normalised[i] == normalised[j])


@given(st.lists(st.tuples(few_words, few_words), min_size=2, max_size=8))
def test_field_boundaries_count(rows: list[tuple[str, str]]) -> None:
    found = sign([row[0] for row in rows], [row[1] for row in rows])
    words = [(fold(row[0]).split(), fold(row[1]).split()) for row in rows]
    for i in range(len(rows)):
        for j in range(i):
            assert (found[i] == found[j]) == (words[i] == words[j])


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_text_may_not_move_from_one_field_to_the_next(unit: str) -> None:
    rows = [
        ("ab", "c"),
        ("a", "bc"),
        ("a b", "c"),
        ("a", "b c"),
        ("a b c", ""),
        ("", "a b c"),
        ("abc", ""),
        ("", "abc"),
    ]
    found = sign([row[0] for row in rows], [row[1] for row in rows], analyser=Analyser(unit=unit, size=1))
    assert len(set(found)) == len(rows)


def test_ten_thousand_texts_have_ten_thousand_fingerprints() -> None:
    rng = random.Random(1)
    texts = {" ".join(rng.choices("abcdefghijklmnop", k=rng.randint(1, 30))) for _ in range(12_000)}
    chosen = sorted(texts)[:10_000]
    assert len(chosen) == 10_000
    assert len(set(sign(chosen))) == 10_000


def test_one_word_moved_repeated_or_dropped_is_another_text() -> None:
    texts = ["a b c", "a c b", "a b", "a a b c", "a b c c", "b c", "c b a", "abc"]
    assert len(set(sign(texts))) == len(texts)


def test_differences_that_normalisation_removes_do_not_count() -> None:
    assert len(set(sign(["Die Straße, nass!", "DIE STRASSE nass", " die  strasse\tnaß\n"]))) == 1


def test_another_secret_gives_other_fingerprints() -> None:
    assert sign(["the same text"]) != sign(["the same text"], secret=b"another")


def test_a_long_text_takes_linear_time_and_is_exact() -> None:
    text = "lorem ipsum dolor " * 20_000
    assert sign([text]) == [fingerprint_by_integers_fast(text)]


def fingerprint_by_integers_fast(text: str) -> int:
    """Horner's rule with a remainder a step: the same number without a long integer."""
    values, primes = [1, 1], random_primes(SECRET)
    for digit in words_by_loop(text):
        values = [(value * 2**64 + digit) % prime for value, prime in zip(values, primes, strict=True)]
    return values[0] * 2**30 + values[1]

"""Minima modulo random primes."""

from __future__ import annotations

import numpy as np
import pytest

from dbsim.hashing.families.minhash import EMPTY
from dbsim.hashing.families.rabin_minhash import RabinMinHash, primes, sketch
from dbsim.hashing.fingerprint import is_prime
from dbsim.text.features import Features
from tests.unit.family_helpers import assert_formula


@pytest.mark.parametrize("share", [0.02, 0.1, 0.2, 0.4, 0.7])
def test_rows_agree_with_the_probability_of_the_jaccard_similarity(share: float) -> None:
    assert_formula(RabinMinHash(), share)


def test_sketch_is_the_minimum_under_each_prime() -> None:
    hashes = np.random.default_rng(1).integers(0, 2**62, 50, dtype=np.uint64)
    found = sketch(Features(hashes, np.array([0, 20, 20, 50])), 30)
    for position, prime in enumerate(primes(30)):
        assert found[0, position] == min(int(value) % prime for value in hashes[:20])
        assert found[2, position] == min(int(value) % prime for value in hashes[20:])
    assert (found[1] == EMPTY).all()


def test_primes_are_distinct_primes_of_forty_bits() -> None:
    found = primes(200)
    assert len(set(found)) == 200
    assert all(is_prime(prime) and prime.bit_length() == 40 for prime in found)
    assert found[:20] == primes(20)

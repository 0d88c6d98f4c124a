"""Superimposed coding: nothing is lost, and foreign words drop as often as the formula says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsim.hashing.word_signatures import WordSignature, choose_signature, contained
from dbsim.text.tokens import TokenHasher

WORDS = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=8), min_size=1, max_size=8)


@given(WORDS, st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=3))
@settings(deadline=None)
def test_a_document_with_the_words_is_never_missed(documents: list[list[str]], asked: list[str]) -> None:
    hasher, signature = TokenHasher(b"secret"), WordSignature(64, 3)
    tokens = hasher.words([" ".join(words).encode() for words in documents])
    question = signature.question(hasher.words([" ".join(asked).encode()]).hashes)
    found = contained(question, signature.sign(tokens))
    for words, there in zip(documents, found, strict=True):
        assert there or not set(asked) <= set(words)


def test_formula_by_hand() -> None:
    """m = 1,000 ≈ t·d/ln 2 for t = 7 and d = 100: half of the bits set, P = 2⁻⁷."""
    assert WordSignature(64 * 16, 7).false_drops(101.4) == pytest.approx(2**-7, rel=0.01)
    assert WordSignature(64, 1).false_drops(64) == pytest.approx(1 - np.exp(-1))


@pytest.mark.parametrize(("bits", "per_word", "words"), [(512, 6, 60), (1024, 4, 200), (256, 2, 80)])
def test_measured_rate_is_the_formulas(bits: int, per_word: int, words: int) -> None:
    rng = np.random.default_rng(bits)
    hasher, signature = TokenHasher(b"secret"), WordSignature(bits, per_word)
    texts = [" ".join(f"w{n}" for n in rng.choice(100_000, words, replace=False)).encode() for _ in range(300)]
    signed = signature.sign(hasher.words(texts))
    asked = [signature.question(hasher.words([f"foreign{n}".encode()]).hashes) for n in range(100)]
    rate = np.mean([contained(question, signed) for question in asked])
    expected = float(signature.false_drops(words))
    assert rate == pytest.approx(expected, rel=0.25, abs=4 * np.sqrt(expected / 30_000))


@pytest.mark.parametrize("wanted", [0.2, 0.01, 0.0005])
def test_the_chosen_signature_reaches_the_wanted_rate_over_varying_lengths(wanted: float) -> None:
    lengths = np.maximum(np.random.default_rng(8).lognormal(4, 0.8, 2000), 1).astype(np.int64)
    chosen = choose_signature(lengths, wanted)
    assert chosen.false_drops(lengths).mean() <= wanted
    smaller = [WordSignature(chosen.bits * 3 // 4 // 64 * 64, count) for count in range(1, 13)]
    assert all(one.false_drops(lengths).mean() > wanted for one in smaller)


def test_one_length_gives_the_sources_optimum() -> None:
    """P = 0.01 → t = 7, m ≈ t·d/ln 2."""
    chosen = choose_signature(np.full(100, 1000), 2**-7)
    assert chosen.per_word == 7
    assert chosen.bits == pytest.approx(7 * 1000 / np.log(2), rel=0.06)


def test_more_bits_never_drop_more() -> None:
    rates = [float(choose_signature(np.array([50]), wanted).false_drops(50)) for wanted in (0.3, 0.1, 0.03, 0.01)]
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("setting", [(100, 3), (64, 0), (1 << 17, 3)])
def test_impossible_settings_are_refused(setting: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"possible|word sets"):
        WordSignature(*setting)

"""Superimposed coding: nothing is lost, and foreign words drop as often as the formula says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dbsim.hashing import word_signatures
from dbsim.hashing.word_signatures import WordSignature, as_numbers, choose_signature, contained
from dbsim.search.containing.looking import FieldTexts, Run
from dbsim.text.normalisers.registry import normaliser_of
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


def test_the_realised_rate_counts_set_bits() -> None:
    """64 of 128 bits set and 3 bits a word: one word in eight; all set: every word; none set: no word."""
    signed = np.array([[-1, 0], [-1, -1], [0, 0]], np.int64)
    assert WordSignature(128, 3).realised(signed).tolist() == [0.125, 1.0, 0.0]


def test_the_realised_rate_is_the_share_of_foreign_words_that_pass() -> None:
    hasher, signature = TokenHasher(b"secret"), WordSignature(256, 3)
    texts = [" ".join(f"w{n}" for n in range(start, start + 10 + 7 * start)).encode() for start in range(30)]
    signed = signature.sign(hasher.words(texts))
    asked = [signature.question(hasher.words([f"foreign{n}".encode()]).hashes) for n in range(400)]
    rate = np.mean([contained(question, signed) for question in asked])
    assert signature.realised(as_numbers(signed)).mean() == pytest.approx(rate, abs=0.03)


def test_long_documents_decide_the_bits_a_word_where_there_is_no_room() -> None:
    """The optimum of one length would fill the signatures of the long ones: 10 bits a word, rate 0.05."""
    lengths = np.array([100] * 95 + [5000] * 5)
    chosen = choose_signature(lengths, 0.001, most=1 << 14)
    rates = {count: float(WordSignature(1 << 14, count).false_drops(lengths).mean()) for count in range(1, 14)}
    assert chosen == WordSignature(1 << 14, min(rates, key=lambda count: rates[count]))


def test_a_sample_is_trusted_less_than_a_table() -> None:
    lengths = np.maximum(np.random.default_rng(8).lognormal(4, 0.8, 200), 1).astype(np.int64)
    sizes = [choose_signature(lengths, 0.01, share=share).bits for share in (1.0, 0.5, 0.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_signatures_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = TokenHasher(b"secret").words([b"a b", b"", b"c", b"a c d", b""])
    whole = WordSignature(64, 3).sign(tokens)
    monkeypatch.setattr(word_signatures, "AT_ONCE", 128)
    assert np.array_equal(WordSignature(64, 3).sign(tokens), whole)


TEXTS = st.text(alphabet="abAB19 ,-_'\\\n\u00e4\u00df\u0130\u0301\u20ac", max_size=12)


@pytest.mark.parametrize("name", ["text", "german", "symbols", "digits"])
@settings(deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), asked=st.one_of(TEXTS, st.sampled_from(["a", "b a", "1"])))
@example(texts=["b", "a", "b a", "1b a", "b a1", "b a b a", "xb a b a"], asked="b a")  # no run lies in two texts
@example(texts=["ab", "a", "ba", "a-b", "", "A"], asked="a")
def test_a_text_has_the_words_that_its_folded_form_has(name: str, texts: list[str], asked: str) -> None:
    normaliser = normaliser_of(name)
    run = b" ".join(normaliser.tokens(asked))
    expected = [
        place
        for place, text in enumerate(texts)
        if run and b" %b " % run in b" %b " % b" ".join(normaliser.tokens(text))
    ]
    assert sorted(FieldTexts(normaliser, texts).having(Run(run))) == expected


@pytest.mark.parametrize("setting", [(100, 3), (64, 0), (1 << 17, 3)])
def test_impossible_settings_are_refused(setting: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"possible|word sets"):
        WordSignature(*setting)

"""The worked examples of Kampf's sketch, cell by cell; where the print is wrong the test says which cell, and why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.sources.bloom import PRINTED_RATES, PRINTED_TRIGRAMS
from dbsim.hashing.partitioned.arithmetic import (
    ALPHABET,
    Shape,
    contains,
    corrected,
    estimated,
    filter_of,
    folded,
    grams,
    hashes_for,
    indexes,
    merged,
    positions,
    profile,
    raw,
    shape_for,
)

ERIKA = dict(zip(grams("erika", 3), indexes("erika", 3).tolist(), strict=True))
# (printed, by the formula that the print itself gives): three cells of seven
WRONG_TRIGRAMS = {"__e": (1591, 1412), "eri": (8280, 8927), "rik": (26467, 26393)}
WORDS = st.text(alphabet=ALPHABET[1:], min_size=1, max_size=25)


def test_erikas_trigrams() -> None:
    assert list(ERIKA) == ["__e", "_er", "eri", "rik", "ika", "ka_", "a__"]
    wrong = {gram: (PRINTED_TRIGRAMS[gram], found) for gram, found in ERIKA.items() if PRINTED_TRIGRAMS[gram] != found}
    assert wrong == WRONG_TRIGRAMS


@settings(max_examples=60, deadline=None)
@given(WORDS, st.integers(1, 4))
def test_the_rolling_index_is_the_formula(text: str, size: int) -> None:
    formula = [
        sum((ALPHABET.index(a) + 1) * 37 ** (size - j - 1) for j, a in enumerate(gram)) for gram in grams(text, size)
    ]
    assert indexes(text, size).tolist() == formula
    assert len(formula) == len(text) + size - 1


def test_the_filter_of_seven_bits() -> None:
    """§4.4: two hash functions, x mod 7 and x mod 6 + 1, on the indexes as printed."""
    printed = {  # hash1, hash2, the bits that are 1 in the row of the table
        "__e": (2, 2, {2}),
        "_er": (0, 3, {0, 3, 5}),
        "eri": (0, 2, {0, 2}),
        "rik": (0, 2, {0, 2}),
        "ika": (3, 1, {1, 3}),
        "ka_": (4, 4, {4}),
        "a__": (4, 5, {4, 5}),
        "abc": (4, 4, {1, 4}),
        "mno": (4, 4, {0, 1}),
    }
    words = {**PRINTED_TRIGRAMS, "abc": 2853, "mno": 19737}
    found = {gram: (x % 7, x % 6 + 1) for gram, x in words.items()}
    # 8280 mod 7 is 6 and 8280 mod 6 + 1 is 1; of the right index, 8927, they are 2 and 6
    assert {gram for gram in printed if found[gram] != printed[gram][:2]} == {"eri"}
    # _er has a third bit, abc and mno have one that no hash function sets
    assert {gram for gram in printed if {*found[gram]} != printed[gram][2]} == {"_er", "eri", "abc", "mno"}
    as_printed = {bit for gram in ERIKA for bit in printed[gram][:2]}
    assert as_printed == {0, 1, 2, 3, 4, 5}  # the row B_R: only B[6] stays 0
    assert {*found["abc"], *found["mno"]} == {4} <= as_printed  # so both are taken for members, against the print
    right = {bit for x in ERIKA.values() for bit in (x % 7, x % 6 + 1)}
    assert right == {0, 1, 2, 3, 4, 5, 6}  # with the right indexes nothing stays 0


def test_the_filter_of_301_bits() -> None:
    """§4.6: 30 characters, trigrams, at most 1 %: 320 bits in 7 parts, so 43 bits a part; once the print says 4x48."""
    shape = shape_for(30, 3, 0.01)
    assert (shape, shape.bits) == (Shape(7, 43), 301)
    assert shape.rate(32) == pytest.approx(0.01098, abs=5e-6)  # footnote 74 has 0.01096 for its own formula
    by_hand = set()
    for word in ERIKA.values():
        first, step = word % 43, word % 41 + 1
        for part in range(7):
            by_hand.add(part * 43 + first)
            first = (first + step) % 43
    assert set(np.flatnonzero(filter_of(indexes("erika", 3), shape)).tolist()) == by_hand


def test_the_table_of_rates() -> None:
    """§4.5: every cell is right; the rates are those of the rounded number of hash functions, not 0.6185^(m/n)."""
    for per_word, (hashes, rate) in PRINTED_RATES.items():
        assert hashes_for(per_word) == hashes
        assert Shape(hashes, 10_000 * per_word).rate(10_000 * hashes) == pytest.approx(rate, rel=0.003)


def test_the_appendix_differs_from_the_text() -> None:
    """§6.1 takes x mod (p-1) + 1 where §4.6 takes x mod (p-2) + 1: both give steps from 1 on, not the same ones."""
    assert {x % 41 + 1 for x in range(10_000)} == set(range(1, 42))
    assert {x % 42 + 1 for x in range(10_000)} == set(range(1, 43))
    word = np.array([ERIKA["eri"]])
    assert positions(word, Shape(7, 43))[0, 1] - 43 == (ERIKA["eri"] % 43 + ERIKA["eri"] % 41 + 1) % 43


def test_the_correction() -> None:
    """§4.7: 10 % of collisions take 15 % off, and lift a threshold of 75 % to 88 %."""
    factor = (1 + 0.1**2) / (1 + 2 * 0.1 - 0.1**2)
    assert 1 - factor == pytest.approx(0.151, abs=0.001)
    assert 0.75 / factor == pytest.approx(0.88, abs=0.005)
    shape = Shape(3, 37)
    same = filter_of(indexes("mustermann", 2), shape)
    assert corrected(same, same, shape, 11) < raw(same, same) == estimated(same, same, shape) == 1.0


def test_folding() -> None:
    assert folded("Müller-Lüdenscheidt") == "mueller_luedenscheidt"
    assert folded("Straße 5") == "strasse_5"
    assert set(folded("Ω € 日本 x")) <= set(ALPHABET)
    assert indexes("", 3).tolist() == grams("", 3) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4), WORDS)
def test_members_are_always_found_and_fields_merge(texts: list[str], other: str) -> None:
    shape = shape_for(25, 2, 0.05)
    filters = [filter_of(indexes(text, 2), shape) for text in texts]
    together = merged(filters)
    assert all(contains(together, word, shape) for text in texts for word in indexes(text, 2).tolist())
    assert (together == filter_of(np.concatenate([indexes(text, 2) for text in texts]), shape)).all()
    left, right = filters[0], filter_of(indexes(other, 2), shape)
    for similarity in (raw, lambda a, b: estimated(a, b, shape), lambda a, b: corrected(a, b, shape, 26)):
        assert similarity(left, right) == similarity(right, left)
        assert 0 <= similarity(left, right) <= similarity(left, left) <= 1


def test_the_cardinality_is_the_better_estimate() -> None:
    """Mean error over random pairs of 30 and 30 words with 20 in common, J = .5: raw reads too much."""
    rng, shape = np.random.default_rng(4), shape_for(30, 3, 0.1)
    found: dict[str, list[float]] = {"raw": [], "corrected": [], "estimated": []}
    for _ in range(200):
        words = rng.choice(50_000, 40, replace=False)
        a, b = filter_of(words[:30], shape), filter_of(words[10:], shape)
        found["raw"].append(raw(a, b) - 0.5)
        found["corrected"].append(corrected(a, b, shape, 30) - 0.5)
        found["estimated"].append(estimated(a, b, shape) - 0.5)
    error = {name: abs(float(np.mean(values))) for name, values in found.items()}
    assert error["estimated"] < 0.01 < error["raw"]
    assert error["estimated"] < error["corrected"]


def test_refusals_and_profiles() -> None:
    with pytest.raises(ValueError, match="one shape"):
        merged([np.zeros(3, bool), np.zeros(4, bool)])
    with pytest.raises(ValueError, match="rate between 0 and 1"):
        shape_for(30, 3, 1.0)
    assert profile([1.0, 0.5], [0.75, 0.25]) == 0.875

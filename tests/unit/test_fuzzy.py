"""Prefix classes, first-fit-decreasing, deviations and fuzzification."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsim.hashing.families.fuzzy import Fuzzy
from dbsim.hashing.families.shared.prefixes import LETTERS, combined, observed, prefixes, shipped, without
from dbsim.hashing.keys import Plan
from tests.unit.family_helpers import documents

WORDS = st.lists(st.text("abcxyz059é ", min_size=0, max_size=6), min_size=1, max_size=8)


def number(prefix: str) -> int:
    value = 0
    for letter in prefix:
        value = value * LETTERS + (ord(letter) - ord("a") + 1 if "a" <= letter <= "z" else 0)
    return value


@given(WORDS, st.integers(1, 3))
def test_prefixes_equal_a_loop(texts: list[str], length: int) -> None:
    expected = Counter()
    for document, text in enumerate(texts):
        for word in text.split():
            letters = ""
            for letter in word[:length]:
                if not "a" <= letter <= "z":
                    break
                letters += letter
            if letters:
                expected[document, number(letters.ljust(length, "-"))] += 1
    found = Counter(zip(*(part.tolist() for part in prefixes([text.encode() for text in texts], length)), strict=True))
    assert found == expected


@given(st.lists(st.floats(1e-6, 1.0), min_size=3, max_size=60), st.integers(1, 20))
@settings(max_examples=60)
def test_combined_classes_are_exactly_so_many_and_hold_every_prefix(masses: list[float], count: int) -> None:
    shares = np.array(masses) / sum(masses)
    if len(masses) < count:
        with pytest.raises(ValueError, match="cannot be made"):
            combined(shares, count)
        return
    classes = combined(shares, count)
    assert set(classes.tolist()) == set(range(count))
    assert (classes >= 0).all()


@pytest.mark.parametrize("language", ["english", "german"])
@pytest.mark.parametrize("count", [13, 26, 100])
def test_combined_classes_have_about_equal_mass(language: str, count: int) -> None:
    shares = shipped(language, 2)
    classes = combined(shares, count)
    masses = np.bincount(classes[classes >= 0], shares[classes >= 0])
    heavy = shares.max()  # one prefix cannot be divided
    assert masses.sum() == pytest.approx(1.0)
    assert masses.max() <= max(heavy, 1.6 / count)
    assert masses.min() > 0


def test_shipped_shares_are_those_of_the_languages() -> None:
    english, german = shipped("english", 1), shipped("german", 1)
    assert english.sum() == pytest.approx(1)
    assert german.sum() == pytest.approx(1)
    assert english[number("t")] > 0.12 > german[number("t")]
    assert german[number("d")] > 0.12 > english[number("d")]
    assert shipped("english", 2).reshape(LETTERS, LETTERS).sum(axis=1) == pytest.approx(english)
    with pytest.raises(ValueError, match="expected=table"):
        shipped("english", 3)


def test_key_is_the_number_of_the_intervals() -> None:
    """a: 3 of 4 words, b: 1 of 4, both expected half: deviations 0.5 and 0.5; then all a: 1 and 1."""
    family = Fuzzy(prefix=1, classes=2, schemes=1, deviation="absolute", expected="table")
    model = {
        "classes": np.array([-1, 0, 1, *[-1] * 24]),
        "masses": np.array([0.5, 0.5]),
    }
    found = family.keys(documents(["aa ab ac b", "a a", "a b", "b a a"]), Plan(2, 1), model)
    # scheme [0.2, 0.7]: 0.5 → 1, 1.0 → 2, 0 → 0, 1/3 → 1
    assert found[:, 0].tolist() == [1 + 3, 2 + 2 * 3, 0, 1 + 3]
    signed = Fuzzy(prefix=1, classes=2, schemes=1, deviation="signed", expected="table")
    assert signed.keys(documents(["a a", "a b"]), Plan(2, 1), model)[:, 0].tolist() == [2 + 0 * 3, 1 + 3]


def test_many_classes_are_hashed_into_one_key() -> None:
    rng = np.random.default_rng(2)
    texts = [" ".join("".join(rng.choice(list("abcdefgh"), 3)) for _ in range(200)) for _ in range(20)]
    family = Fuzzy(prefix=2, classes=60)
    made = documents(texts)
    model = family.fit(made, Plan(60, 2))
    keys = family.keys(made, Plan(60, 2), model)
    assert len(np.unique(keys[:, 0])) == 20
    assert (keys >= 0).all()
    assert (keys < 2**62).all()


def test_probes_move_the_class_closest_to_a_border() -> None:
    rng = np.random.default_rng(3)
    texts = [" ".join("".join(rng.choice(list("abcdefgh"), 3)) for _ in range(300)) for _ in range(10)]
    family, made = Fuzzy(prefix=1, classes=6), documents(texts)
    plan = family.plan(0.7, 0.95)
    model = family.fit(made, plan)
    found = family.probes(made, plan, model, 4)
    assert found.shape == (10, 2, 5)
    assert np.array_equal(found[:, :, 0], family.keys(made, plan, model))
    digits = [np.base_repr(key, 3).zfill(6) for key in found[0, 0].tolist()]
    changed = [sum(a != b for a, b in zip(digits[0], other, strict=True)) for other in digits[1:]]
    assert set(changed) <= {1, 2}
    assert changed[0] == 1


def test_observed_shares_count_every_text_the_same() -> None:
    shares = observed([b"a a a a a a a b", b"b"], 1)
    assert shares[number("a")] == pytest.approx(7 / 16)
    assert without(shares, 1, "b")[number("b")] == 0
    with pytest.raises(ValueError, match="no words"):
        observed([b"12 34", b""], 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"prefix": 4},
        {"classes": -1},
        {"intervals": 5},
        {"schemes": 9},
        {"expected": "french"},
        {"drop": "ä"},
        {"deviation": "square"},
        {"prefix": 3, "expected": "english"},
    ],
)
def test_impossible_settings(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not|are|use|has"):
        Fuzzy(**wrong)  # type: ignore[arg-type]

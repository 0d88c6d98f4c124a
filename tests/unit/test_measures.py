"""Exact measures and tf-idf vectors against plain Python."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.hashing.families.registry import family_of
from dbsim.hashing.keys import Plan
from dbsim.hashing.measures import jaccard, paired_jaccard
from dbsim.hashing.signer import FieldPlan, Signer
from dbsim.hashing.vectors import UNIT, fit_frequencies, inverse_frequency, vectors
from dbsim.text.features import Analyser
from tests.unit.family_helpers import documents, one

texts = st.text("ab ", max_size=12)
TEXTS = ["a b c d", "a b c d d", "b c x y z", "q r", "a a a a b", ""]


def by_hand(norm: float) -> list[dict[str, float]]:
    """tf·idf with idf = 1 + ln((1+n)/(1+df)), df 1 for words of one text, scaled to length one."""
    present = [text.split() for text in TEXTS if text]
    frequency = Counter(word for words in present for word in set(words))
    found = []
    for text in TEXTS:
        weights = {
            word: count * (1 + math.log((1 + len(present)) / (1 + frequency[word])))
            for word, count in Counter(text.split()).items()
        }
        length = sum(weight**norm for weight in weights.values()) ** (1 / norm)
        found.append({word: weight / length for word, weight in weights.items()})
    return found


@pytest.mark.parametrize(
    ("name", "norm", "measure"),
    [
        ("hyperplane", 2, lambda a, b: sum(a.get(w, 0) * b.get(w, 0) for w in a.keys() | b.keys())),
        (
            "gauss",
            2,
            lambda a, b: 1 - math.sqrt(sum((a.get(w, 0) - b.get(w, 0)) ** 2 for w in a.keys() | b.keys()) / 2),
        ),
        ("cauchy", 1, lambda a, b: 1 - sum(abs(a.get(w, 0) - b.get(w, 0)) for w in a.keys() | b.keys()) / 2),
        ("levy", 0.5, lambda a, b: 1 - sum(abs(a.get(w, 0) - b.get(w, 0)) ** 0.5 for w in a.keys() | b.keys()) / 2),
    ],
)
def test_vector_measures_equal_plain_python(name: str, norm: float, measure: object) -> None:
    made = documents(TEXTS)
    family = family_of(name)
    found = family.similarity(made, made, family.fit(made, Plan(1, 1)))
    expected = by_hand(norm)
    for i in range(5):
        for j in range(5):
            assert found[i, j] == pytest.approx(measure(expected[i], expected[j]), abs=1e-4)  # type: ignore[operator]
    assert (found[5] == 0).all()
    assert (found[:, 5] == 0).all()


def test_jaccard_and_hamming_equal_plain_python() -> None:
    made = documents(TEXTS)
    jaccard = family_of("minhash").similarity(made, made, {})
    bits = family_of("bitsampling").similarity(made, made, {})
    for i, a in enumerate(TEXTS):
        for j, b in enumerate(TEXTS):
            union = set(a.split()) | set(b.split())
            both = bool(a) and bool(b)
            assert jaccard[i, j] == pytest.approx(len(set(a.split()) & set(b.split())) / len(union) if both else 0)
            assert bits[i, j] == pytest.approx(1 - len(set(a.split()) ^ set(b.split())) / 1024 if both else 0)


def test_weights_are_whole_multiples_and_of_unit_length() -> None:
    made = documents(TEXTS)
    model = fit_frequencies(made)
    for norm in (0.5, 1.0, 2.0):
        matrix = vectors(made, model, norm).matrix
        assert np.array_equal(np.round(matrix.data * UNIT), matrix.data * UNIT)
        lengths = [sum(matrix[[row]].data ** norm) ** (1 / norm) for row in range(5)]
        assert lengths == pytest.approx(np.ones(5), abs=1e-4)


def test_weighted_fields_give_the_weighted_mean_of_their_cosines() -> None:
    fields = (FieldPlan(Analyser(size=1), 0.25, 256), FieldPlan(Analyser(size=1), 0.75, 256))
    left = documents(["a b c"], ["x y z"], fields=fields)
    right = documents(["a b d"], ["x q r"], fields=fields)
    family = family_of("hyperplane")
    # no frequencies: every term weighs the same
    model = fit_frequencies(documents([""], [""], fields=fields))
    assert family.similarity(left, right, model)[0, 0] == pytest.approx(0.25 * 2 / 3 + 0.75 / 3)
    swapped = documents(["x y z"], ["a b c"], fields=fields)
    assert family.similarity(left, swapped, model)[0, 0] == 0  # the same word in another field is another term


def test_frequent_terms_weigh_less_and_unknown_ones_most() -> None:
    made = documents(["the a", "the b", "the c", "the a"])
    model = fit_frequencies(made)
    terms = [int(one(made, 0).fields[0].tokens.hashes[place]) for place in (0, 1)]
    the, a, unknown = inverse_frequency(np.array([*terms, 12345], np.uint64), model).tolist()
    assert the == pytest.approx(1.0)
    assert the < a < unknown
    assert model["frequencies"].tolist() in ([4, 2], [2, 4])
    assert model["documents"].tolist() == [4]


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), st.data())
def test_some_pairs_equal_all_pairs(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    fields = [FieldPlan(Analyser(size=2), 1.0, 64), FieldPlan(Analyser(size=1), 0.3, 64)]
    signer = Signer(fields, "minhash@1", Plan(1, 1), b"secret")
    documents = signer.documents(list(zip(*rows, strict=True)))
    number = st.integers(0, len(rows) - 1)
    pairs = data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=8))
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    expected = jaccard(documents, documents)[left, right]
    assert np.array_equal(paired_jaccard(documents, documents, left, right), expected)

"""One text signed and compared by itself: equal to the last bit to what a batch gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsim.hashing.keys import Plan
from dbsim.hashing.signer import FieldPlan, Signer
from dbsim.text import short, words
from dbsim.text.arithmetic import combine_rows
from dbsim.text.features import Analyser
from dbsim.text.normalisers.registry import NORMALISERS
from dbsim.text.slots import combine

PLANS = (Plan(1, 3), Plan(2, 6), Plan(3, 10), Plan(6, 24), Plan(5, 4), Plan(16, 7))
WORD = st.sampled_from(
    ["the", "red", "cat", "sat", "on", "mat", "İstanbul", "ß", "x" * 300, "a\0b", "\x1c", "日本語", "é"]
)
TEXTS = st.lists(WORD | st.text(max_size=12), max_size=60).map(" ".join)
NUMBERS = st.integers(0, 2**62 - 1) | st.sampled_from([0, 2**31 - 1, 2**62 - 1, (2**31 - 1) << 31, 2**31])


def signer(plan: Plan, size: int = 3, bits: int = 256) -> Signer:
    return Signer([FieldPlan(Analyser(size=size), 1.0, bits)], "minhash", plan, b"secret")


@given(TEXTS, st.sampled_from(PLANS), st.integers(1, 5), st.sampled_from([64, 1024, 65536]))
@example("", Plan(3, 10), 3, 256)
@example("two words", Plan(3, 10), 3, 256)
@example("three words fit", Plan(3, 10), 3, 256)
@example("a b " * 1000, Plan(3, 10), 3, 256)  # as many words as there may be
@example(" ".join(map(str, range(900))), Plan(3, 10), 3, 2048)  # every part of the range has a minimum
def test_a_text_by_itself_is_signed_as_in_a_batch(text: str, plan: Plan, size: int, bits: int) -> None:
    signs = signer(plan, size, bits)
    assert signs.single is not None
    found = signs.single.sign(text)
    (expected, _) = signs.sign([[text, "another text, so that it is a batch"]]).as_tuples()
    if found is None:
        (folded,) = signs.fields[0].analyser.fold([text])
        assert len(folded.split()) < size or len(folded) > short.LONGEST
    else:
        assert (found.fingerprint, *found.keys, found.bits, found.bits_set) == expected


@given(st.text())
def test_no_token_has_a_white_space_but_spaces_between(text: str) -> None:
    """So that a text may be cut into words without looking at each."""
    for normaliser in NORMALISERS.values():
        folded = normaliser.fold(text + "\t\r\n\v\f\x1c\x85\u2028\u3000")
        assert folded.split() == [word for word in folded.split(b" ") if word]


def test_most_texts_are_signed_this_way() -> None:
    """Otherwise the test above would say nothing."""
    single = signer(Plan(3, 10)).single
    assert single is not None
    assert all(single.sign(" ".join(map(str, range(words)))) for words in (3, 10, 250, 900))
    assert single.sign("word " * 2000) is None


@given(TEXTS, TEXTS)
def test_two_texts_are_compared_as_in_a_batch(one: str, two: str) -> None:
    signs = signer(Plan(3, 10), size=1)
    assert signs.single is not None
    question = signs.single.shingles(one)
    found = signs.single.compare(question, [two, two]) if question is not None else None
    left, right = signs.comparable([[one]]), signs.comparable([[two]])
    exact = signs.paired(left, right, np.array([0]), np.array([0]))[0]
    if found is not None:
        assert found == [(exact, signs.fingerprints(right)[0])] * 2


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 9, 16, 128])
@given(data=st.data())
def test_slots_combine_as_arrays_do(rows: int, data: st.DataObject) -> None:
    keys = data.draw(st.integers(1, 6))
    size = keys * rows
    matrix = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))).integers(0, 2**62, size, np.uint64)
    if data.draw(st.booleans()):  # all alike, also the largest and the smallest
        matrix[:] = data.draw(NUMBERS)
    for place, number in data.draw(st.lists(st.tuples(st.integers(0, size - 1), NUMBERS), max_size=8)):
        matrix[place] = number
    matrix = matrix.reshape(keys, rows)
    columns = [sum(int(value) << 64 * slot for slot, value in enumerate(column)) for column in matrix.T]
    combined = combine(columns, keys)
    assert [combined >> 64 * slot & (1 << 64) - 1 for slot in range(keys)] == combine_rows(matrix).tolist()
    assert combined < 1 << 64 * keys


def test_words_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "ASKED_LIMIT", 50)
    signs = signer(Plan(3, 10))
    single = signs.single
    assert single is not None
    texts = [" ".join(map(str, range(start, start + 40))) for start in range(0, 400, 20)]
    first = [single.sign(text) for text in texts]
    assert len(signs._tokens.table._asked) <= 50 + 41
    again = [single.sign(text) for text in texts]
    assert [one and one[:4] for one in first] == [one and one[:4] for one in again]


@pytest.mark.parametrize(
    "field",
    [
        FieldPlan(Analyser(unit="characters", size=3), 1.0, 256),
        FieldPlan(Analyser(), 0.5, 256),
        FieldPlan(Analyser(), 1.0, 256, sample=2),
        FieldPlan(Analyser(), 1.0, 256, fold=1),
    ],
)
def test_other_indexes_sign_in_batches(field: FieldPlan) -> None:
    assert Signer([field], "minhash", Plan(3, 10), b"secret").single is None
    assert Signer([FieldPlan(Analyser(), 1.0, 256)], "rabin-minhash", Plan(3, 10), b"secret").single is None
    assert Signer([FieldPlan(Analyser(), 1.0, 256)] * 2, "minhash", Plan(3, 10), b"secret").single is None

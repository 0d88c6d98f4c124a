"""The signer: batches, order, missing values, hostile and huge texts, and the memory they take."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.hashing import signer as signing
from dbsim.hashing.bloom import filters
from dbsim.hashing.families.minhash import minima
from dbsim.hashing.fingerprint import fingerprints
from dbsim.hashing.keys import Plan, band
from dbsim.hashing.signer import FieldPlan, Signatures, Signer
from dbsim.text.features import Analyser
from dbsim.text.normalise import normalise
from dbsim.text.tokens import TokenHasher
from tests.unit.test_tokens import SECRET, texts

WORDS = FieldPlan(Analyser(size=3), 0.7, 256)
CHARACTERS = FieldPlan(Analyser(unit="characters", size=2), 0.3, 64)
PLAN = Plan(rows=2, keys=5)

Row = tuple[int | bytes | None, ...]

pairs = st.lists(st.tuples(*[st.sampled_from(["", "a", "one two three four", "Été", "日本語"]) | st.text()] * 2))


def signer(*fields: FieldPlan) -> Signer:
    return Signer(fields or (WORDS,), "minhash@1", PLAN, SECRET)


def columns(rows: Sequence[tuple[str, ...]], fields: int) -> list[list[str]]:
    return [[row[field] for row in rows] for field in range(fields)]


@given(texts)
def test_a_signature_is_its_parts(batch: list[str]) -> None:
    found = signer().sign([batch])
    _, tokens, features = WORDS.analyser.analyse(batch, TokenHasher(SECRET))
    assert found.present.tolist() == [bool(normalise(text)) for text in batch]
    assert np.array_equal(found.fingerprints, fingerprints([tokens], SECRET))
    assert np.array_equal(found.keys, band(minima([features], [0.7], PLAN), PLAN))
    assert np.array_equal(found.filters[0].bits, filters(features, 256).bits)
    assert np.array_equal(found.filters[0].counts, filters(features, 256).counts)


@given(pairs)
def test_a_batch_is_its_documents_signed_alone(rows: list[tuple[str, str]]) -> None:
    used = signer(WORDS, CHARACTERS)
    together = used.sign(columns(rows, 2)).as_tuples()
    assert together == [signer(WORDS, CHARACTERS).sign([[a], [b]]).as_tuples()[0] for a, b in rows]
    assert together[::-1] == used.sign(columns(rows[::-1], 2)).as_tuples()


@given(pairs, st.integers(1, 30))
def test_the_size_of_a_batch_changes_nothing(rows: list[tuple[str, str]], size: int) -> None:
    expected = signer(WORDS, CHARACTERS).sign(columns(rows, 2)).as_tuples()
    with patch.object(signing, "BATCH_BYTES", size):
        assert signer(WORDS, CHARACTERS).sign(columns(rows, 2)).as_tuples() == expected


@given(st.lists(st.text(max_size=9), max_size=12), st.integers(1, 20))
def test_batches_are_neighbours_and_bounded(batch: list[str], size: int) -> None:
    with patch.object(signing, "BATCH_BYTES", size):
        slices = signing._batches([batch])
    assert [text for part in slices for text in batch[part]] == batch
    for part in slices:
        lengths = [len(text) for text in batch[part]]
        assert sum(lengths[:-1]) <= 2 * size  # but for its last text


@given(pairs)
def test_missing_values_are_none(rows: list[tuple[str, str]]) -> None:
    for (left, right), row in zip(rows, signer(WORDS, CHARACTERS).sign(columns(rows, 2)).as_tuples(), strict=True):
        has_left, has_right = bool(normalise(left)), bool(normalise(right))
        head, tail = row[: 1 + PLAN.keys], row[1 + PLAN.keys :]
        assert [value is not None for value in head] == [has_left or has_right] * len(head)
        assert (tail[0] is not None, tail[2] is not None) == (has_left, has_right)
        for bits, count in (tail[:2], tail[2:]):
            assert count == (int.from_bytes(bits).bit_count() if isinstance(bits, bytes) else 0)


@given(pairs)
def test_fingerprints_alone_are_those_of_the_signature(rows: list[tuple[str, str]]) -> None:
    used = signer(WORDS, CHARACTERS)
    whole = used.sign(columns(rows, 2))
    present, found = used.fingerprint(columns(rows, 2))
    assert np.array_equal(present, whole.present)
    assert np.array_equal(found, whole.fingerprints)


def test_nothing_to_sign() -> None:
    found = signer(WORDS, CHARACTERS).sign([[], []])
    assert len(found) == 0
    assert found.as_tuples() == []
    assert found.keys.shape == (0, PLAN.keys)
    assert [part.bits.shape for part in found.filters] == [(0, 32), (0, 8)]


def test_concatenated_signatures() -> None:
    used = signer(WORDS, CHARACTERS)
    parts = [used.sign([["a b c d"], ["x"]]), used.sign([["", "e"], ["", "y"]])]
    expected = used.sign([["a b c d", "", "e"], ["x", "", "y"]]).as_tuples()
    assert Signatures.concatenate(parts).as_tuples() == expected


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("one\x00two three", "one two three"),
        ("one\ud800two three", "one two three"),
        ("\udfffone two\udc80 three\x00", "one two three"),
        ("one\ufffdtwo\uffff three", "one two three"),
        ("ＯＮＥ Two\u00a0thrée", "one two three"),
    ],
)
def test_characters_no_database_stores_are_separators(text: str, same: str) -> None:
    for fields in ((WORDS,), (CHARACTERS,)):
        first, second = signer(*fields).sign([[text, same]]).as_tuples()
        assert first == second


@pytest.mark.parametrize("text", ["\x00", "\ud800", "\udc80\x00 \x7f", "", " \n\t", "!?…", "\u200b"])
def test_texts_without_a_letter_have_no_signature(text: str) -> None:
    for fields in ((WORDS,), (CHARACTERS,)):
        (row,) = signer(*fields).sign([[text]]).as_tuples()
        assert row == (None,) * (2 + PLAN.keys) + (0,)


def vocabulary_text(characters: int) -> str:
    """Pseudo-random words, seven characters each with the space; the same megabyte again and again."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghij", k=6)) for _ in range(5_000)]
    megabyte = " ".join(rng.choices(words, k=142_858))[:999_999] + " "
    return (megabyte * (characters // 1_000_000 + 1))[:characters]


@pytest.mark.parametrize("field", [WORDS, CHARACTERS])
def test_ten_megabytes_between_ordinary_texts(field: FieldPlan) -> None:
    """Keys and bits of ten equal megabytes and a little are those of one and a little, the fingerprint is not."""
    batch = ["one two three", vocabulary_text(10_000_100), "four five six"]
    found = signer(field).sign([batch]).as_tuples()
    assert found[0::2] == signer(field).sign([batch[0::2]]).as_tuples()
    (once,) = signer(field).sign([[vocabulary_text(1_000_100)]]).as_tuples()
    assert found[1][1:] == once[1:]
    assert found[1][0] != once[0]


def peak_of_signing(field: FieldPlan, text: str) -> int:
    """Bytes allocated at most while one text is signed."""
    used = signer(field)
    used.sign([["warm up"]])
    tracemalloc.start()
    try:
        used.sign([[text]])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_for_twenty_megabytes_of_words() -> None:
    assert peak_of_signing(WORDS, vocabulary_text(20_000_000)) < 6 * 20_000_000


def test_memory_for_twenty_megabytes_of_characters() -> None:
    assert peak_of_signing(CHARACTERS, vocabulary_text(20_000_000)) < 14 * 20_000_000


def test_memory_for_one_endless_word() -> None:
    assert peak_of_signing(WORDS, "a" * 20_000_000) < 5 * 20_000_000


def test_memory_of_the_word_cache() -> None:
    """400,000 words met once: the cache is emptied on the way, so what stays is bounded."""
    used = signer(WORDS)
    used.sign([[" ".join(f"{number:07x}" for number in range(400_000))]])
    assert len(used._hasher.table) < 300_000

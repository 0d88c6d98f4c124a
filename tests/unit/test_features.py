"""Features: word shingles and padded character n-grams against loops over Python integers."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsim.text import arithmetic, features, tokens, words
from dbsim.text.features import Analyser, Features, shingles
from dbsim.text.normalise import normalise
from dbsim.text.tokens import TokenHasher, Tokens
from tests.unit.test_arithmetic import combine_by_integers
from tests.unit.test_tokens import SECRET, characters_by_loop, texts, words_by_loop

SIZES = {"words": range(1, 7), "characters": range(1, 6)}
analysers = st.sampled_from([Analyser(unit=unit, size=size) for unit, sizes in SIZES.items() for size in sizes])


def features_by_loop(text: str, analyser: Analyser) -> list[int]:
    """Every run of `size` tokens; a shorter text is one run filled up with zeros."""
    size = analyser.size
    if analyser.unit == "words":
        found = words_by_loop(text, analyser.normaliser)
    else:
        found = characters_by_loop(text, size - 1, analyser.normaliser)
    if 0 < len(found) < size:
        found += [0] * (size - len(found))
    return [combine_by_integers(found[start : start + size]) for start in range(len(found) - size + 1)]


def features_of(batch: list[str], analyser: Analyser, hasher: TokenHasher | None = None) -> Features:
    return analyser.analyse(batch, hasher or TokenHasher(SECRET)).features


def split(found: Features) -> list[list[int]]:
    bounds = found.offsets.tolist()
    return [found.hashes[a:b].tolist() for a, b in pairwise(bounds)]


@settings(max_examples=300)
@given(texts, analysers)
def test_against_loops(batch: list[str], analyser: Analyser) -> None:
    found = features_of(batch, analyser)
    assert split(found) == [features_by_loop(text, analyser) for text in batch]
    assert len(found) == len(batch)
    assert found.hashes.dtype == np.uint64
    assert all(value < 2**62 for value in found.hashes.tolist())


@given(texts, analysers)
def test_a_batch_is_its_documents_one_at_a_time(batch: list[str], analyser: Analyser) -> None:
    hasher = TokenHasher(SECRET)
    together = split(features_of(batch, analyser, hasher))
    assert together == [split(features_of([text], analyser, hasher))[0] for text in batch]
    assert together[::-1] == split(features_of(batch[::-1], analyser, hasher))


@given(texts, analysers, st.integers(1, 20), st.integers(0, 4))
def test_pieces_blocks_and_cache_change_nothing(batch: list[str], analyser: Analyser, piece: int, limit: int) -> None:
    expected = split(features_of(batch, analyser))
    hasher = TokenHasher(SECRET)
    with (
        patch.object(tokens, "PIECE", piece),
        patch.object(words, "CACHE_LIMIT", limit),
        patch.object(arithmetic, "BLOCK", piece),
        patch.object(features, "BLOCK", piece),
        patch.object(features, "PIECE", piece),
        patch.object(tokens, "LONG", piece),
    ):
        assert split(features_of(batch, analyser, hasher)) == expected
        assert split(features_of(batch, analyser, hasher)) == expected


@given(texts, st.integers(1, 5))
def test_c_characters_give_c_plus_n_minus_1_ngrams(batch: list[str], size: int) -> None:
    counts = features_of(batch, Analyser(unit="characters", size=size)).counts.tolist()
    lengths = [len(normalise(text)) for text in batch]
    assert counts == [length + size - 1 if length else 0 for length in lengths]


def test_erika_has_seven_trigrams() -> None:
    assert features_of(["Erika"], Analyser(unit="characters", size=3)).counts.tolist() == [7]


@pytest.mark.parametrize("size", range(1, 7))
def test_number_of_shingles(size: int) -> None:
    batch = [" ".join("abcdefgh"[:words]) for words in range(9)]
    counts = features_of(batch, Analyser(size=size)).counts.tolist()
    assert counts == [0] + [max(words - size + 1, 1) for words in range(1, 9)]


@given(st.lists(st.sampled_from(["a", "b", "a b", "b a", "a b c", "a b c d", "", "c"]), min_size=2), st.integers(2, 6))
def test_texts_shorter_than_a_shingle_equal_only_equal_texts(batch: list[str], size: int) -> None:
    found = features_of(batch, Analyser(size=size))
    for i, left in enumerate(batch):
        for j, right in enumerate(batch):
            if len(left.split()) < size:
                assert bool(found.of(i) & found.of(j)) == (left == right != "")


def test_the_same_shingle_has_the_same_hash_wherever_it_stands() -> None:
    found = features_of(["one two three four", "zero one two three", "three two one"], Analyser())
    assert len(found.of(0) & found.of(1)) == 1
    assert not found.of(0) & found.of(2)


def test_normaliser_of_the_field_is_used() -> None:
    german, plain = Analyser(normaliser="german", size=1), Analyser(size=1)
    assert features_of(["Müller"], german).of(0) == features_of(["Mueller"], german).of(0)
    assert features_of(["Müller"], plain).of(0) == features_of(["Muller"], plain).of(0)
    digits = Analyser(normaliser="digits", unit="characters", size=2)
    assert features_of(["+49 (30) 1"], digits).of(0) == features_of(["49301"], digits).of(0)


@given(texts, analysers)
def test_document_numbers_and_sets(batch: list[str], analyser: Analyser) -> None:
    found = features_of(batch, analyser)
    assert found.documents.tolist() == [number for number, part in enumerate(split(found)) for _ in part]
    assert [found.of(number) for number in range(len(batch))] == [frozenset(part) for part in split(found)]


def test_repeats_are_kept_and_sets_are_not_confused_by_them() -> None:
    found = features_of(["a a a a", "a a"], Analyser(size=2))
    assert found.counts.tolist() == [3, 1]
    assert found.of(0) == found.of(1)


def test_shingles_leave_their_input_alone() -> None:
    given_tokens = Tokens(np.array([2**62 - 1, 5, 6], np.uint64), np.array([0, 1, 3]))
    before = given_tokens.hashes.copy()
    for size in (1, 2, 3):
        shingles(given_tokens, size)
    assert np.array_equal(given_tokens.hashes, before)

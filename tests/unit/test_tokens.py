"""Token hashes: against hashlib and a loop, whatever the batch, the piece or the state of the cache."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.text import tokens, words
from dbsim.text.normalise import fold, normalise
from dbsim.text.tokens import TokenHasher, Tokens, offsets_of

SECRET = b"sixteen bytes..!"

any_text = st.text(st.characters())  # lone surrogates and NUL included
worded_text = st.lists(st.sampled_from(["a", "b", "the", "Straße", "日本", "été", "x" * 40]), max_size=12).map(" ".join)
texts = st.lists(any_text | worded_text, max_size=8)


def token_hash(token: str, secret: bytes = SECRET) -> int:
    """The first 62 bits of SHA-256(secret ‖ token)."""
    return int(hashlib.sha256(secret + token.encode()).hexdigest()[:16], 16) // 4


def words_by_loop(text: str, profile: str = "text") -> list[int]:
    return [token_hash(word) for word in normalise(text, profile).split(" ") if word]


def characters_by_loop(text: str, padding: int, profile: str = "text") -> list[int]:
    """Words joined and surrounded by fillers, character by character."""
    joined = normalise(text, profile).replace(" ", "_")
    return [token_hash(character) for character in "_" * padding + joined + "_" * padding] if joined else []


def split(found: Tokens) -> list[list[int]]:
    """The tokens of each document as a list."""
    bounds = found.offsets.tolist()
    return [found.hashes[a:b].tolist() for a, b in pairwise(bounds)]


@given(texts)
def test_words(batch: list[str]) -> None:
    found = TokenHasher(SECRET).words([fold(text) for text in batch])
    assert split(found) == [words_by_loop(text) for text in batch]
    assert found.counts.tolist() == [len(normalise(text).split()) for text in batch]


@given(texts, st.integers(0, 4))
def test_characters(batch: list[str], padding: int) -> None:
    found = TokenHasher(SECRET).characters([fold(text) for text in batch], padding)
    assert split(found) == [characters_by_loop(text, padding) for text in batch]


@given(texts, st.integers(0, 4))
def test_a_used_hasher_gives_what_a_new_one_gives(batch: list[str], padding: int) -> None:
    hasher = TokenHasher(SECRET)
    folded = [fold(text) for text in batch]
    first = split(hasher.words(folded)), split(hasher.characters(folded, padding))
    assert (split(hasher.words(folded)), split(hasher.characters(folded, padding))) == first
    one_by_one = [split(hasher.words([document]))[0] for document in folded]
    assert one_by_one == first[0]


@given(texts, st.integers(1, 30))
def test_long_texts_are_read_in_pieces(batch: list[str], piece: int) -> None:
    with patch.object(tokens, "PIECE", piece), patch.object(tokens, "SHORT", -1):
        found = TokenHasher(SECRET).words([fold(text) for text in batch])
    assert split(found) == [words_by_loop(text) for text in batch]


@given(texts, st.integers(1, 9))
def test_pieces_are_cut_at_spaces_and_lose_nothing(batch: list[str], piece: int) -> None:
    text = b" " + fold(" ".join(batch)) + b" "
    with patch.object(tokens, "PIECE", piece), patch.object(tokens, "SHORT", -1):
        cuts = list(tokens._cuts(text))
    assert all(text[cut : cut + 1] == b" " for cut in cuts)
    assert (cuts[0], cuts[-1]) == (0, len(text) - 1)
    assert all(right - left >= piece for left, right in pairwise(cuts[:-1]))


@given(texts, st.integers(0, 5))
def test_an_emptied_cache_changes_no_value(batch: list[str], limit: int) -> None:
    hasher = TokenHasher(SECRET)
    with patch.object(words, "CACHE_LIMIT", limit), patch.object(words, "ASKED_LIMIT", limit):
        for _ in range(2):
            assert [split(hasher.words([fold(text)]))[0] for text in batch] == [words_by_loop(text) for text in batch]
            padded = hasher.characters([fold(text) for text in batch], 2)
            assert split(padded) == [characters_by_loop(text, 2) for text in batch]


@pytest.mark.parametrize("documents", [1, 50])
def test_the_cache_stays_bounded_within_one_call(documents: int) -> None:
    spelled = [b"w%d" % number for number in range(5_000)]
    size = len(spelled) // documents
    folded = [b" ".join(spelled[start : start + size]) for start in range(0, len(spelled), size)]
    hasher = TokenHasher(SECRET)
    with patch.object(words, "CACHE_LIMIT", 300), patch.object(tokens, "PIECE", 600), patch.object(tokens, "SHORT", -1):
        found = hasher.words(folded)
    assert len(hasher.table) <= 300
    assert found.hashes.tolist() == [token_hash(word.decode()) for word in spelled]


@given(texts)
def test_a_short_text_alone_has_the_words_it_has_among_others(batch: list[str]) -> None:
    hasher = TokenHasher(SECRET)
    folded = [fold(text) for text in batch]
    alone = [split(hasher.words([one]))[0] for one in (*folded, *folded)]  # the second time they are known
    with patch.object(tokens, "SHORT", -1):
        assert alone == 2 * split(hasher.words(folded))


def test_words_of_questions_are_forgotten_in_time() -> None:
    hasher = TokenHasher(SECRET)
    with patch.object(words, "ASKED_LIMIT", 50):
        for start in range(0, 2000, 20):
            hasher.words([b" ".join(b"w%d" % number for number in range(start, start + 20)) + b" " + b"x" * 3000])
            assert len(hasher.table._asked) <= 70
    assert not any(len(word) > words.LONGEST_KEPT for word in hasher.table._asked)


@given(texts)
def test_hashes_have_62_bits(batch: list[str]) -> None:
    hasher, folded = TokenHasher(SECRET), [fold(text) for text in batch]
    for found in (hasher.words(folded), hasher.characters(folded, 1)):
        assert found.hashes.dtype == np.uint64
        assert all(value < 2**62 for value in found.hashes.tolist())


def test_hashes_use_all_62_bits() -> None:
    values = TokenHasher(SECRET).words([b" ".join(b"%d" % number for number in range(4_000))]).hashes
    set_bits = ((values[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).mean(axis=0)
    assert np.abs(set_bits[:62] - 0.5).max() < 0.05  # 6 standard deviations of 4,000 coins
    assert not set_bits[62:].any()


def test_another_secret_gives_other_hashes() -> None:
    mine, other = TokenHasher(SECRET).words([b"the same"]), TokenHasher(b"another secret").words([b"the same"])
    assert not set(mine.hashes.tolist()) & set(other.hashes.tolist())
    assert other.hashes[0] == token_hash("the", b"another secret")


def test_no_document_and_empty_documents() -> None:
    hasher = TokenHasher(SECRET)
    assert split(hasher.words([])) == split(hasher.characters([], 2)) == []
    assert split(hasher.words([b"", b"  ", b"a", b""])) == [[], [], [token_hash("a")], []]
    assert split(hasher.characters([b"", b" ", b"a"], 1)) == [[], [], [token_hash(char) for char in "_a_"]]


@given(st.lists(st.integers(0, 9)))
def test_offsets(counts: list[int]) -> None:
    offsets = offsets_of(np.array(counts, np.int64)).tolist()
    assert offsets == [sum(counts[:place]) for place in range(len(counts) + 1)]

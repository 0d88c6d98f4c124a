"""The table of words: any word of any length against hashlib, growth, collisions, limits, threads and forks."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.text import words
from dbsim.text.words import LONGEST, MARGIN, Words, WordTable
from tests.unit.test_tokens import SECRET

LENGTHS = (1, 6, 7, 8, 9, 15, 16, 17, 23, 24, 25, 30, 31, 32, 33, 40, 255, 256, 257)
few_letters = st.sampled_from(b"ab\xc3\xbf\x80").map(lambda byte: bytes([byte]))
spelled_words = st.lists(
    st.binary(min_size=1, max_size=40).map(lambda word: word.replace(b" ", b"_").replace(b"\0", b"_"))
    | st.builds(lambda letter, size: letter * size, few_letters, st.sampled_from(LENGTHS)),
    max_size=40,
)


def reference(found: list[bytes]) -> list[int]:
    return [int.from_bytes(hashlib.sha256(SECRET + word).digest()[:8]) >> 2 for word in found]


def look_up(table: WordTable, spelled: list[bytes], gap: bytes = b" ") -> list[int]:
    text = b" " + gap.join(spelled) + b" " * MARGIN
    found = Words.between(text, 0, len(text) - 1)
    assert found.spelled() == spelled
    hashes: list[int] = table.hashes(found).tolist()
    return hashes


@given(spelled_words, st.integers(1, 3))
def test_any_words(spelled: list[bytes], gaps: int) -> None:
    table = WordTable(SECRET)
    for _ in range(2):
        assert look_up(table, spelled, b" " * gaps) == reference(spelled)


@pytest.mark.parametrize("length", [*LENGTHS, 100_000])
def test_words_with_a_common_beginning(length: int) -> None:
    """Shorter and longer by a byte, and different in the last byte; all known, and asked in any order."""
    spelled = [b"x" * size + end for size in (length - 1, length, length + 1) for end in (b"", b"y", b"z") if size]
    table = WordTable(SECRET)
    assert look_up(table, spelled) == reference(spelled)
    assert look_up(table, spelled[::-1]) == reference(spelled[::-1])
    for word in spelled:
        assert look_up(table, [word]) == reference([word])


@given(spelled_words)
def test_all_words_in_one_slot(spelled: list[bytes]) -> None:
    """Multipliers of zero: the first word has the slot, the others are found in the dictionary."""
    table = WordTable(SECRET)
    table._multipliers = (np.uint64(0),) * 4
    for _ in range(2):
        assert look_up(table, spelled) == reference(spelled)
    short = {word for word in spelled if len(word) <= LONGEST}
    assert table._used == min(len(short), 1)
    assert len(table) == len({word for word in spelled if len(word) <= words.LONGEST_KEPT})


def test_the_table_grows_and_forgets_nothing() -> None:
    table = WordTable(SECRET)
    spelled = [b"%x" % (number * number) for number in range(20_000)]
    expected = reference(spelled)
    sizes = set()
    for start in range(0, len(spelled), 700):
        assert look_up(table, spelled[start : start + 700]) == expected[start : start + 700]
        sizes.add(len(table._values))
    assert len(sizes) >= 3
    assert len(table) == len(set(spelled))
    assert len(table._others) < len(spelled) / 8  # most have a slot
    with patch.object(WordTable, "hash", side_effect=AssertionError("hashed again")):
        assert look_up(table, spelled) == expected


@given(st.lists(spelled_words, max_size=6), st.integers(0, 30))
def test_the_limit_is_kept_and_changes_no_value(batches: list[list[bytes]], limit: int) -> None:
    table = WordTable(SECRET)
    with patch.object(words, "CACHE_LIMIT", limit):
        for spelled in batches:
            assert look_up(table, spelled) == reference(spelled)
            assert len(table) <= limit


def test_more_words_than_are_kept_stay_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = words.CACHE_LIMIT // 8
    monkeypatch.setattr(words, "CACHE_LIMIT", limit)
    table = WordTable(SECRET)
    tracemalloc.start()
    try:
        for start in range(0, 3 * limit, limit // 4):
            some = range(start, start + limit // 4)
            text = b" " + b" ".join(b"%07x" % number for number in some) + b" " * MARGIN
            table.hashes(Words.between(text, 0, len(text) - 1))
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(table) <= limit
    assert kept < 20_000_000 + 170 * limit  # the slots, and the words
    assert peak < 40_000_000 + 380 * limit  # while they are moved to more slots


def test_words_too_long_to_keep_are_not_kept() -> None:
    table = WordTable(SECRET)
    spelled = [b"x" * size for size in (words.LONGEST_KEPT, words.LONGEST_KEPT + 1, 100_000)]
    assert look_up(table, spelled) == reference(spelled)
    assert list(table._others) == spelled[:1]


def test_threads_share_a_table() -> None:
    """Both grow, empty and read it: the hashes are those of hashlib all the time."""
    table = WordTable(SECRET)
    batches = [[b"%x" % (number % 3_000 * part) for number in range(start, start + 900)]
               for part in (1, 7) for start in range(0, 9_000, 300)]  # fmt: skip
    expected = [reference(batch) for batch in batches]
    with patch.object(words, "CACHE_LIMIT", 2_000), ThreadPoolExecutor(4) as threads:
        for _ in range(3):
            assert list(threads.map(lambda batch: look_up(table, batch), batches)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_looks_up(held: bool) -> None:
    """Also when another thread of the parent was writing: its lock would never be released in the child."""
    table = WordTable(SECRET)
    spelled = [b"%d" % number for number in range(500)]
    look_up(table, spelled)
    if held:
        table._lock.acquire()
        table._columns[0] = 0  # half a word
    child = os.fork()
    if not child:
        right = look_up(table, spelled) == reference(spelled) and (len(table) == 500)
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

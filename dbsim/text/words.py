"""A table of words and their hashes in arrays: places of words in a text → 62-bit hashes, no Python object per word.

A word of up to 31 bytes is up to four 64-bit integers, read from the text at any offset. Keyed multiplication gives it
one slot of the table; a word whose slot belongs to another, or that is longer, is found in a dictionary. So words that
someone chose to collide cost what a dictionary costs, and SHA-256 is computed only for words never seen.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, islice
from operator import itemgetter
from threading import Lock
from typing import Self
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes

HASH_BITS = 62
SPARE_BITS = 64 - HASH_BITS
CACHE_LIMIT = 1 << 18  # words remembered; emptied when full
ASKED_LIMIT = 1 << 16  # words of single texts remembered beside them
SMALLEST, LARGEST = 1 << 13, 1 << 19  # slots of 40 bytes: a table that fits the processor's cache is faster
SPARSE = 8  # slots a word while the table grows: then one word in 16, and of those in a text one in 100, has no slot
GROWTH = 4
COLUMNS = 4
LONGEST = 8 * COLUMNS - 1  # bytes in the table: a longer word fills the last column, and so equals none
LONGEST_KEPT = 256  # bytes in the dictionary
MARGIN = 8  # bytes that must follow the last word

Places = NDArray[np.int64]
Columns = list[tuple[Places, Hashes]]

_SPACE = np.uint8(32)
_SPARE_BITS = np.array(SPARE_BITS, np.uint64)
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(9)], np.uint64)


@dataclass(frozen=True)
class Words:
    """Where the words of a text are. No word contains a zero byte: folding leaves none."""

    text: bytes
    starts: Places
    lengths: Places

    @classmethod
    def between(cls, text: bytes, start: int, stop: int) -> Self:
        """Those of a stretch that begins with a space and is followed by one."""
        letters = np.frombuffer(text, np.uint8)[start : stop + 1] != _SPACE
        edges = (letters[1:] != letters[:-1]).nonzero()[0]
        edges += start + 1
        starts = edges[0::2]
        return cls(text, starts, edges[1::2] - starts)

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, places: Places) -> Words:
        return Words(self.text, self.starts[places], self.lengths[places])

    def spelled(self) -> list[bytes]:
        starts, ends = self.starts.tolist(), (self.starts + self.lengths).tolist()
        return [self.text[start:end] for start, end in zip(starts, ends, strict=True)]

    def columns(self) -> tuple[Hashes, Columns]:
        """Eight bytes each: the first of all words; of the next ones the words that have them, and their values.

        A word that fills a column has the next one too, though it be zero: so "eightbyt" never equals "eightbytes".
        """
        eight = np.ndarray((len(self.text) - 7,), np.uint64, self.text, strides=(1,))  # from any offset
        first = eight[self.starts]  # `take` would copy all of it
        first &= _MASKS.take(self.lengths, mode="clip")
        others: Columns = []
        places = (self.lengths > 7).nonzero()[0]
        for offset in range(8, 8 * COLUMNS, 8):
            if not len(places):
                break
            starts, lengths = self.starts.take(places), self.lengths.take(places)
            values = eight[starts + offset]
            values &= _MASKS.take(lengths - offset, mode="clip")
            others.append((places, values))
            places = places[lengths > offset + 7]
        return first, others


class Digests(dict[bytes, bytes]):
    """What SHA-256(secret ‖ word) begins with, for words of single texts: strung together it is an array of numbers."""

    def __init__(self, state: hashlib._Hash) -> None:
        super().__init__()
        self._copy = state.copy

    def computed(self, word: bytes) -> bytes:
        state = self._copy()
        state.update(word)
        return state.digest()[:8]

    def __missing__(self, word: bytes) -> bytes:
        found = self.computed(word)
        if len(word) <= LONGEST_KEPT:
            self[word] = found
        return found


class WordTable:
    """SHA-256(secret ‖ word), cut to 62 bits, remembered; for any number of threads, and across a fork."""

    def __init__(self, secret: bytes) -> None:
        self._secret = hashlib.sha256(secret)
        drawn = np.frombuffer(hashlib.sha256(secret + b"word table").digest(), "<u8")
        self._multipliers = tuple(drawn.astype(np.uint64) | np.uint64(1))
        self._lock = Lock()
        self._asked = Digests(self._secret)
        self._empty(SMALLEST)
        _TABLES.add(self)

    def __len__(self) -> int:
        return self._used + len(self._others)

    def hash(self, word: bytes) -> int:
        """Computed, not looked up: nobody without the secret can build colliding texts."""
        return int.from_bytes(self._asked.computed(word), "big") >> SPARE_BITS

    def looked_up(self, words: Sequence[bytes]) -> Hashes:
        """The same for the few words of a question, from a dictionary of their own: a tenth of the calls."""
        known = self._asked
        if len(known) > ASKED_LIMIT:
            known = self._asked = Digests(self._secret)  # another thread may still read the old ones
        # of one word itemgetter makes no tuple
        digests = itemgetter(*words)(known) if len(words) > 1 else map(known.__getitem__, words)
        found: Hashes = np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)
        found >>= _SPARE_BITS
        return found

    def hashes(self, words: Words) -> Hashes:
        first, others = words.columns()
        with self._lock:  # another thread may be writing
            slots = self._slots(first, others)
            hit = self._columns[0].take(slots) == first
            for stored, (places, values) in zip(self._columns[1:], others, strict=False):
                hit[places] &= stored.take(slots.take(places)) == values
            found: Hashes = self._values.take(slots)
            if not hit.all():
                missed = (~hit).nonzero()[0]
                found[missed] = self._missed(words.part(missed))
        return found

    def _slots(self, first: Hashes, others: Columns) -> Places:
        mixed = first * self._multipliers[0]
        for multiplier, (places, values) in zip(self._multipliers[1:], others, strict=False):
            mixed[places] += values * multiplier
        mixed >>= self._shift
        slots: Places = mixed.view(np.int64)
        return slots

    def _missed(self, words: Words) -> list[int]:
        """Words that are not in their slot: in the dictionary, or new."""
        spelled = words.spelled()
        new = {word: place for place, word in enumerate(spelled) if word not in self._others}
        if not new:
            return [self._others[word] for word in spelled]
        hashed = {word: self.hash(word) for word in new}
        found = [hashed[word] if word in hashed else self._others[word] for word in spelled]
        self._make_room(len(new))
        self._keep(words.part(np.fromiter(new.values(), np.int64, len(new))), hashed)
        return found

    def _keep(self, words: Words, hashed: dict[bytes, int]) -> None:
        """Distinct new words: the first of each free slot there, the rest in the dictionary, as far as they fit."""
        first, others = words.columns()
        slots = self._slots(first, others)
        free = ((self._columns[0].take(slots) == 0) & (words.lengths <= LONGEST)).nonzero()[0]
        taken, place = np.unique(slots[free], return_index=True)
        chosen = free[place][: CACHE_LIMIT - len(self)]
        taken = taken[: len(chosen)]
        self._columns[:, taken] = _matrix(first, others)[:, chosen]
        self._values[taken] = np.fromiter(hashed.values(), np.uint64, len(hashed))[chosen]
        self._used += len(taken)
        left = np.ones(len(words), bool)
        left[chosen] = False
        rest = (item for item in compress(hashed.items(), left.tolist()) if len(item[0]) <= LONGEST_KEPT)
        self._others.update(islice(rest, CACHE_LIMIT - len(self)))

    def _make_room(self, count: int) -> None:
        if len(self) + count > CACHE_LIMIT:
            self._empty(len(self._values))
        size = len(self._values)
        while size < LARGEST and SPARSE * (len(self) + count) > size:
            size *= GROWTH
        if size > len(self._values):
            self._grow(size)

    def _grow(self, size: int) -> None:
        """The upper bits of a word's new slot are its old slot, so that no two meet."""
        full = self._columns[0].nonzero()[0]
        columns, values, others = self._columns[:, full], self._values[full], self._others
        self._empty(size)
        mixed = np.zeros(len(full), np.uint64)
        for multiplier, column in zip(self._multipliers, columns, strict=True):
            mixed += column * multiplier
        slots = (mixed >> self._shift).view(np.int64)
        self._columns[:, slots], self._values[slots] = columns, values
        self._used = len(full)
        text = b" ".join((b"", *others, b" " * MARGIN))
        self._keep(Words.between(text, 0, len(text) - 1), others)

    def _empty(self, size: int) -> None:
        self._columns = np.zeros((COLUMNS, size), np.uint64)
        self._values = np.zeros(size, np.uint64)
        self._others: dict[bytes, int] = {}
        self._shift = np.uint64(64 - (size.bit_length() - 1))
        self._used = 0

    def forked(self) -> None:
        """In the new process: the thread that held the lock does not exist there, and may have left half a word."""
        if self._lock.locked():
            self._empty(SMALLEST)
        self._lock = Lock()


def _matrix(first: Hashes, others: Columns) -> Hashes:
    """columns × words."""
    keys = np.zeros((COLUMNS, len(first)), np.uint64)
    keys[0] = first
    for row, (places, values) in zip(keys[1:], others, strict=False):
        row[places] = values
    return keys


def _forked() -> None:
    for table in list(_TABLES):
        table.forked()


_TABLES: WeakSet[WordTable] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

"""dbsim's functions in SQLite, which strangers may call too (Datasette): filters and counts → scores.

Whatever the arguments, a call takes microseconds and remembers nothing: lengths are checked before anything is made of
them, and there are eleven lengths of filters.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import Reading, jaccard
from dbsim.hashing.records.levels import CUTS, EQUAL
from dbsim.hashing.records.packing import least
from dbsim.hashing.records.probability import probability_of

MOST_SLICES = 1000  # in one call: more than a function of SQLite has arguments
BYTES = {1 << power: 1 << power - 3 for power in range(6, 17)}  # of a filter, by its length: those that options allow

LONGEST, WORD = 1 << 16, 64  # bits of a filter; it is stored in whole words


def register(raw: Any) -> None:
    """dbsim's functions on a driver's connection (sqlite3's, or what SQLAlchemy makes of aiosqlite's).

    dbsim_jaccard(bits, count, other bits, other count, length of the filter), dbsim_hamming(key, other key); of filters
    as in Kampf's sketch also how many bits can be set, and the factor, 0 for the similarity by cardinality
    """
    for arguments in (5, 7):
        raw.create_function("dbsim_jaccard", arguments, _jaccard, deterministic=True)
        raw.create_function("dbsim_level", arguments, _level, deterministic=True)
    raw.create_function("dbsim_hamming", 2, _hamming, deterministic=True)
    raw.create_function("dbsim_probability", 1, _probability, deterministic=True)
    raw.create_function("dbsim_places", -1, _places, deterministic=True)
    raw.create_function("dbsim_common", -1, _common_places, deterministic=True)
    raw.create_function("dbsim_utf8", 1, _utf8, deterministic=True)


def _jaccard(
    bits: bytes | None,
    count: int,
    other_bits: bytes | str | None,
    other_count: int,
    size: int,
    marks: int = 0,
    factor: float = 0.0,
) -> float | None:
    if not bits or not other_bits:
        return None
    both = _common(bits, count, other_bits, other_count, size, marks)
    if factor:
        return Reading(size, marks or size, factor).similarity(count, other_count, both)
    return jaccard(count, other_count, both, marks or size)  # as a Reading does, in a third of the calls


def _level(bits: bytes | None, count: int, other: bytes | str | None, other_count: int, *length: Any) -> int | None:
    """The level of agreement, from the arguments of `_jaccard`."""
    score = _jaccard(bits, count, other, other_count, *length)
    if score is None or other is None:
        return None
    if count == other_count and bits == _as_bytes(other):
        return EQUAL
    return 1 + bisect_right(CUTS, score)


def _common(bits: bytes, count: int, other_bits: bytes | str, other_count: int, size: int, marks: int = 0) -> int:
    """Bits in common; an error unless these are two filters of that length and what is set in them."""
    if marks:
        length, size = _whole_bytes(size, marks), marks
    else:
        length = BYTES[size]
    if isinstance(other_bits, str):  # out of JSON, which has no bytes
        if len(other_bits) != 2 * length + 1:
            raise ValueError("a filter of another length")
        other_bits = _as_bytes(other_bits)
    if len(bits) != length or len(other_bits) != length:
        raise ValueError("a filter of another length")
    both = (int.from_bytes(bits) & int.from_bytes(other_bits)).bit_count()
    if not both <= count <= size or not both <= other_count <= size or count + other_count - both > size:
        raise ValueError("more or fewer bits than are set")
    return both


def _as_bytes(bits: bytes | str) -> bytes:
    return bytes.fromhex(bits[1:]) if isinstance(bits, str) else bits


def _whole_bytes(size: int, marks: int) -> int:
    """Of a partitioned filter; no length for which a long table would have to be made."""
    if not 0 < marks <= size <= LONGEST or size % WORD:
        raise ValueError("a filter of another length")
    return size // 8


def _probability(evidence: int | None) -> float | None:
    return None if evidence is None else probability_of(least(evidence))


def _hamming(key: int | None, other: int | None) -> int | None:
    return None if key is None or other is None else (key ^ other).bit_count()


def _places(every: int, *terms: str | None) -> str:
    """The bits that all terms have, or any, as a JSON list. A term has those of some field: "2:0f31|1:a0", which has
    those that all of its slices have: their number, and the hexadecimal digits of slices of equal length."""
    found = [reduce(np.bitwise_or, map(_common_bits, term.split("|"))) for term in terms if term]
    if not found:
        return "[]"
    both = reduce(np.bitwise_and if every else np.bitwise_or, found)
    return _numbers(both)


def _common_places(every: int, form: str, *slices: bytes | None) -> str:
    """The same of slices as they are; `form` tells how many belong to each field of each term, "2|1,3"."""
    there = [bits for bits in slices if bits is not None]
    counts = [[int(count) for count in term.split("|")] for term in form[: 3 * MOST_SLICES].split(",")]
    if len(there) != sum(map(sum, counts)) or len(set(map(len, there))) != 1 or min(map(min, counts)) < 1:
        raise ValueError("slices of other lengths, or another number of them")
    bits = np.frombuffer(b"".join(there), np.uint8).reshape(len(there), -1)
    if every and "|" not in form:
        return _numbers(np.bitwise_and.reduce(bits, axis=0))
    starts = np.cumsum([0, *(count for term in counts for count in term)])[:-1]
    fields = iter(np.bitwise_and.reduceat(bits, starts, axis=0))
    found = [reduce(np.bitwise_or, [next(fields) for _ in term]) for term in counts]
    return _numbers(reduce(np.bitwise_and if every else np.bitwise_or, found))


def _numbers(bits: NDArray[np.uint8]) -> str:
    # as truth values, which numpy finds in a quarter of the time that numbers take
    return str(np.unpackbits(bits).view(bool).nonzero()[0].tolist())


def _common_bits(field: str) -> NDArray[np.uint8]:
    number, _, digits = field.partition(":")
    slices = np.frombuffer(bytes.fromhex(digits), np.uint8).reshape(int(number), -1)
    found: NDArray[np.uint8] = np.bitwise_and.reduce(slices, axis=0)
    return found


def _utf8(value: bytes | None) -> int:
    """Whether a text, given as its bytes, can be read by a driver."""
    try:
        str(value or b"", "utf-8")
    except (UnicodeDecodeError, TypeError):
        return 0
    return 1

"""Characters and their hashes: folded texts → code points with one filler a gap; code points → 62-bit hashes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbsim.text.arithmetic import Hashes

FILLER = "_"  # stands for the gap between words and before and after a text in character n-grams
CODE_POINTS = 0x110000

Points = NDArray[np.uint8] | NDArray[np.uint32]

_SPACE = np.uint8(32)


class Spelled(NamedTuple):
    """The characters of a batch, and how many each document has."""

    points: Points
    counts: NDArray[np.int64]


def spell(folded: Sequence[bytes], padding: int) -> Spelled:
    """Gaps are one space, and `padding` fillers are at both ends of a document that is not blank."""
    texts = [document.strip() for document in folded]
    pad = FILLER.encode() * padding
    joined = (pad + pad).join([text for text in texts if text]).join((pad, pad)) if any(texts) else b""
    counts = np.fromiter(map(len, texts), np.int64, len(texts))
    there = counts > 0
    counts[there] += 2 * padding
    found = np.frombuffer(joined, np.uint8)
    if b"  " in joined:
        kept = found != _SPACE
        kept[:-1] |= kept[1:]  # the last space of a gap
        counts[there] = _sums(kept, counts[there])
        found = found[kept]
    if joined.isascii():
        return Spelled(found, counts)
    leading = (found & np.uint8(0xC0)) != np.uint8(0x80)  # bytes that begin a character
    counts[there] = _sums(leading, counts[there])
    return Spelled(np.frombuffer(found.tobytes().decode().encode("utf-32-le"), np.uint32), counts)


def _sums(flags: NDArray[np.bool_], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many flags each run of `counts` (all above zero) has."""
    if len(counts) == 1:
        return np.array([np.count_nonzero(flags)])
    sums: NDArray[np.int64] = np.add.reduceat(flags, np.cumsum(counts) - counts, dtype=np.int64)
    return sums


class CharacterTable:
    """Hashes by code point, computed when first met; a space is the filler."""

    def __init__(self, compute: Callable[[bytes], int]) -> None:
        self._compute = compute
        self._hashes = np.zeros(CODE_POINTS, np.uint64)  # pages never written take no memory

    def hashes(self, points: Points) -> Hashes:
        found = self._hashes.take(points)
        if found.all():
            return found
        for point in np.unique(points[found == 0]).tolist():
            self._hashes[point] = self._compute(FILLER.encode() if point == 32 else chr(point).encode())
        return self._hashes.take(points)

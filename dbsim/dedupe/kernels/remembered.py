"""Feature sets that were computed before, on disk: fingerprints of contents → Features a field.

Where texts have a paragraph in common, many pairs are near the threshold, and each content is in several of them: its
text is read and hashed once instead of for each (200,000 such texts: 1,400,000 times). Its features never change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dbsim.dedupe.kernels.spill import Spill
from dbsim.text.features import Features

ROOM = 1 << 29  # bytes on disk: of half a million texts of a kilobyte
Numbers = NDArray[np.int64]


class Remembered:
    """Of each field; contents are asked for in ascending order, each once."""

    def __init__(self, fields: int, room: int = ROOM) -> None:
        self._spills = [Spill() for _ in range(fields)]
        self._contents = np.empty(0, np.int64)
        self._starts, self._counts = np.empty((2, fields, 0), np.int64)
        self._room = room

    @property
    def full(self) -> bool:
        return 8 * int(self._counts.sum()) >= self._room

    def missing(self, contents: Numbers) -> NDArray[np.bool_]:
        return ~self._find(contents)[1]

    def add(self, contents: Numbers, fields: list[Features]) -> None:
        """Of contents that are missing."""
        starts = [
            spill.append(part.hashes) + 8 * part.offsets[:-1] for spill, part in zip(self._spills, fields, strict=True)
        ]
        places = np.searchsorted(self._contents, contents)
        self._contents = np.insert(self._contents, places, contents)
        self._starts = np.insert(self._starts, places, np.stack(starts), axis=1)
        self._counts = np.insert(self._counts, places, np.stack([part.counts for part in fields]), axis=1)

    def of(self, contents: Numbers) -> list[Features]:
        """None for a content that is missing."""
        places, there = self._find(contents)
        found = []
        for spill, starts, counts in zip(self._spills, self._starts, self._counts, strict=True):
            sizes = np.zeros(len(contents), np.int64)
            sizes[there] = counts[places[there]]
            hashes = spill.pieces(starts[places[there]], sizes[there], np.uint64)
            found.append(Features(hashes, np.concatenate(([0], np.cumsum(sizes)))))
        return found

    def _find(self, contents: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """(place, whether it is there) of each."""
        if not len(self._contents):
            return np.zeros(len(contents), np.int64), np.zeros(len(contents), bool)
        places = np.minimum(np.searchsorted(self._contents, contents), len(self._contents) - 1)
        return places, self._contents[places] == contents


def part_of(features: Features, chosen: NDArray[np.bool_]) -> Features:
    """Of some of the documents."""
    counts = features.counts
    return Features(features.hashes[np.repeat(chosen, counts)], np.concatenate(([0], np.cumsum(counts[chosen]))))

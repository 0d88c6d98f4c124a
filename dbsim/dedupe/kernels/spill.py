"""Arrays that do not have to stay in memory: an unnamed temporary file that vanishes with its owner or the process."""

from __future__ import annotations

import os
import tempfile
import weakref
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
NEAR = 4096  # bytes between two rows that are read together: they take about as long (.9 µs) as to ask once more (.6)
SPAN = 20  # 2 ** SPAN bytes are read at once at most


class Spill:
    """A file that only grows."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by the next line, whatever happens)
        weakref.finalize(self, self._file.close)
        self._end = 0

    def append(self, values: NDArray[Any]) -> int:
        """Where it begins."""
        start = self._end
        self._file.seek(start)
        self._end += self._file.write(np.ascontiguousarray(values).data.cast("B")) if values.size else 0
        return start

    def read(self, start: int, count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
        self._file.seek(start)
        return np.frombuffer(self._file.read(count * np.dtype(dtype).itemsize), dtype)

    def __bool__(self) -> bool:
        return self._end > 0

    def all(self, dtype: type[Scalar]) -> NDArray[Scalar]:
        """Everything, in memory."""
        return self.read(0, self._end // np.dtype(dtype).itemsize, dtype)

    def pieces(self, starts: NDArray[np.int64], counts: NDArray[np.int64], dtype: type[Scalar]) -> NDArray[Scalar]:
        """Parts of different lengths, one after another; `starts` are what `append` gave, or lie behind it."""
        self._file.flush()
        file, size = self._file.fileno(), np.dtype(dtype).itemsize
        asked = zip((counts * size).tolist(), starts.tolist(), strict=True)
        return np.frombuffer(b"".join([os.pread(file, length, start) for length, start in asked]), dtype)

    def rows(self, places: NDArray[Any], width: int, dtype: type[Scalar]) -> NDArray[Scalar]:
        """Some of the rows of equal width that were appended; places ascend, none comes twice.

        Rows that are close to each other are read together, others alone. A memory map would need no such thought, but
        one row brings 2 MB of the file into memory: of 4,500,000 contents 590 MB in place of 40.
        """
        size = width * np.dtype(dtype).itemsize
        starts = places.astype(np.int64) * size
        cuts = np.flatnonzero((np.diff(starts) > NEAR) | (np.diff(starts >> SPAN) > 0)) + 1
        self._file.flush()
        file = self._file.fileno()
        if 2 * len(cuts) >= len(places):
            found = b"".join([os.pread(file, size, start) for start in starts.tolist()])
            return np.frombuffer(found, dtype).reshape(-1, width)
        result = np.empty((len(places), width), dtype)
        for first, last in pairwise([0, *cuts.tolist(), len(places)]):
            own = starts[first:last]
            begin, end = own[0].item(), own[-1].item() + size
            run = np.frombuffer(os.pread(file, end - begin, begin), dtype).reshape(-1, width)
            result[first:last] = run[(own - begin) // size]
        return result

"""Arrays that do not have to stay in memory: an unnamed temporary file that vanishes with its owner or the process."""

from __future__ import annotations

import tempfile
import weakref
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


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

    def map(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """The whole file for random access; the pages looked at count as memory until the array is let go."""
        if not self._end:
            return np.empty(shape, dtype)
        self._file.flush()
        return np.memmap(self._file, dtype, "r", shape=shape)

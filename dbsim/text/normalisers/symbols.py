"""Every symbol a token, for program code, part numbers and formulas: "a+b" is not "a-b"; str → UTF-8 bytes."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dbsim.text.normalisers.mapped import Mapped

_BACKSLASH = "\\"


class Symbols(Mapped):
    """Words as in text, and punctuation and symbols as words of one character."""

    def __init__(self) -> None:
        super().__init__("symbols")

    @cached_property
    def _spelled(self) -> NDArray[np.uint32]:
        """What each byte becomes, up to three bytes filled up with zeros; bytes of other characters stay."""
        spelled = [self.replacements[chr(code)].encode() for code in range(128)]
        spelled[ord(_BACKSLASH)] = b" "  # replaced before: it becomes five bytes
        spelled += [bytes([code]) for code in range(128, 256)]
        return np.frombuffer(b"".join(one.ljust(4, b"\0") for one in spelled), np.uint32)

    def fold(self, text: str) -> bytes:
        """1.5 kB of code take 7 µs; 25 µs by replacing one symbol after the other, 100 µs by str.translate."""
        if _BACKSLASH in text:
            text = text.replace(_BACKSLASH, self.replacements[_BACKSLASH])
        given = np.frombuffer(self.replaced(text), np.uint8)
        return self._spelled.take(given).tobytes().translate(None, b"\0")

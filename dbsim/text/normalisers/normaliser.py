"""What a normaliser is: text → its tokens as UTF-8, separated by spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class Normaliser(ABC):
    """What it makes of a text never changes under one name and version: stored signatures depend on it.

    Its twin for PostgreSQL is sql/postgresql/normalisers/<name>@<version>.sql; without one an index that uses it is
    signed by workers only.
    """

    plain: bool = False  # of ASCII characters it makes words of letters and digits in lower case, and nothing else

    @abstractmethod
    def fold(self, text: str) -> bytes:
        """The tokens, one or more spaces between them; folding the result again changes no token.

        No token contains a zero byte, a space or a backslash, which have their own meaning further on.
        """

    def fold_all(self, texts: Sequence[str]) -> list[bytes]:
        """`fold` of each, with one more space at both ends."""
        return [b" %b " % self.fold(text) for text in texts]

    def tokens(self, text: str) -> list[bytes]:
        return self.fold(text).split()

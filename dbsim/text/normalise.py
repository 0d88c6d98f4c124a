"""Text to normalised words by the name of a normaliser: str → UTF-8 bytes, tokens or str."""

from __future__ import annotations

from dbsim.text.normalisers.registry import normaliser_of


def fold(text: str, normaliser: str = "text") -> bytes:
    """The mapped text as UTF-8, its tokens separated by one or more spaces."""
    return normaliser_of(normaliser).fold(text)


def tokens(text: str, normaliser: str = "text") -> list[bytes]:
    """The words of a text."""
    return fold(text, normaliser).split()


def normalise(text: str, normaliser: str = "text") -> str:
    """The words of a text, one space between them; normalising the result again changes nothing."""
    return b" ".join(tokens(text, normaliser)).decode()

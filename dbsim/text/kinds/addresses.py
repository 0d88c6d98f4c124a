"""Streets: str → words with the usual abbreviations written out; the words are data (`addresses.txt`)."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from dbsim.text.normalise import normalise

_PIECES = re.compile(r"[0-9]+|[^\W0-9_]+")


@cache
def abbreviations() -> tuple[dict[str, str], dict[str, str]]:
    """Whole words, and endings of compounds, each with what it stands for."""
    words: dict[str, str] = {}
    endings: dict[str, str] = {}
    for line in files(__package__).joinpath("addresses.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            full, *short = line.split()
            for one in short:
                (endings if one.startswith("-") else words)[one.removeprefix("-")] = full
    return words, endings


def address(text: str) -> str:
    words, endings = abbreviations()
    marked = re.sub(r"\bc/", "calle ", text, flags=re.IGNORECASE)
    return " ".join(_full(piece, words, endings) for piece in _PIECES.findall(normalise(marked)))


def _full(piece: str, words: dict[str, str], endings: dict[str, str]) -> str:
    if piece in words:
        return words[piece]
    for ending, full in endings.items():
        if len(piece) > len(ending) + 2 and piece.endswith(ending):
            return piece.removesuffix(ending) + full
    return piece

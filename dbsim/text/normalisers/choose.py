"""Which normaliser suits a table's texts: a sample of them → its name, and how much of them symbols are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

# Beyond what prose and its markup use: an operator, a sign inside a word (a.b, f(x)), a hyphen beside a digit.
# Shares measured: Java 0.43, SQL 0.28, Python 0.26; newsgroups with addresses and quotes 0.12, HOWTOs 0.07, RFCs 0.05.
_CARRYING = re.compile(
    r"""[^\w\s.,;:!?'"()\[\]\-*#`|’‘“”…–—«»¿¡„]"""
    r"|_|(?<=\w)[.,;:!?(\[](?=\w)|(?<=\w)\((?=\))|(?<=[^\w\s])[;(]|(?<=\d)-(?=\w)|(?<=[^\W\d])-(?=\d)"
)
_WORD = re.compile(r"[^\W_]+")
_LETTER = re.compile(r"[^\W\d_]")
MUCH = 0.2  # share of tokens in the median text
LETTERS = 0.2  # share of texts with a letter: dates and telephone numbers are the same in any format
LONGEST = 20_000  # characters of a text that are looked at


def symbol_share(text: str) -> float:
    """The share of the tokens that are symbols which carry meaning."""
    text = text[:LONGEST]
    symbols = sum(1 for _ in _CARRYING.finditer(text))
    words = sum(1 for _ in _WORD.finditer(text))
    return symbols / (symbols + words) if symbols else 0.0


def choose_normaliser(texts: Sequence[str]) -> tuple[str, float]:
    """The name, and the median share of symbols."""
    if not texts:
        return "text", 0.0
    share = median(map(symbol_share, texts))
    lettered = sum(1 for text in texts if _LETTER.search(text)) >= LETTERS * len(texts)
    return ("symbols" if share >= MUCH and lettered else "text"), share

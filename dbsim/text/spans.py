"""Where the tokens of a text stand in it, to show differences as the index sees them: (text, Analyser) → Spans."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dbsim.text.features import Analyser
from dbsim.text.normalisers.registry import normaliser_of


class Span(NamedTuple):
    """text[start:end] is one token, which the index sees as `token`."""

    start: int
    end: int
    token: str


def spans(text: str, analyser: Analyser) -> list[Span]:
    """The words, or the characters of an index that compares characters; what lies between them does not count."""
    if analyser.unit == "characters":
        return _characters(text, analyser.normaliser)
    return _words(text, analyser.normaliser)


def _words(text: str, normaliser: str) -> list[Span]:
    found: list[Span] = []
    start, end, token = -1, 0, ""

    for place, char in enumerate(text):
        folded = _folded(char, normaliser)
        if start >= 0 and folded[:1] == " ":
            found.append(Span(start, end, token))
            start, token = -1, ""
        bare = folded.strip()
        if not bare:
            end = place + 1 if start >= 0 else end  # a mark belongs to its letter
            continue
        start, end, token = place if start < 0 else start, place + 1, token + bare
        if folded[-1] == " ":
            found.append(Span(start, end, token))
            start, token = -1, ""
    return found if start < 0 else [*found, Span(start, end, token)]


def _characters(text: str, normaliser: str) -> list[Span]:
    """A gap between words is one token, as it is in character n-grams."""
    found: list[Span] = []
    for place, char in enumerate(text):
        folded = _folded(char, normaliser)
        bare = folded.strip()
        if bare:
            found.append(Span(place, place + 1, bare))
        elif folded and found and found[-1].token != " ":
            found.append(Span(place, place + 1, " "))
    return found[:-1] if found and found[-1].token == " " else found


@lru_cache(maxsize=1 << 14)
def _folded(char: str, normaliser: str) -> str:
    return normaliser_of(normaliser).fold(char).decode()

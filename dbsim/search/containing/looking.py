"""The look at a text that decides whether it has a run of words: texts of a field → which of them have it.

A text of ASCII characters is compared in lower case, which takes a third of the time of folding it; any other, and any
of a normaliser that does more than that to ASCII, is folded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dbsim.text.normalisers.normaliser import Normaliser

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")  # what words of ASCII in lower case are made of


@dataclass(frozen=True)
class Run:
    """Words one after the other, folded and with one space between them."""

    words: bytes

    @cached_property
    def _marked(self) -> bytes:
        return b" " + self.words + b" "

    @cached_property
    def _folded(self) -> re.Pattern[bytes]:
        """Several spaces may stand between words of a folded text."""
        return re.compile(b" " + b" +".join(map(re.escape, self.words.split())) + b" ")

    @cached_property
    def parts(self) -> list[str]:
        """The words, if all are ASCII; otherwise no text of ASCII characters has them."""
        return self.words.decode().split() if self.words.isascii() else []

    @cached_property
    def _spaced(self) -> str:
        return f" {' '.join(self.parts)} "

    @cached_property
    def _lowered(self) -> re.Pattern[str]:
        """From the place of the first word on."""
        return re.compile("[^a-z0-9]+".join(map(re.escape, self.parts)) + "(?![a-z0-9])")

    def in_folded(self, text: bytes) -> bool:
        """A folded text with spaces at both ends."""
        return self._marked in text if b" " not in self.words else self._folded.search(text) is not None

    def in_lowered(self, text: str) -> bool:
        """At the places of the first word: a pattern alone would look at every character, at twenty times the cost."""
        if self._spaced in text:
            return True
        at = text.find(self.parts[0])
        while at >= 0:
            if (at == 0 or text[at - 1] not in LETTERS) and self._lowered.match(text, at):
                return True
            at = text.find(self.parts[0], at + 1)
        return False


@dataclass(frozen=True)
class FieldTexts:
    """The texts of one field."""

    normaliser: Normaliser
    texts: Sequence[str]

    def having(self, run: Run, places: Sequence[int]) -> list[int]:
        """Those of these texts that have the words, in no certain order; none has no words."""
        if not run.words:
            return []
        lowered, folded = self._lowered, self._folded
        found = [place for place in places if place in folded and run.in_folded(folded[place])] if folded else []
        for part in run.parts:
            places = [place for place in places if part in lowered[place]]
        return found + [place for place in places if run.in_lowered(lowered[place])] if run.parts else found

    @cached_property
    def _lowered(self) -> list[str]:
        """Those that need no folding; nothing in place of the others."""
        plain = self.normaliser.plain
        return [text.lower() if plain and text.isascii() else "" for text in self.texts]

    @cached_property
    def _folded(self) -> dict[int, bytes]:
        """The others, by their place."""
        others = [place for place, text in enumerate(self._lowered) if not text]
        return dict(zip(others, self.normaliser.fold_all([self.texts[place] for place in others]), strict=True))

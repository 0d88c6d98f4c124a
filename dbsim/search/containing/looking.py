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
    def _parts(self) -> list[str]:
        """The words, if all are ASCII; otherwise no text of ASCII characters has them."""
        return self.words.decode().split() if self.words.isascii() else []

    @cached_property
    def _lowered(self) -> re.Pattern[str]:
        """From the place of the first word on."""
        return re.compile("[^a-z0-9]+".join(map(re.escape, self._parts)) + "(?![a-z0-9])")

    def inside(self, text: str | bytes) -> bool:
        """A text in lower case, or a folded one with spaces at both ends."""
        if isinstance(text, str):
            return bool(self._parts) and all(part in text for part in self._parts) and self._inside_lowered(text)
        return self._marked in text if b" " not in self.words else self._folded.search(text) is not None

    def _inside_lowered(self, text: str) -> bool:
        """At the places of the first word: a pattern alone would look at every character, at twenty times the cost."""
        at = text.find(self._parts[0])
        while at >= 0:
            if (at == 0 or text[at - 1] not in LETTERS) and self._lowered.match(text, at):
                return True
            at = text.find(self._parts[0], at + 1)
        return False


@dataclass(frozen=True)
class FieldTexts:
    """The texts of one field."""

    normaliser: Normaliser
    texts: Sequence[str]

    def having(self, run: Run, places: Sequence[int]) -> list[int]:
        """Those of these texts that have the words; none has no words."""
        return [place for place in places if run.inside(self._forms[place])] if run.words else []

    @cached_property
    def _forms(self) -> list[str | bytes]:
        if not self.normaliser.plain:
            return list(self.normaliser.fold_all(self.texts))
        forms: list[str | bytes] = [text.lower() if text.isascii() else b"" for text in self.texts]
        others = [place for place, form in enumerate(forms) if form == b""]
        for place, folded in zip(others, self.normaliser.fold_all([self.texts[n] for n in others]), strict=True):
            forms[place] = folded
        return forms

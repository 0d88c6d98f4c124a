"""The look at a text that decides whether it has a run of words: texts of a field → which of them have it.

A text of ASCII characters is compared in lower case, which takes a third of the time of folding it; any other, and any
of a normaliser that does more than that to ASCII, is folded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

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
    def _rest(self) -> re.Pattern[str]:
        """What follows the first word."""
        return re.compile("".join(f"[^a-z0-9]+{re.escape(part)}" for part in self.parts[1:]) + "(?![a-z0-9])")

    def in_folded(self, text: bytes) -> bool:
        """A folded text with spaces at both ends."""
        return self._marked in text if b" " not in self.words else self._folded.search(text) is not None

    def end(self, text: str, at: int) -> int:
        """Where it ends in a text in lower case that has the first word's letters there; 0 if it is not there."""
        found = None if text[at - 1] in LETTERS else self._rest.match(text, at + len(self.parts[0]))
        return found.end() if found else 0


@dataclass(frozen=True)
class Joined:
    """Texts of ASCII characters as one, in lower case, so that a search in it is one call however many they are.

    `numbers` are those of the texts, `starts` the places where they begin, and the end.
    """

    text: str
    numbers: Sequence[int]
    starts: Sequence[int]

    @staticmethod
    def of(texts: Sequence[str], numbers: Sequence[int]) -> Joined:
        chosen = [texts[number] for number in numbers]
        starts = accumulate((len(text) + 1 for text in chosen), initial=1)
        return Joined("\n".join(("", *chosen, "")).lower(), numbers, list(starts))

    def having(self, run: Run) -> list[int]:
        """The numbers of the texts that have the words; one that is found is not searched on."""
        return self._having_word(run.parts[0]) if len(run.parts) == 1 else self._having_words(run)

    def _having_word(self, word: str) -> list[int]:
        text, starts, size, found = self.text, self.starts, len(word), []
        at = text.find(word)
        while at >= 0:
            if text[at - 1] not in LETTERS and text[at + size] not in LETTERS:
                place = bisect_right(starts, at)
                found.append(self.numbers[place - 1])
                at = starts[place] - 1
            at = text.find(word, at + 1)
        return found

    def _having_words(self, run: Run) -> list[int]:
        text, starts, first, found = self.text, self.starts, run.parts[0], []
        at = text.find(first)
        while at >= 0:
            place = bisect_right(starts, at)
            if 0 < run.end(text, at) < starts[place]:  # not in two texts
                found.append(self.numbers[place - 1])
                at = starts[place] - 1
            at = text.find(first, at + 1)
        return found


@dataclass(frozen=True)
class FieldTexts:
    """The texts of one field."""

    normaliser: Normaliser
    texts: Sequence[str]

    def having(self, run: Run) -> set[int]:
        """Those that have the words; none has no words."""
        if not run.words:
            return set()
        found = {number for number, text in self._folded.items() if run.in_folded(text)}
        return found.union(self._joined.having(run)) if run.parts else found

    @cached_property
    def _plain(self) -> list[int]:
        """Those that need no folding."""
        return [number for number, text in enumerate(self.texts) if text.isascii()] if self.normaliser.plain else []

    @cached_property
    def _joined(self) -> Joined:
        return Joined.of(self.texts, self._plain)

    @cached_property
    def _folded(self) -> dict[int, bytes]:
        """The others, by their number."""
        if len(self._plain) == len(self.texts):
            return {}
        others = sorted({*range(len(self.texts))}.difference(self._plain))
        return dict(zip(others, self.normaliser.fold_all([self.texts[number] for number in others]), strict=True))

"""Rows drawn by asking for random words (Bharat and Broder 1998, Sauerhoff 2008, §2.1): words, questions → keys.

Ask for a random word, take a random one of the answers. Rows with many words are drawn too often that way; the two
rejections of Bar-Yossef and Gurevich (2006) undo it: a word is kept with a chance that grows with the number of its
answers, so that every (word, row) is equally likely, and a row with a chance that falls with the number of its words.
What comes out is uniform over the rows that some word of the lexicon can find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dbsim.errors import InvalidOption
from dbsim.tables.source import Key

Answers = Callable[[str, int], list[Key]]  # a word, at most so many → rows that have it
WordsOf = Callable[[Key], Sequence[str]]  # a row → its words
TRIES = 2000  # questions for each row wanted before it is given up


@dataclass
class QuerySampler:
    """Draws through questions alone; what a word finds is asked once and remembered."""

    lexicon: Sequence[str]
    answers: Answers
    words_of: WordsOf
    first: int = 100  # a word with more answers says too little, one with none says nothing
    uniform: bool = True
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    _found: dict[str, list[Key]] = field(default_factory=dict)

    def draw(self, size: int) -> list[Key]:
        """`size` rows, with repetition, as the source draws them."""
        if not self.lexicon:
            raise InvalidOption("there is no word to ask for: give some words, or index a table with texts")
        known = set(self.lexicon)
        drawn: list[Key] = []
        for _ in range(TRIES * size):
            if len(drawn) == size:
                break
            word = self.lexicon[int(self.rng.integers(len(self.lexicon)))]
            rows = self._rows(word)
            if not rows or (self.uniform and self.rng.random() >= len(rows) / self.first):
                continue
            row = rows[int(self.rng.integers(len(rows)))]
            if not self.uniform or self.rng.random() < 1 / self._usable(row, known):
                drawn.append(row)
        if len(drawn) < size:
            raise InvalidOption(
                f"{TRIES * size} questions drew {len(drawn)} rows of {size}: give rarer words, or a higher `first`"
            )
        return drawn

    def _usable(self, row: Key, known: set[str]) -> int:
        """How many words lead to the row; at least the one that did."""
        return max(sum(bool(self._rows(word)) for word in set(self.words_of(row)) & known), 1)

    def _rows(self, word: str) -> list[Key]:
        """All rows with the word, none when there are more than `first`: then their order would decide."""
        if word not in self._found:
            rows = self.answers(word, self.first + 1)
            self._found[word] = rows if len(rows) <= self.first else []
        return self._found[word]

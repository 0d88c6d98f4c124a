"""An index as a collection that only answers questions for words: a word → rows, a row → its words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbsim.evaluate.sampling.sample import draw
from dbsim.search.containing.contains import contains
from dbsim.search.containing.words import Question, Words
from dbsim.search.searcher import SearchEngine
from dbsim.tables.source import Key

LEXICON_ROWS = 500  # rows whose words are asked for when the user gives none


@dataclass(frozen=True)
class Asking:
    """Every question goes through `contains`, as a user's would."""

    search: SearchEngine

    def answers(self, word: str, limit: int) -> list[Key]:
        tables = self.search.tables
        question = Question(tables, self.search.signer, Words(all=(word,)))
        found = contains(self.search, question, None, limit, None)
        names = tables.key_names
        return [(key,) if len(names) == 1 else tuple(key[name] for name in names) for key in found]

    def words_of(self, key: Key) -> list[str]:
        """The words of a row's fields that can be asked for, as the index spells them."""
        (texts,) = self.search.columns_of([key])
        return [] if texts is None else self._words(texts)

    def lexicon(self, rng: np.random.Generator) -> list[str]:
        """The words of some rows drawn at random, each once."""
        tables, backend = self.search.tables, self.search.backend
        keys = self.search.read(lambda c: draw(c, backend, tables, LEXICON_ROWS, rng))
        rows = self.search.columns_of(keys)
        return list(dict.fromkeys(word for row in rows if row is not None for word in self._words(row)))

    def _words(self, texts: tuple[str, ...]) -> list[str]:
        fields = [(number, field) for number, field in enumerate(self.search.options.fields) if field.word_bits]
        folded = [field.analyser().fold([texts[number]])[0] for number, field in fields]
        return [word.decode("utf-8", "replace") for text in folded for word in text.split()]

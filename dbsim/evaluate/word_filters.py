"""Questions for a word, tried on sampled rows: stored word signatures and texts → how many rows pass in vain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from dbsim.evaluate.figures import WordDrops
from dbsim.evaluate.intervals import clustered_share
from dbsim.search.searcher import SearchEngine
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.source import Key
from dbsim.text.normalisers.registry import normaliser_of

WORDS = 200  # asked for, each of some row; the rows that have it do not count


@dataclass(frozen=True)
class WordTrial:
    """The sampled rows: their keys and the texts of each field of the index."""

    search: SearchEngine
    keys: list[Key]
    columns: list[list[str]]

    def run(self, rng: np.random.Generator) -> tuple[WordDrops, ...]:
        """One value a field with word signatures."""
        fields = [(place, one) for place, one in enumerate(self.search.options.fields) if one.word_bits]
        if not fields:
            return ()
        stored, first, found = self.search.read(self._stored), 0, []
        there = [place for place, key in enumerate(self.keys) if key in stored]
        rows = np.array([stored[self.keys[place]] for place in there], np.int64).reshape(len(there), -1)
        for place, field in fields:
            texts = normaliser_of(field.normaliser).fold_all([self.columns[place][row] for row in there])
            signed = rows[:, first : first + field.word_bits // 64]
            found.append(self._field(place, texts, signed, rng))
            first += field.word_bits // 64
        return tuple(found)

    def _stored(self, connection: Connection) -> dict[Key, tuple[int, ...]]:
        tables, width = self.search.tables, len(self.search.tables.key_names)
        found: dict[Key, tuple[int, ...]] = {}
        for some in chunks(self.keys, self.search.backend.key_batch):
            query = select(*tables.words.c).where(among(key_columns(tables.words, tables), some))
            found |= {tuple(row[:width]): tuple(row[width:]) for row in connection.execute(query)}
        return found

    def _field(self, place: int, texts: list[bytes], signed: NDArray[np.int64], rng: np.random.Generator) -> WordDrops:
        lexicon = sorted({word for text in texts for word in text.split()})
        asked = [lexicon[number] for number in rng.permutation(len(lexicon))[:WORDS]]
        in_vain, lacking, missed = [], [], 0
        for word in asked:
            mark = self.search.signer.marks.mark(place, word)
            passed = ((signed & mark) == mark).all(axis=1)
            has = np.fromiter((b" %b " % word in text for text in texts), bool, len(texts))
            in_vain.append(int((passed & ~has).sum()))
            lacking.append(int((~has).sum()))
            missed += int((has & ~passed).sum())
        field = self.search.options.fields[place]
        rate = clustered_share(np.array(in_vain, np.int64), np.array(lacking, np.int64))
        return WordDrops(field.name, field.false_drops, len(asked), rate, missed)

"""Questions for words and phrases: texts → a condition on word signatures, and the look at the text that decides.

A signature that lacks a mark proves that the word is not there; one that has all marks proves nothing, so the rows that
pass are read. For negation it is the other way round: a row without the marks is surely an answer, and one with them is
read before it is left out. Either way the answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, ColumnElement, and_, bindparam, literal_column, or_

from dbsim.errors import InvalidOption
from dbsim.hashing.signer import Signer
from dbsim.options import Field
from dbsim.search.containing.looking import FieldTexts, Run
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import identifier, quote
from dbsim.tables.slice_tables import SliceTables
from dbsim.text.normalisers.registry import normaliser_of


@dataclass(frozen=True, kw_only=True)
class Words:
    """All of these words, these phrases, and none of those words or phrases."""

    all: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()

    @staticmethod
    def of(words: Sequence[str], phrase: str | Sequence[str] = (), none_of: str | Sequence[str] = ()) -> Words:
        """A single text stands for a list of one."""
        phrases, none = ((some,) if isinstance(some, str) else tuple(some) for some in (phrase, none_of))
        for word in (*words, *phrases, *none):
            if not isinstance(word, str):
                raise InvalidOption(f"words are texts, one argument each, not {type(word).__name__}")
        return Words(all=tuple(words), phrases=phrases, none_of=none)


@dataclass(frozen=True)
class Question:
    """Words as one index sees them; `folded[field]` of a row is its normalised text."""

    tables: IndexTables
    signer: Signer
    words: Words

    def __post_init__(self) -> None:
        if not self.fields:
            name = self.tables.record.name
            raise InvalidOption(
                f"index {name!r} has no word signatures: add them with `dbsim alter DB {name} --signature`, then sync"
            )
        if self.tables.shown:
            function = identifier("dbsim", self.tables.record.name, "contains")
            raise InvalidOption(
                f"questions for words need the index's secret, which this role may not read: ask {function}(…) in SQL"
            )
        if not (self.wanted or self.unwanted):
            raise InvalidOption("name at least one word to look for, or to leave out")

    @cached_property
    def fields(self) -> list[tuple[int, Field]]:
        """Those with a signature, by their place."""
        return [(n, field) for n, field in enumerate(self.tables.record.options.fields) if field.word_bits]

    @cached_property
    def wanted(self) -> list[list[bytes]]:
        """Each term as every field's normaliser spells it."""
        return [self._spelled(text) for text in (*self.words.all, *self.words.phrases)]

    @cached_property
    def unwanted(self) -> list[list[bytes]]:
        return [self._spelled(text) for text in self.words.none_of]

    def _spelled(self, text: str) -> list[bytes]:
        found = [b" ".join(field.analyser().fold([text])[0].split()) for _, field in self.fields]
        if not any(found):
            raise InvalidOption(f"{text!r} has no word in it: look for letters or digits")
        return found

    # ── what the database decides ──
    def condition(self) -> ColumnElement[bool] | None:
        """Rows that may have all that is wanted; None when nothing is."""
        return and_(*(self._marked(term) for term in self.wanted)) if self.wanted else None

    def doubtful(self) -> ColumnElement[bool] | None:
        """Rows that may have something unwanted; None when nothing is."""
        return or_(*(self._marked(term) for term in self.unwanted)) if self.unwanted else None

    def _marked(self, term: Sequence[bytes]) -> ColumnElement[bool]:
        """Some field has every mark of the term."""
        return or_(*(and_(*(_has(name, mark) for name, mark in field)) for field in self._marks(term)))

    def _marks(self, term: Sequence[bytes]) -> Iterator[list[tuple[str, int]]]:
        """Columns and what must be set in them, for each field that can have the term."""
        for names, number, folded in zip(self.tables.names.words, range(len(self.fields)), term, strict=True):
            if folded:
                marks = self._mark(number, folded).tolist()
                marked = [(name, mark) for name, mark in zip(names, marks, strict=True) if mark]
                # most bits first: the first comparison ends it for nearly every row
                yield sorted(marked, key=lambda one: -(one[1] & (1 << 64) - 1).bit_count())

    def as_text(self, terms: Sequence[Sequence[bytes]], *, every: bool) -> str:
        """The same as plain SQL, which is made in a tenth of the time: all terms, or one of them at least."""
        found = (
            " OR ".join(" AND ".join(f"{quote(n)} & {_number(m)} = {_number(m)}" for n, m in f) for f in self._marks(t))
            for t in terms
        )
        return (" AND " if every else " OR ").join(f"({one})" for one in found)

    def slices(self, terms: Sequence[Sequence[bytes]], wide: bool = False) -> list[list[list[int]]]:
        """The slices of each term in each field that can have it, numbered through all fields; see SliceTables."""
        return [list(self._slices(term, wide)) for term in terms]

    def _slices(self, term: Sequence[bytes], wide: bool) -> Iterator[list[int]]:
        sliced = SliceTables.of(self.tables)
        first, wider = (sliced.bits, sliced.wider) if wide else (0, 0)
        for (place, field), folded in zip(self.fields, term, strict=True):
            if folded:
                yield [first + number for number in self.signer.marks.places(place, folded, wider)]
            first += field.word_bits << wider

    def _mark(self, number: int, folded: bytes) -> NDArray[np.int64]:
        """What the signature of one of the fields must have set."""
        if (number, folded) not in self._known:
            self._known[number, folded] = self.signer.marks.mark(self.fields[number][0], folded)
        return self._known[number, folded]

    @cached_property
    def _known(self) -> dict[tuple[int, bytes], NDArray[np.int64]]:
        return {}

    # ── what the text decides ──
    def answers(self, columns: Sequence[Sequence[str]]) -> list[bool]:
        """Which rows are answers; columns of texts, one a field of the index."""
        fields = [FieldTexts(normaliser_of(field.normaliser), columns[n]) for n, field in self.fields]
        left = {*range(len(columns[0]))}
        wanted, unwanted = self._runs
        for term in wanted:
            left &= _having(term, fields) if left else left
        for term in unwanted:
            left -= _having(term, fields) if left else left
        return [number in left for number in range(len(columns[0]))]

    @cached_property
    def _runs(self) -> tuple[list[list[Run]], list[list[Run]]]:
        wanted, unwanted = ([[Run(part) for part in term] for term in terms] for terms in (self.wanted, self.unwanted))
        return wanted, unwanted


def _having(term: Sequence[Run], fields: Sequence[FieldTexts]) -> set[int]:
    """The rows that have a term, as each field spells it, in one of the fields."""
    return set().union(*(texts.having(run) for run, texts in zip(term, fields, strict=True)))


def _number(mark: int) -> str:
    """The smallest number cannot be written as minus something."""
    return f"CAST('{mark}' AS BIGINT)"


def _has(name: str, mark: int) -> ColumnElement[bool]:
    """By name: the columns belong to no table that other statements read."""
    column = literal_column(quote(name), BigInteger)
    value = bindparam("dbsim_mark", mark, BigInteger, unique=True)
    return column.op("&")(value) == value

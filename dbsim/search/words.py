"""Questions for words and phrases: texts → a condition on word signatures, and the look at the text that decides.

A signature that lacks a mark proves that the word is not there; one that has all marks proves nothing, so the rows that
pass are read. For negation it is the other way round: a row without the marks is surely an answer, and one with them is
read before it is left out. Either way the answer is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import BigInteger, ColumnElement, and_, bindparam, literal_column, or_

from dbsim.errors import InvalidOption
from dbsim.hashing.signer import Signer
from dbsim.options import Field
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import identifier, quote
from dbsim.text.features import Analyser

Inside = Callable[[bytes], bool]  # a folded text → whether the words are in it


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
        names = self.tables.names.words
        found = []
        for place, ((number, _), folded) in enumerate(zip(self.fields, term, strict=True)):
            if folded:
                marks = self.signer.mark(number, folded).tolist()
                marked = [(name, mark) for name, mark in zip(names[place], marks, strict=True) if mark]
                # most bits first: the first comparison ends it for nearly every row
                marked.sort(key=lambda one: -(one[1] & (1 << 64) - 1).bit_count())
                found.append(and_(*(_has(name, mark) for name, mark in marked)))
        return or_(*found)

    # ── what the text decides ──
    def answers(self, columns: Sequence[Sequence[str]]) -> list[bool]:
        """Which rows are answers; columns of texts, one a field of the index."""
        folded = (analyser.fold(columns[n]) for analyser, (n, _) in zip(self._analysers, self.fields, strict=True))
        return [self._fits([b" %b " % text for text in row]) for row in zip(*folded, strict=True)]

    def _fits(self, row: Sequence[bytes]) -> bool:
        wanted, unwanted = self._patterns
        return all(_inside(term, row) for term in wanted) and not any(_inside(term, row) for term in unwanted)

    @cached_property
    def _analysers(self) -> list[Analyser]:
        return [field.analyser() for _, field in self.fields]

    @cached_property
    def _patterns(self) -> tuple[list[list[Inside]], list[list[Inside]]]:
        wanted, unwanted = (
            [[_finder(part) for part in term] for term in terms] for terms in (self.wanted, self.unwanted)
        )
        return wanted, unwanted


def _inside(term: Sequence[Inside], row: Sequence[bytes]) -> bool:
    return any(finds(text) for finds, text in zip(term, row, strict=True))


def _finder(words: bytes) -> Inside:
    """Looks for a run of words in a folded text with spaces at both ends, where several may stand between words."""
    if not words:
        return lambda text: False
    if b" " not in words:
        marked = b" " + words + b" "
        return lambda text: marked in text
    found = re.compile(b" " + b" +".join(map(re.escape, words.split())) + b" ")
    return lambda text: found.search(text) is not None


def _has(name: str, mark: int) -> ColumnElement[bool]:
    """By name: the columns belong to no table that other statements read."""
    column = literal_column(quote(name), BigInteger)
    value = bindparam("dbsim_mark", mark, BigInteger, unique=True)
    return column.op("&")(value) == value

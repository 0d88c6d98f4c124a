"""The filters of Kampf's sketch for an index: folded texts → Filters, by the arithmetic beside it, all of them at once.

A setting is written partitioned:characters=30:rate=0.01:similarity=raw, as families are; `parts` and `length` follow
from it. Nothing of these filters is keyed.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import Filters, Reading
from dbsim.hashing.partitioned.arithmetic import ALPHABET, BASE, Shape, positions, shape_for

NAME = "partitioned@1"
SIMILARITIES = ("cardinality", "raw", "corrected")
WORD = 64
FILLER = ALPHABET[0].encode()
_SYMBOLS = np.zeros(256, np.int64)  # what has no symbol is the filler
_SYMBOLS[np.frombuffer(ALPHABET.encode(), np.uint8)] = np.arange(BASE)


@dataclass(frozen=True, kw_only=True)
class Parted:
    """`characters`: the expected length; `rate`: of false positives then; `size`: of n-grams."""

    characters: int = 0
    rate: float = 0.01
    similarity: str = "cardinality"
    size: int = 0
    parts: int = 0
    length: int = 0

    def __post_init__(self) -> None:
        if self.similarity not in SIMILARITIES:
            raise ValueError(f"there is no similarity {self.similarity!r}: use {', '.join(SIMILARITIES)}")
        if not 0 < self.rate < 1 or self.characters < 0:
            raise ValueError("characters is the expected length of a value, and rate a number between 0 and 1")

    def for_texts(self, characters: int, size: int) -> Parted:
        """Of a shape for so many characters, unless the length was given."""
        characters = self.characters or characters
        shape = shape_for(characters, size, self.rate)
        return replace(self, characters=characters, size=size, parts=shape.parts, length=shape.length)

    def asked(self) -> Parted:
        """Without what follows from the texts; an expected length stays."""
        return replace(self, size=0, parts=0, length=0)

    def has(self, asked: Parted) -> bool:
        """Whether it is what somebody asks for, who may leave the length open."""
        mine = self.asked()
        return asked == mine or asked == replace(mine, characters=0)

    @property
    def resolved(self) -> bool:
        return bool(self.parts and self.length and self.size)

    @property
    def shape(self) -> Shape:
        return Shape(self.parts, self.length)

    @property
    def bits(self) -> int:
        """As they are stored: whole words."""
        return -(-self.shape.bits // WORD) * WORD

    @property
    def reading(self) -> Reading:
        if self.similarity == "cardinality":
            return Reading(self.bits, self.shape.bits)
        delta = self.shape.collisions(self.characters + self.size - 1) if self.similarity == "corrected" else 0.0
        return Reading(self.bits, self.shape.bits, (1 + delta**2) / (1 + 2 * delta - delta**2))

    def __str__(self) -> str:
        own = [(field.name, getattr(self, field.name)) for field in fields(self)]
        usual = Parted()
        return ":".join([NAME, *(f"{key}={value}" for key, value in own if value != getattr(usual, key))])

    def filters(self, folded: Sequence[Sequence[bytes]]) -> Filters:
        """Of documents, each with one or more folded values, whose filters are merged by OR."""
        values = [b" ".join(value.split()) for document in folded for value in document]
        owners = np.repeat(np.arange(len(folded)), [len(document) for document in folded])
        bits = np.zeros((len(folded), self.bits), np.uint8)
        words, documents = _words(values, owners, self.size)
        bits.reshape(-1)[(documents[:, None] * self.bits + positions(words, self.shape)).reshape(-1)] = 1
        packed = np.packbits(bits, axis=1)
        return Filters(packed, np.bitwise_count(packed).sum(axis=1, dtype=np.int64), self.shape.bits)


@lru_cache(maxsize=64)
def parted(text: str) -> Parted:
    """partitioned[@1][:SETTING=VALUE…]"""
    name, *settings = text.split(":")
    if name not in (NAME, NAME.partition("@")[0]):
        hint = difflib.get_close_matches(name, [NAME], n=1, cutoff=0.5)
        raise ValueError(
            f"there is no filter {name!r}" + ("; did you mean 'partitioned'?" if hint else ": use partitioned")
        )
    usual = Parted()
    known: dict[str, type] = {field.name: type(getattr(usual, field.name)) for field in fields(Parted)}
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if key not in known or not equals:
            raise ValueError(f"{setting!r} is no setting of a partitioned filter: use characters, rate, similarity")
        try:
            values[key] = known[key](value)
        except ValueError as error:
            raise ValueError(f"{setting} is not possible: {key} must be {known[key].__name__}") from error
    return Parted(**values)


def _words(
    values: Sequence[bytes], owners: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indexes of all padded n-grams, and whose they are: all texts at once, a place in the n-gram at a time."""
    padding = FILLER * (size - 1)
    there = [number for number, value in enumerate(values) if value]
    if not there:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    data = np.frombuffer(b"".join(padding + values[number] + padding for number in there), np.uint8)
    lengths = np.array([len(values[number]) + 2 * (size - 1) for number in there])
    whose = np.repeat(owners[there], lengths)
    value = np.repeat(np.arange(len(there)), lengths)
    character = (data & 0xC0) != 0x80  # one symbol a character: not its further bytes in UTF-8
    symbols, whose, value = _SYMBOLS[data[character]] + 1, whose[character], value[character]
    end = len(symbols) - size + 1
    found = np.zeros(end, np.int64)
    for place in range(size):
        found = found * BASE + symbols[place : place + end]
    inside = value[:end] == value[size - 1 :]
    return found[inside], whose[:end][inside]

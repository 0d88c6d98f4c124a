"""A field of an index: the columns it joins, how their text is cut up, and the bits of its filter: Field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dbsim.errors import InvalidOption
from dbsim.hashing.bloom import Reading
from dbsim.hashing.partitioned.parted import Parted, parted
from dbsim.hashing.signer import FieldPlan
from dbsim.hashing.word_signatures import WordSignature
from dbsim.text.features import Analyser
from dbsim.text.kinds import registry as _kinds  # noqa: F401  # worker processes know the fields of persons by it
from dbsim.text.normalisers.registry import newest

UNITS = ("words", "characters")
MOST_WORD_BITS = 1 << 15  # of all fields: 512 columns of 64 bits, half of the page that a row of PostgreSQL must fit on
FOLDS = (0, 1)


@dataclass(frozen=True, kw_only=True)
class Field:
    """One filter and one share of the score: the joined text of one or more columns.

    unit, size, bits and sample left at None (or 0), and a normaliser left at "", are chosen from the table when the
    index is created.
    """

    columns: tuple[str, ...]
    weight: float = 1.0
    normaliser: str = "text"
    unit: str | None = None
    size: int = 0
    bits: int = 0
    sample: int = 0
    false_drops: float = 0.0  # above 0: the field has a word signature of word_bits bits, word_marks a word
    word_bits: int = 0
    word_marks: int = 0
    fold: int = 0  # records: the filter is made twice as long, and its halves are folded by XOR so many times
    filter: str = ""  # another one than the keyed one: partitioned, as in Kampf's sketch

    def __post_init__(self) -> None:
        if not self.columns:
            raise InvalidOption("a field needs at least one column")
        if len(set(self.columns)) < len(self.columns):
            raise InvalidOption(f"a column is named twice among {', '.join(self.columns)}: name each column once")
        if not 0 < self.weight < float("inf"):
            raise InvalidOption(f"the weight of {self.name!r} is {self.weight}, but must be a positive number")
        asked_normaliser(self.normaliser)
        if self.unit is not None and self.unit not in UNITS:
            raise InvalidOption(f"the unit of a feature is one of {', '.join(UNITS)}, not {self.unit!r}")
        if not 0 <= self.size <= 32:
            raise InvalidOption(f"{self.size} {self.unit or 'tokens'} in a row is out of range: use 1 to 32")
        if self.filter:
            self._require_parted()
        elif self.bits and (self.bits < 64 or self.bits > 65536 or self.bits & (self.bits - 1)):
            raise InvalidOption(f"a filter of {self.bits} bits is not possible: use a power of two from 64 to 65536")
        if self.sample & (self.sample - 1):
            raise InvalidOption(f"sample is {self.sample}, but must be a power of two")
        if self.fold not in FOLDS:
            raise InvalidOption(f"fold is {self.fold}, but a filter can be folded once (1) or not at all (0)")
        if not 0 <= self.false_drops < 1:
            raise InvalidOption(f"a false-drop rate of {self.false_drops} is not possible: use a number from 0 to 1")
        if self.word_bits and (self.word_bits % 64 or self.word_bits > MOST_WORD_BITS):
            raise InvalidOption(
                f"a word signature of {self.word_bits} bits is not possible: use a multiple of 64, at most "
                f"{MOST_WORD_BITS}"
            )

    def _require_parted(self) -> None:
        parted = self.parted
        assert parted is not None
        if self.fold:
            raise InvalidOption("partitioned filters are not folded: leave out fold, or the filter")
        if self.bits and not (parted.resolved and self.bits == parted.bits):
            raise InvalidOption(
                "the bits of a partitioned filter follow from the expected length and the rate: leave them out, and "
                "say filter='partitioned:characters=30:rate=0.01'"
            )

    @property
    def parted(self) -> Parted | None:
        """The filter of Kampf's sketch, if it is one."""
        try:
            return parted(self.filter) if self.filter else None
        except ValueError as error:
            raise InvalidOption(str(error)) from error

    @cached_property
    def reading(self) -> Reading:
        """How the similarity of two filters is read off them."""
        return self.parted.reading if self.parted else Reading.of(self.bits)

    @property
    def name(self) -> str:
        return "_".join(self.columns)

    @property
    def resolved(self) -> bool:
        signature = not self.false_drops or bool(self.word_bits and self.word_marks)
        return bool(self.normaliser and self.unit and self.size and self.bits and self.sample and signature)

    def plan(self) -> FieldPlan:
        return FieldPlan(
            self.analyser(),
            self.weight,
            self.bits,
            self.sample,
            self.signature,
            self.fold,
            self.parted,
            len(self.columns) > 1,
        )

    @property
    def signature(self) -> WordSignature | None:
        """How the field's words are marked, if they are."""
        return WordSignature(self.word_bits, self.word_marks) if self.word_bits else None

    def analyser(self) -> Analyser:
        return Analyser(normaliser=self.normaliser or "text", unit=self.unit or "words", size=self.size)


def asked_normaliser(name: str | None) -> str:
    """The name to store for the normaliser a user names, of its newest version; "" while the table is to decide."""
    try:
        return newest(name) if name else ""
    except ValueError as error:
        raise InvalidOption(str(error)) from error


def require_positive(**given: int | None) -> None:
    """None means "not given"; zero was given, and is no number of anything."""
    for name, value in given.items():
        if value is not None and value < 1:
            raise InvalidOption(f"{name} is {value}, but must be 1 or more; leave it out to have it chosen")


def field_options(
    words: int | None,
    characters: int | None,
    normaliser: str | None,
    bits: int | None,
    false_drops: float | None,
    filter: str | None = None,
) -> dict[str, Any]:
    """What applies to every field, as far as it was given."""
    require_positive(bits=bits)
    if words is not None and characters is not None:
        raise InvalidOption("give words or characters, not both")
    common: dict[str, Any] = {}
    if words is not None or characters is not None:
        unit, size = ("words", words) if words is not None else ("characters", characters or 0)
        if size < 1:
            raise InvalidOption(f"{size} {unit} in a row is out of range: use 1 to 32")
        common |= {"unit": unit, "size": size}
    if normaliser:
        common["normaliser"] = asked_normaliser(normaliser)
    if false_drops is not None:
        common["false_drops"] = false_drops
    if filter:
        common["filter"] = filter
    return common | ({"bits": bits} if bits is not None else {})


def describe_columns(found: Sequence[Field]) -> str:
    """With weights where they say something."""
    weighted = any(field.weight != found[0].weight for field in found)
    return ", ".join("+".join(field.columns) + (f":{field.weight:g}" if weighted else "") for field in found)


def fields_from(
    columns: str | Sequence[str] | Mapping[str, float] | None, given: Sequence[Field] | None, **common: Any
) -> tuple[Field, ...]:
    """`columns=["title", "body"]` is one joined text, `columns={"title": 0.3, "body": 0.7}` a weighted field each."""
    if given:
        if columns:
            raise InvalidOption("give either columns or fields, not both")
        return tuple(replace(field, normaliser=asked_normaliser(field.normaliser)) for field in given)
    if isinstance(columns, str):
        columns = [columns]
    if not columns:
        raise InvalidOption("name at least one column")
    common["normaliser"] = asked_normaliser(common.get("normaliser"))
    if isinstance(columns, Mapping):
        return tuple(Field(columns=(name,), weight=weight, **common) for name, weight in columns.items())
    return (Field(columns=tuple(columns), **common),)

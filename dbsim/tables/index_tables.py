"""The tables of one index, made from its options: IndexRecord → Table (signatures), Table (queue), Table (source)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import RLock
from typing import Any, Generic, Self, TypeVar

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    cast,
    text,
)
from sqlalchemy.schema import Index
from sqlalchemy.sql.ddl import CreateIndex
from sqlalchemy.types import UserDefinedType

from dbsim.options import IndexOptions
from dbsim.tables.catalogue import IndexRecord
from dbsim.tables.names import identifier
from dbsim.tables.types import filter_bits, moment, placed

MOST_COLUMNS = 32  # of a B-tree on PostgreSQL
LAYOUTS = 256  # indexes and generations whose tables a process keeps
GENERATIONS = 4  # of these, of one index: an index whose options change all the time must not fill the memory
Made = TypeVar("Made")
_MAKING = RLock()


class made_once(Generic[Made]):  # read like a property
    """An attribute that follows from an index's options, key and generation, for all who hold those, in any thread.

    SQLAlchemy knows a compiled statement by the very tables in it: with tables of its own every `sync` would compile
    its statements again, and push others out of the cache of the application's engine.
    """

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self.make = make

    def __get__(self, owner: Any, _: type) -> Made:
        kept, name = owner.made, self.make.__name__
        with _MAKING:
            if name not in kept:
                kept[name] = self.make(owner)
        found: Made = vars(owner).setdefault(name, kept[name])  # from now on without this detour
        return found


@dataclass(frozen=True)
class Layout:
    """What the tables of one generation follow from; in any database."""

    options: IndexOptions
    primary_key: tuple[tuple[str, str], ...]
    generation: int
    shown: bool


Kept = dict[type, dict[str, Any]]  # by the class that it is an attribute of, and its name
_LAYOUTS: OrderedDict[Layout, Kept] = OrderedDict()  # the one that was used last is the last


def _made(layout: Layout) -> Kept:
    """What is made once of a layout; a new generation of an index makes earlier ones forgotten."""
    with _MAKING:
        if layout not in _LAYOUTS:
            oldest, name = layout.generation - GENERATIONS, layout.options.name
            for one in [one for one in _LAYOUTS if one.generation <= oldest and one.options.name == name]:
                del _LAYOUTS[one]
            _LAYOUTS[layout] = {}
        _LAYOUTS.move_to_end(layout)
        if len(_LAYOUTS) > LAYOUTS:
            _LAYOUTS.popitem(last=False)
        return _LAYOUTS[layout]


def signatures_name(index: str, generation: int) -> str:
    return identifier("dbsim", index) if generation == 1 else identifier("dbsim", index, f"g{generation}")


def parts_name(index: str, generation: int) -> str:
    """The table of a filling's key ranges; see dbsim/sync/filling/parts.py."""
    return identifier(*(["dbsim", index] if generation == 1 else ["dbsim", index, f"g{generation}"]), "parts")


@lru_cache(LAYOUTS)
def feed_table(index: str) -> Table:
    """What the last sync has seen of the column `changed`; no row before the first."""
    return Table(identifier("dbsim", index, "changed_up_to"), MetaData(), Column("up_to", Text, primary_key=True))


def links_name(a: str, b: str) -> str:
    """The table of rows of one index that are rows of another; see dbsim/dedupe/linked."""
    return identifier("dbsim", a, "links", b)


def memory_name(index: str) -> str:
    """The table of what the links of an index have seen; see dbsim/dedupe/linked/memory.py."""
    return identifier("dbsim", index, "linked")


def queue_name(index: str) -> str:
    return identifier("dbsim", index, "queue")


class PlainType(UserDefinedType[object]):
    """A type written as in the source table; values pass through as the driver gives them."""

    cache_ok = True

    def __init__(self, declaration: str) -> None:
        self.declaration = declaration

    def get_col_spec(self, **_: object) -> str:
        return self.declaration

    def bind_expression(self, bindvalue: BindParameter[object]) -> ColumnElement[object]:
        # drivers send a float in double precision, which equals no real with an endless fraction
        return cast(bindvalue, self) if self.declaration == "real" else bindvalue


@dataclass(frozen=True)
class IndexTables:
    """The names and SQLAlchemy tables of one index."""

    record: IndexRecord
    shown: bool = False  # for a role that was granted the index: signatures are read through the view of them
    # statements, and facts that were true of this record's database when they were looked up
    companions: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    kept: Kept = field(init=False, repr=False, compare=False)  # see `made_once`
    made: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        record = self.record
        kept = _made(Layout(record.options, record.primary_key, record.generation, self.shown))
        _take(self, kept)

    @made_once
    def key_names(self) -> list[str]:
        return [name for name, _ in self.record.primary_key]

    @made_once
    def stored_key(self) -> list[ColumnElement[Any]]:
        """The key's columns in the signature table."""
        return [self.signatures.c[name] for name in self.key_names]

    @made_once
    def source_key(self) -> list[ColumnElement[Any]]:
        """The key's columns in the host's table."""
        return [self.source.c[name] for name in self.key_names]

    @made_once
    def names(self) -> ColumnNames:
        return ColumnNames.of(self.record)

    @made_once
    def signatures(self) -> Table:
        """dbsim_<index>: the source's primary key, fingerprint, one column per bucket key, bits and count a field.

        A change of options builds generation 2 in dbsim_<index>_g2 beside it, and so on.
        """
        options, names = self.record.options, self.names
        columns: list[Column[Any]] = [*self._key_columns(primary_key=True), Column(names.fingerprint, BigInteger)]
        columns += [Column(name, BigInteger) for name in names.keys]
        for one, bits, count in zip(options.fields, names.bits, names.counts, strict=True):
            columns.append(Column(bits, filter_bits(one.bits)))
            columns.append(Column(count, Integer, nullable=False))
        columns += [Column(name, SmallInteger, nullable=False) for name in names.rarities]
        stored = signatures_name(self.record.name, self.record.generation)
        shown = identifier("dbsim", self.record.name, "signatures")
        return Table(shown if self.shown else stored, MetaData(), *columns)

    @made_once
    def words(self) -> Table:
        """The same table, only what questions for words read: the key and the columns of the word signatures."""
        names = [name for words in self.names.words for name in words]
        columns = [*self._key_columns(primary_key=True), *(Column(name, BigInteger, nullable=False) for name in names)]
        return Table(signatures_name(self.record.name, self.record.generation), MetaData(), *columns)

    @made_once
    def queue(self) -> Table:
        """dbsim_<index>_queue: append-only, one for all generations; a row without a key asks to compare everything.

        SQLite numbers the rows; PostgreSQL does not, because a sequence would change the application's lastval().
        """
        name = queue_name(self.record.name)
        now = text("CURRENT_TIMESTAMP")
        queued = Column(self.names.queued, moment(), server_default=now)
        return Table(name, MetaData(), *self._key_columns(primary_key=False), queued)

    @made_once
    def source(self) -> Table:
        """The host's table: only the columns dbsim reads."""
        options = self.record.options
        texts = [Column(name, Text) for name in options.columns if name not in self.key_names]
        return Table(options.table, MetaData(), *self._key_columns(primary_key=True), *texts, schema=options.schema)

    @made_once
    def indexes(self) -> list[CreateIndex]:
        """B-trees on the fingerprint and every bucket key; built after the first filling."""
        table, names = self.signatures, self.names
        place = placed(self.record.options.tablespace)
        keys = (names.fingerprint, *names.keys)
        found = [Index(identifier(table.name, name), table.c[name], **place) for name in keys]
        words = list(self.words.c)[len(self.key_names) :] if self.record.options.distributed else []
        if words and len(words) + len(self.key_names) <= MOST_COLUMNS:
            # without slices: everything a question reads in one narrow B-tree, scanned instead of the wide rows
            own = list(self.words.c)[: len(self.key_names)]
            found.append(Index(identifier(table.name, "words"), *words, *own, **place))
        return [CreateIndex(index, if_not_exists=True) for index in found]

    def _key_columns(self, *, primary_key: bool) -> list[Column[Any]]:
        return [
            Column(name, PlainType(type_), primary_key=primary_key, autoincrement=False)
            for name, type_ in self.record.primary_key
        ]


def _take(owner: Any, kept: Kept) -> None:
    """Whatever was made before is at hand, as a plain attribute."""
    with _MAKING:
        made = kept.setdefault(type(owner), {})
        vars(owner).update(made, kept=kept, made=made)


@dataclass(frozen=True)
class TablesBeside:
    """Other tables of an index, for a purpose of their own."""

    tables: IndexTables
    kept: Kept = field(init=False, repr=False, compare=False)
    made: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _take(self, self.tables.kept)

    @classmethod
    def of(cls, tables: IndexTables) -> Self:
        """The same for the same tables: making a table takes longer than asking it."""
        found: Self | None = tables.companions.get(cls.__name__)
        if found is None:
            found = tables.companions[cls.__name__] = cls(tables)
        return found


@dataclass(frozen=True)
class ColumnNames:
    """Names of the derived columns, moved out of the way where the source's key has the same name."""

    fingerprint: str
    keys: tuple[str, ...]
    bits: tuple[str, ...]
    counts: tuple[str, ...]
    queued: str
    score: str  # of search results, not stored
    error: str  # its standard error, not stored
    words: tuple[tuple[str, ...], ...]  # of fields with a word signature
    rarities: tuple[str, ...] = ()  # of records of persons, a field each

    @staticmethod
    def of(record: IndexRecord) -> ColumnNames:
        free = partial(free_name, {name.lower() for name, _ in record.primary_key})
        options = record.options
        return ColumnNames(
            fingerprint=free("fingerprint"),
            keys=tuple(free(f"k{number}") for number in range(options.keys)),
            bits=tuple(free(one.name, "bits") for one in options.fields),
            counts=tuple(free(one.name, "count") for one in options.fields),
            queued=free("queued_at"),
            score=free("score"),
            error=free("standard_error"),
            words=tuple(
                tuple(free(one.name, f"w{number}") for number in range(one.word_bits // 64))
                for one in options.fields
                if one.word_bits
            ),
            rarities=tuple(free(one.name, "rarity") for one in options.fields) if options.hashing.rarity else (),
        )


def free_name(taken: set[str], *parts: str) -> str:
    """The parts as a name that is not taken yet; it is from now on."""
    name = identifier(*parts)
    while name.lower() in taken:
        parts = (*parts, "")
        name = identifier(*parts)
    taken.add(name.lower())
    return name

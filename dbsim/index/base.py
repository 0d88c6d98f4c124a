"""What every part of Index stands on: the database, the generation that is searched, and keys in any form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from dbsim.dedupe.run import Deduplication
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.context import DatabaseContext, IndexContext
from dbsim.errors import IndexChanged, InvalidOption
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions
from dbsim.progress import Progress
from dbsim.search.generation import CurrentGeneration
from dbsim.search.searcher import SearchEngine
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key

Result = TypeVar("Result")


class IndexBase:
    """Of one index; the verbs are in the parts."""

    def __init__(self, context: DatabaseContext, record: catalogue.IndexRecord) -> None:
        self._context = context
        self._current = CurrentGeneration(context, record)

    @property
    def _search(self) -> SearchEngine:
        return self._current.search

    @property
    def _tables(self) -> IndexTables:
        return self._search.tables

    @property
    def _signer(self) -> Signer:
        return self._search.signer

    @property
    def context(self) -> IndexContext:
        """What work on the generation that is searched now needs."""
        return self._current.get().context

    def __repr__(self) -> str:
        return f"<dbsim index {self.name!r} on {self.options.table!r}>"

    @property
    def name(self) -> str:
        return self._tables.record.name

    @property
    def options(self) -> IndexOptions:
        return self._tables.record.options

    @property
    def secret(self) -> bytes:
        """With the options it makes `dbsim.bulk` find the very groups of this index; keep it so."""
        if self._signer.missing:
            raise self._signer.missing
        return self._tables.record.secret

    @property
    def key_names(self) -> list[str]:
        """The primary key's columns."""
        return list(self._tables.key_names)

    def texts(self, keys: Sequence[Any]) -> list[str | None]:
        """The indexed text of rows of the table, in the order of the keys; None for one that is gone."""
        return self._search.texts([self.key(key) for key in keys])

    def rows(self, keys: Sequence[Any]) -> list[dict[str, str] | None]:
        """The text of every field of rows of the table, in the order of the keys; None for one that is gone."""
        return [self._by_name(row) for row in self._search.columns_of([self.key(key) for key in keys])]

    def _by_name(self, texts: Sequence[str] | None) -> dict[str, str] | None:
        names = [field.name for field in self.options.fields]
        return None if texts is None else dict(zip(names, texts, strict=True))

    def _deduplicated(self, progress: Progress, work: Callable[[Deduplication], Result]) -> Result:
        """Begun again whenever somebody else has changed the options meanwhile: a follower must outlive all changes."""
        while True:
            with suppress(IndexChanged):
                return self._deduplication(progress).attempt(work)

    def _deduplication(self, progress: Progress) -> Deduplication:
        return Deduplication(Workplace(self._current.look().context, progress))

    def key(self, value: Any) -> Key:
        """A primary key in any of the accepted forms, as a tuple."""
        names = self._tables.key_names
        if isinstance(value, Mapping):
            if set(value) != set(names):
                raise InvalidOption(f"the key consists of {', '.join(names)}, not of {', '.join(map(str, value))}")
            return tuple(value[name] for name in names)
        found = tuple(value) if isinstance(value, tuple | list) else (value,)
        if len(found) != len(names):
            raise InvalidOption(f"the key has {len(names)} parts ({', '.join(names)}), not {len(found)}")
        return found

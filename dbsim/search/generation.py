"""Which generation of an index answers: follows changes of options, so that every answer is that of one generation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from dbsim.engines.context import DatabaseContext
from dbsim.errors import DbsimError, StatementRejected
from dbsim.search.searcher import SearchEngine
from dbsim.tables import catalogue
from dbsim.text.normalisers.unicode_table import UNICODE_VERSION

Result = TypeVar("Result")
FRESH = 2.0  # seconds after which the catalogue is looked at again; an old generation is kept in step much longer


class CurrentGeneration:
    """Searches on connections of dbsim's own take what the catalogue said a moment ago: both generations are full.

    In a caller's transaction the catalogue is asked each time, because its snapshot may be older than a generation.
    """

    def __init__(self, context: DatabaseContext, record: catalogue.IndexRecord) -> None:
        self._context = context
        self._seen = time.monotonic()
        self.search = self._other = self._made(record)

    def look(self, connection: Connection | None = None) -> SearchEngine:
        """The generation that the catalogue names now; one that only a caller's transaction sees is not kept."""
        name = self.search.tables.record.name
        if connection is not None:
            record = self._context.load(connection, name)
        else:
            record = self._context.read(lambda c: self._context.load(c, name))
            self._seen = time.monotonic()
        if record.stamp == self.search.tables.record.stamp:
            return self.search
        if record.stamp != self._other.tables.record.stamp:
            self._other = self._made(record)
        if connection is None:
            self.search = self._other
        return self._other

    def get(self, connection: Connection | None = None) -> SearchEngine:
        """As it was a moment ago, or as the caller's transaction sees it."""
        fresh = connection is None and time.monotonic() - self._seen <= FRESH
        return self.search if fresh else self.look(connection)

    def ask(self, question: Callable[[SearchEngine], Result], connection: Connection | None = None) -> Result:
        """The answer; when the index was changed or dropped meanwhile, the question is asked once more."""
        search = self.get(connection)
        try:
            return question(search)
        except StatementRejected:  # perhaps its table or a column of it is gone
            if connection is not None and self._context.backend.errors_abort:
                raise
            again = self.look(connection)
            if again is search:
                raise
            return question(again)

    def _made(self, record: catalogue.IndexRecord) -> SearchEngine:
        if record.unicode_version != UNICODE_VERSION:
            raise DbsimError(
                f"index {record.name!r} was built with Unicode {record.unicode_version}, this dbsim has "
                f"{UNICODE_VERSION}: drop the index and create it again, or install the dbsim that built it"
            )
        return SearchEngine(self._context.of(record))

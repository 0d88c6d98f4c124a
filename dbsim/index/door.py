"""What is asked before a row is inserted: check_row, add_unless_duplicate, blocked, flagged; a part of Index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbsim.engines.callers import Caller, connection_of
from dbsim.errors import InvalidOption
from dbsim.hashing.records.probability import CERTAIN
from dbsim.index.base import IndexBase
from dbsim.search.door import MATCHES, Admission, Door, Match
from dbsim.search.flagged import Flagged, flagged
from dbsim.sync import models


class AtTheDoor(IndexBase):
    """Needs `_context` and `_current`, as Index has them."""

    def check_row(
        self,
        row: Mapping[str, Any],
        *,
        probability: float | None = None,
        limit: int = MATCHES,
        connection: Caller = None,
    ) -> list[Match]:
        """Rows of the table that are this person, with what speaks for and against it; from the index's threshold on.

        `row` has values by column; columns that it lacks say nothing. Rows that wait in the queue are compared as well.
        """
        given = connection_of(connection)

        def question(search: Any) -> list[Match]:
            least = search.options.threshold if probability is None else probability
            with self._context.searching(given) as own:
                return Door(search).check(own, row, least, limit)

        return self._current.ask(question, given)

    def blocked(
        self, row: Mapping[str, Any], *, probability: float = CERTAIN, connection: Caller = None
    ) -> list[Match]:
        """The same against a list of persons who are not to be let in: whoever this row is on it."""
        return self.check_row(row, probability=probability, connection=connection)

    def flagged(self, *, limit: int = 100, connection: Caller = None) -> list[Flagged]:
        """Rows that came in although the person was there, noted by `on_duplicate="flag"`, the latest first.

        Each with the row that was there, the probability then, and what speaks for and against it now.
        """
        given = connection_of(connection)

        def question(search: Any) -> list[Flagged]:
            with self._context.searching(given) as own:
                models.require(own, search.tables, search.signer)
                return flagged(search, own, limit)

        return self._current.ask(question, given)

    def add_unless_duplicate(
        self, connection: Caller, row: Mapping[str, Any], *, probability: float = CERTAIN
    ) -> Admission:
        """Insert the row into the table, in the caller's transaction, unless this person is there already.

        Of two transactions that bring near-copies of one person the second waits for the first, and then finds its row.
        One row a transaction never deadlocks; with several, be ready to try again.
        """
        given = connection_of(connection)
        if given is None:
            raise InvalidOption("add_unless_duplicate works in your transaction: give its connection")
        if not 0 < probability <= 1:
            raise InvalidOption(f"probability is {probability}, but must be above 0 and at most 1")
        # before anything is read: SQLite cannot become the writer of what has changed since
        self._context.backend.lock_buckets(given, self._current.search.tables, [])
        return Door(self._current.get(given)).add(given, row, probability)

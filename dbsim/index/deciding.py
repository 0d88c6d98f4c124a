"""What people decided about pairs of rows: decide, undecide, decisions; a part of Index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dbsim.dedupe.people.decisions import Book, Decision
from dbsim.engines.callers import Caller, connection_of
from dbsim.index.searching import Searching


class Deciding(Searching):
    """Every method is one look into the book of decisions."""

    def decide(
        self,
        a: Any,
        b: Any,
        verdict: str,
        *,
        who: str | None = None,
        note: str | None = None,
        connection: Caller = None,
    ) -> Decision:
        """Say of two rows that they are the "same", "different", or that you are "unsure"; kept in the database.

        Groups have rows that are the same together, also below the threshold, and different ones never, also not
        through a third row. When the text of a row changes, the decision is outdated and asked again.
        """
        one, two = self.key(a), self.key(b)
        score = self._current.ask(lambda search: search.explain(one, two)).exact
        return self._book().decide(one, two, verdict, who or "", note or "", score, connection_of(connection))

    def undecide(self, a: Any, b: Any, *, connection: Caller = None) -> bool:
        """Take the decision about two rows back; whether there was one."""
        return self._book().undecide(self.key(a), self.key(b), connection_of(connection))

    def decisions(self) -> Iterator[Decision]:
        """Everything that was decided, in key order, read a page at a time."""
        return iter(self._book())

    def decisions_among(self, keys: Sequence[Any]) -> list[Decision]:
        """What was decided about any two of these rows."""
        wanted = [self.key(key) for key in keys]
        book = self._book()
        return [decision for _, _, decision in self._context.read(lambda c: book.of(c, wanted))]

    def labelled_pairs(self) -> Iterator[tuple[Decision, list[float | None]]]:
        """Every decision with the exact similarity of each field as the texts are now: data to fit and judge with."""
        for decision in self.decisions():
            yield decision, [field.exact for field in self.explain(decision.a, decision.b).fields]

    def _book(self) -> Book:
        return Book(self._current.look().context)

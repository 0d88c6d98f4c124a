"""What a link is asked with and what it returns: LinkOptions, Link, Links; Pair inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbsim.tables.source import Key


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """`one_to_one`: every row has one partner at most; `into` is the table, `dbsim_<A>_links_<B>` unless named."""

    threshold: float | None = None
    one_to_one: bool = False
    into: str | None = None


@dataclass(frozen=True)
class Link:
    """A row of A, a row of B, their score (of persons the probability), what speaks for it, and what people said."""

    a: Any
    b: Any
    score: float
    evidence: dict[str, Any]
    decision: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "score": self.score, "evidence": self.evidence, "decision": self.decision}


class Links(list[Link]):
    """In the order of A's keys, the best first; `table` holds them. Of A's `rows` this run compared `asked`."""

    table: str = ""
    rows: int = 0
    asked: int = 0


@dataclass(frozen=True)
class Pair:
    """A row of A and one of B, by their keys."""

    a: Key
    b: Key
    score: float
    decision: str | None = None

    @property
    def name(self) -> tuple[str, str]:
        """The same for a pair that was found and one that was stored; keys of another engine are stored as text."""
        return repr(self.a), repr(tuple(map(str, self.b)))

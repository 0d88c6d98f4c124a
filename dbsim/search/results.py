"""What a search returns: a list of hits that knows how it came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Hit:
    """A row of the source table: its primary key (a dict when composite) and its score from 0 to 1.

    `exact` says that the score was computed from the texts, not estimated; `stale` that the row has been changed since
    it was indexed, so that an estimate is one of its former text; `decided` is "same" when people said so.
    """

    key: Any
    score: float
    exact: bool = field(default=False, compare=False)
    stale: bool = field(default=False, compare=False)
    decided: str | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        found = {"key": self.key, "score": self.score, "exact": self.exact}
        found |= {"stale": True} if self.stale else {}
        return found | ({"decided": self.decided} if self.decided else {})


class Results(list[Hit]):
    """Hits, best first.

    `candidates` rows were ranked; `cut` says that there were more than the allowed maximum, so that hits may be
    missing; `complete` is False while the index is still being filled for the first time. When nothing was found,
    `closest` is the best of the ranked rows, below the threshold. `warnings` are sentences about the question.
    """

    candidates: int = 0
    cut: bool = False
    complete: bool = True
    closest: Hit | None = None
    warnings: tuple[str, ...] = ()

    def to_list(self) -> list[dict[str, Any]]:
        """For `json.dumps`."""
        return [hit.to_json() for hit in self]

"""What a search returns: a list of hits that knows how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hit:
    """A row of the source table: its primary key (a dict when composite) and its score from 0 to 1."""

    key: Any
    score: float


class Results(list[Hit]):
    """Hits, best first.

    `candidates` rows were ranked; `cut` says that this was the allowed maximum, so that hits may be missing;
    `complete` is False while the index is still being filled for the first time.
    """

    candidates: int = 0
    cut: bool = False
    complete: bool = True

    def to_json(self) -> list[dict[str, Any]]:
        return [{"key": hit.key, "score": hit.score} for hit in self]

"""How much a search may return and how much it may do: checked numbers → what the statement is told."""

from __future__ import annotations

from dataclasses import dataclass

from dbsim.errors import InvalidOption

MAX_CANDIDATES = 1000
MAX_PROBES = 100  # neighbours of a key: each is one more descent in its B-tree
SLACK = 0.1  # an estimate may lie so far below the exact Jaccard similarity: 4 standard errors and more


@dataclass(frozen=True)
class Bounds:
    """How similar, how many, how much work at most, and whether the exact measure decides.

    `measure` says whether the threshold is one of the Jaccard similarity, which the database estimates, or of another
    measure, of which only `verify` knows the value.
    """

    threshold: float
    limit: int = 10
    max_candidates: int = MAX_CANDIDATES
    probes: int = 0
    verify: bool = False
    measure: str = "jaccard"

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise InvalidOption(f"threshold is {self.threshold}, but must lie between 0 and 1")
        if self.limit < 1 or self.max_candidates < 1:
            raise InvalidOption("limit and max_candidates must be at least 1")
        if not 0 <= self.probes <= MAX_PROBES:
            raise InvalidOption(f"{self.probes} probes are not possible: use 0 to {MAX_PROBES}")

    @property
    def estimate(self) -> float:
        """The lowest score that the database may report."""
        if not self.verify:
            return self.threshold
        return max(self.threshold - SLACK, 0.0) if self.measure == "jaccard" else 0.0

    @property
    def hits(self) -> int:
        """How many of them."""
        return self.max_candidates if self.verify else self.limit

"""How much a search may return and how much it may do: checked numbers → what the statement is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbsim.errors import InvalidOption
from dbsim.hashing.family import ESTIMATED
from dbsim.options import IndexOptions, describe_columns

Text = str | Mapping[str, str]  # one text for all fields, or each field's
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


def bounds_of(
    options: IndexOptions, threshold: float | None, limit: int, max_candidates: int, probes: int, verify: bool | None
) -> Bounds:
    """What the caller left open follows from the index."""
    family = options.hashing
    if verify is None:
        verify = family.measure not in ESTIMATED
    if threshold is None:
        # a forest returns the nearest rows, near or not; without verifying no other measure than Jaccard is known
        known = verify or family.measure in ESTIMATED
        threshold = options.threshold if known and not family.nearest else 0.0
    return Bounds(threshold, limit, max_candidates, probes, verify, family.measure)


def by_field(options: IndexOptions, text: Text) -> str | list[str]:
    """The text of every field, where it is given field by field."""
    if isinstance(text, str):
        return text
    fields = options.fields
    known = {name for field in fields for name in (*field.columns, field.name)}
    for name in text:
        if name not in known:
            raise InvalidOption(f"index {options.name!r} has no field {name!r}; it has {describe_columns(fields)}")
    return [
        (text[field.name] or "")
        if field.name in text
        else "\n".join(text.get(column) or "" for column in field.columns)
        for field in fields
    ]

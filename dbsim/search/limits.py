"""What a search is asked with, and how much it may return and do: `Search` → checked numbers for the statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from sqlalchemy import ColumnElement, TextClause

from dbsim.errors import InvalidOption
from dbsim.hashing.family import ESTIMATED
from dbsim.options import IndexOptions, describe_columns
from dbsim.options.asking import LIMIT, MAX_CANDIDATES, MOST_TEXTS, PROBES, SPARE

Text = str | Mapping[str, str]  # one text for all fields, or each field's
Condition = str | TextClause | ColumnElement[bool]
Where = Condition | None
MAX_PROBES = 100  # neighbours of a key: each is one more descent in its B-tree
SLACK = 0.1  # an estimate may lie so far below the exact Jaccard similarity: 4 standard errors and more


@dataclass(frozen=True)
class Bounds:
    """How similar, how many, how much work at most, and what decides.

    `verify` compares the texts of all rows (True), of none (False), or of those near the threshold (None). `measure`
    says whether the threshold is one of the Jaccard similarity, which the database estimates, or of another measure,
    of which only texts tell the value.
    """

    threshold: float
    limit: int = LIMIT
    max_candidates: int = MAX_CANDIDATES
    probes: int = PROBES
    verify: bool | None = None
    measure: str = "jaccard"

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise InvalidOption(f"threshold is {self.threshold}, but must lie between 0 and 1")
        if self.limit < 1 or self.max_candidates < 1:
            raise InvalidOption("limit and max_candidates must be at least 1")
        if not 0 <= self.probes <= MAX_PROBES:
            raise InvalidOption(f"{self.probes} probes are not possible: use 0 to {MAX_PROBES}")

    @property
    def rounds(self) -> tuple[int, ...]:
        """How many of the best rows to look at; if too few of them are hits, then how many."""
        if self.verify:
            return (self.max_candidates,)
        return (self.limit + SPARE, self.limit + MOST_TEXTS)


class SearchOptions(TypedDict, total=False):
    """The fields of `Search` as keywords."""

    threshold: float | None
    limit: int
    where: Where
    max_candidates: int
    probes: int
    verify: bool | None


@dataclass(frozen=True, kw_only=True)
class Search:
    """How similar, how many, which rows, how much work at most, and what decides; any of it also as a keyword.

    `threshold` is the index's own unless given. `where` is a condition on the indexed table. `probes` looks into so
    many neighbouring buckets of each key as well. `verify` says whose texts decide: by default those of rows within the
    estimate's error of the threshold, with True of all ranked rows, with False of none; measures other than Jaccard
    have no estimate, so all.
    """

    threshold: float | None = None
    limit: int = LIMIT
    where: Where = None
    max_candidates: int = MAX_CANDIDATES
    probes: int = PROBES
    verify: bool | None = None

    def changed(self, **changes: Unpack[SearchOptions]) -> Search:
        """With these keywords instead."""
        return replace(self, **changes) if changes else self

    def bounds(self, options: IndexOptions) -> Bounds:
        """What was left open follows from the index."""
        family, verify, threshold = options.hashing, self.verify, self.threshold
        if verify is None and options.parted and family.measure == "jaccard":
            verify = False
        if verify is None and family.measure != "jaccard":  # of which alone the estimate's error is known
            verify = family.measure not in ESTIMATED
        if threshold is None:
            # a forest returns the nearest rows, near or not; without verifying no other measure than Jaccard is known
            known = verify or family.measure in ESTIMATED
            threshold = options.threshold if known and not family.nearest else 0.0
        return Bounds(threshold, self.limit, self.max_candidates, self.probes, verify, family.measure)


def expected_recall(options: IndexOptions, threshold: float) -> float | None:
    """The share of rows with exactly this similarity that share a key; None for a family without a formula."""
    collision = options.hashing.collision(threshold)
    return None if collision is None else options.plan.recall(collision)


def below_threshold(options: IndexOptions, threshold: float) -> str | None:
    """What to tell somebody who asks for less than the index was made for."""
    if options.hashing.nearest or not 0 < threshold < options.threshold:
        return None
    recall = expected_recall(options, threshold)
    share = "an unknown share" if recall is None else f"about {recall:.0%}"
    return (
        f"the index was made for threshold {options.threshold:g}: {share} of the rows at {threshold:g} are found; "
        f"dbsim alter with --threshold {threshold:g} finds {options.recall:.0%}"
    )


def by_field(options: IndexOptions, text: Text) -> str | list[str]:
    """The text of every field, where it is given field by field."""
    if isinstance(text, str):
        return text
    if not isinstance(text, Mapping):
        what = "nothing (None)" if text is None else type(text).__name__
        raise InvalidOption(f"a search takes a text, or a dict with the text of every field, not {what}")
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

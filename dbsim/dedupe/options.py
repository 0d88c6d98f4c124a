"""How pairs are sought and groups are made, as frozen values that are stored with the result ↔ JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.kernels.grouping.registry import METHODS
from dbsim.errors import InvalidOption, suggest


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """Everything that decides which pairs are stored.

    `verify`: None has the texts decide what lies within the estimate's error of the threshold, True all pairs, False
    none.
    """

    threshold: float
    verify: bool | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise InvalidOption(f"threshold is {self.threshold}, but must be above 0 and at most 1")
        bucket, limits = self.limits.bucket, self.limits
        if (bucket and bucket < 2) or limits.representatives < 1 or limits.depth < 0:
            raise InvalidOption("a bucket of at least 2 rows must be compared, with at least 1 representative")

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> PairOptions:
        data = json.loads(text)
        return PairOptions(**{**data, "limits": Limits(**data["limits"])})


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Everything that decides the groups of given pairs."""

    by: str = "tight"
    threshold: float

    def __post_init__(self) -> None:
        if self.by not in METHODS:
            raise InvalidOption(f"there is no grouping {self.by!r}{suggest(self.by, METHODS)}")

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> GroupOptions:
        return GroupOptions(**json.loads(text))


def described(groups: GroupOptions, pairs: PairOptions) -> str:
    """In a few words, which also name a result that nobody named."""
    exact = {None: "", True: ", exact", False: ", estimated"}[pairs.verify]
    return f"{groups.by}, {groups.threshold:g}{exact}" + (", limited" if pairs.limits != Limits() else "")

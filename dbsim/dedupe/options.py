"""How pairs are sought and groups are made, as frozen values that are stored with the result ↔ JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.kernels.clustering import METHODS
from dbsim.errors import InvalidOption, suggest


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """Everything that decides which pairs are stored."""

    threshold: float
    verify: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise InvalidOption(f"threshold is {self.threshold}, but must be above 0 and at most 1")
        if self.limits.bucket < 2 or self.limits.representatives < 1 or self.limits.depth < 0:
            raise InvalidOption("a bucket of at least 2 rows must be compared, with at least 1 representative")

    def serves(self, asked: PairOptions) -> bool:
        """Whether pairs found in this way contain those asked for."""
        return (self.verify, self.limits) == (asked.verify, asked.limits) and self.threshold <= asked.threshold

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

"""What `evaluate` reports: Compared → recall at thresholds, precision, score error, speed-up; as values and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.evaluate.agreement import Agreement
from dbsim.evaluate.exact import THRESHOLDS, Compared, steps
from dbsim.evaluate.intervals import Interval, clustered_share, mean


@dataclass(frozen=True)
class AtThreshold:
    """Pairs of a query and a row at least so similar, and the share of them that shared a bucket."""

    threshold: float
    pairs: int
    recall: Interval


@dataclass(frozen=True)
class Answers:
    """What a search at the index's threshold returns."""

    recall: Interval
    precision: Interval
    f1: float


@dataclass(frozen=True)
class ScoreError:
    """Estimate minus exact similarity of the candidates; only where filters estimate the family's measure."""

    pairs: int
    bias: Interval
    deviation: float  # root mean square


@dataclass(frozen=True)
class Buckets:
    """Sizes of the buckets of all key columns: (smallest, largest, buckets, rows in them), in powers of two."""

    sizes: tuple[tuple[int, int, int, int], ...]
    largest: int


@dataclass(frozen=True)
class BestWeights:
    """Weights of the fields that divide labelled pairs best, with the threshold and the F1 that go with them."""

    weights: dict[str, float]
    threshold: float
    quality: float


@dataclass(frozen=True)
class Truth:
    """Against a column of labels, or decisions: what searches return, and the stored groups if there are any.

    Groups follow decisions, so of those the threshold that would divide them best is told instead, with its F1; of an
    index with several fields also the weights of the fields that would.
    """

    column: str
    labelled: int
    answers: Answers
    groups: Agreement | None
    groups_bcubed: Agreement | None
    best_threshold: tuple[float, float] | None = None
    best_weights: BestWeights | None = None


@dataclass(frozen=True)
class WordDrops:
    """Questions for one word: the share of rows without it that are read in vain, and rows with it that are missed."""

    field: str
    asked: float  # the rate that the filters were made for
    words: int
    rate: Interval
    missed: int


@dataclass(frozen=True)
class EvaluateReport:
    """Everything measured on one index."""

    index: str
    family: str
    measure: str
    threshold: float
    promised: float | None  # recall at the threshold by the family's formula
    queries: int
    table_rows: int
    own: Interval  # share of sampled rows that find themselves
    curve: tuple[AtThreshold, ...]
    answers: Answers
    candidate_precision: Interval  # share of candidates that reach the threshold
    candidates: Interval  # a query, the row itself not counted
    cut: int  # queries that had more candidates than are ranked
    speed_up: float  # rows of the table a row ranked
    score: ScoreError | None
    buckets: Buckets
    milliseconds: tuple[float, float]  # of a search: median, 95 %
    scan_milliseconds: float  # of comparing a query with every row, in numpy
    truth: Truth | None = None
    words: tuple[WordDrops, ...] = ()  # of fields with word signatures

    @property
    def at_threshold(self) -> Interval:
        """Recall of buckets at the step of the curve nearest to the index's threshold."""
        return min(self.curve, key=lambda one: abs(one.threshold - self.threshold)).recall

    @property
    def problems(self) -> list[str]:
        """What is surely wrong: a promise outside the interval, rows that do not find themselves."""
        found = []
        if self.own.value < 1:
            found.append(
                f"{1 - self.own.value:.1%} of the sampled rows do not find themselves: "
                "run `dbsim check --repair`, or `dbsim sync` if changes wait"
            )
        if self.promised is not None and self.at_threshold.high < self.promised:
            found.append(
                f"recall at {self.threshold:g} is at most {self.at_threshold.high:.3f}, promised are "
                f"{self.promised:.3f}: run `dbsim check --repair`, then `dbsim tune`"
            )
        if self.cut:
            found.append(f"{self.cut} searches were cut off at the largest number of candidates: raise max_candidates")
        for one in self.words:
            if one.missed:
                found.append(
                    f"questions for words of {one.field!r} miss {one.missed} of the sampled rows that have them: "
                    "run `dbsim check --repair`, or `dbsim sync` if changes wait"
                )
            if one.rate.low > one.asked:
                found.append(
                    f"questions for a word of {one.field!r} read {one.rate.value:.2%} of the rows in vain, not "
                    f"{one.asked:.2%}: `dbsim alter DB {self.index} --signature --false-drops {one.asked:g}` fits anew"
                )
        return found

    def to_json(self) -> dict[str, Any]:
        data = asdict(self) | {"problems": self.problems}
        if self.truth is not None:
            groups = (self.truth.groups, self.truth.groups_bcubed)
            names = ("groups", "groups_bcubed")
            data["truth"] |= {n: None if g is None else g.to_json() for n, g in zip(names, groups, strict=True)}
        return data


def curve(compared: Compared) -> tuple[AtThreshold, ...]:
    wanted = compared.at_least()
    found = Compared(compared.queries)
    np.add.at(found.similar, (np.array(compared.asked, int), steps(np.array(compared.exact))), 1)
    hits = found.at_least()
    return tuple(
        AtThreshold(threshold, int(wanted[:, place].sum()), clustered_share(hits[:, place], wanted[:, place]))
        for place, threshold in enumerate(THRESHOLDS)
    )


def answers(queries: int, asked: Sequence[int], right: Sequence[bool], wanted: NDArray[np.int64]) -> Answers:
    """From each answer's query and whether it is right, and the number of right ones that each query has."""
    given = np.bincount(np.array(asked, int), minlength=queries)
    good = np.bincount(np.array(asked, int), np.array(right, float), minlength=queries).astype(int)
    recall, precision = clustered_share(good, wanted), clustered_share(good, given)
    return Answers(recall, precision, Agreement(precision.value, recall.value).f1)


def score_error(compared: Compared) -> ScoreError | None:
    if not compared.asked:
        return None
    error = np.array(compared.estimates) - np.array(compared.exact)
    return ScoreError(len(error), mean(error), float(np.sqrt((error**2).mean())))


def bucket_sizes(counted: Sequence[tuple[int, int]]) -> Buckets:
    """From (size, number of buckets of that size)."""
    found: dict[int, tuple[int, int]] = {}
    for size, count in counted:
        power = (size - 1).bit_length()  # 1, 2, 3–4, 5–8, …
        buckets, rows = found.get(power, (0, 0))
        found[power] = buckets + count, rows + size * count
    sizes = tuple(((1 << power >> 1) + 1 if power else 1, 1 << power, *found[power]) for power in sorted(found))
    return Buckets(sizes, max((size for size, _ in counted), default=0))

"""Candidate pairs of contents (f, s), after the rule of dedupe/kernels/buckets.py, and their scores.

Contents are sent to the buckets of their keys, pairs to their first content, then to their second, always as parcels:
what Spark sorts and moves are few rows, and the work on them is numpy's. A content's place in a bucket is that of its
fingerprint, as in the kernels, so that the same few stand for the others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from pyspark.sql import functions as F

from dbsim.dedupe.kernels.buckets import FEWEST, Limits, largest_affordable, measured_columns
from dbsim.dedupe.kernels.decide import Decision
from dbsim.spark.layout import Layout
from dbsim.spark.meeting import SIZE, Meeting
from dbsim.spark.parcels import COPIES, LARGE, PAIRS, SCHEMA, SIZES, TOTALS, Exchange, Numbers, matrix, of_kind
from dbsim.spark.scoring import EDGES, Scoring

DataFrame = Any
log = logging.getLogger("dbsim.spark")


@dataclass
class Candidates:
    """Of `rows` rows with the columns f and s, of which some may have equal contents; `kept` is what to unpersist."""

    signed: DataFrame
    rows: int
    layout: Layout
    limits: Limits
    kept: list[DataFrame] = field(default_factory=list)
    copied: int = 0  # contents that several rows have

    def __post_init__(self) -> None:
        self.signed = self.signed.select("f", "s")
        self._exchange = Exchange.of(self.signed, self.rows * self.layout.columns)
        self._first = self._keep(self._met())
        found = self._first.where(F.col("kind").isin(SIZES, TOTALS)).select("kind", "data").collect()
        self._sizes = _rows((row[1] for row in found if row[0] == SIZES), SIZE)
        self.copied, again = _rows((row[1] for row in found if row[0] == TOTALS), 2).sum(axis=0).tolist()
        self._contents = self.rows - again

    def edges(self, decision: Decision) -> DataFrame:
        """a, b, score, unsure: pairs of contents that are, or may be, near enough."""
        scoring = Scoring(self.layout, self._exchange, decision)
        contents = _through(self.signed, scoring.shown)
        attached = _through(self._exchange.sorted(contents.union(self._pairs())), scoring.attach)
        return _through(self._exchange.sorted(contents.union(attached)), scoring.score, EDGES)

    @property
    def tasks(self) -> int:
        return self._exchange.tasks

    def copies(self) -> Numbers:
        """(fingerprint, how many rows more than one) of contents that several rows have."""
        return _collected(self._first, COPIES, 2)

    def _pairs(self) -> DataFrame:
        """Some of them several times."""
        sizes = self._sizes
        limits = self._affordable(sizes)
        large = sizes[sizes[:, 2] > limits.bucket]
        levels = [self._first]
        if limits.bucket > self._least.bucket and (sizes[:, 2] > self._least.bucket).any():
            again = self._meeting.within(limits)
            levels.append(self._keep(_through(of_kind(self._first, LARGE), again.meet)))
        if len(large):
            self._warn(large, limits)
            levels += self._finer(levels[-1], limits)
        return of_kind(reduce(lambda one, other: one.union(other), levels), PAIRS)

    @property
    def _least(self) -> Limits:
        """Within these, whatever the table can afford."""
        return replace(self.limits, bucket=self.limits.bucket or FEWEST)

    @property
    def _meeting(self) -> Meeting:
        return Meeting(self.layout, self._exchange, self._least)

    def _met(self) -> DataFrame:
        meeting = self._meeting
        spread = _through(self.signed.repartition(self._exchange.tasks, "f"), meeting.spread)
        return _through(self._exchange.sorted(spread), meeting.meet)

    def _finer(self, level: DataFrame, limits: Limits, paired: bool = True) -> Iterator[DataFrame]:
        """What later columns make of the large buckets, as long as there are any."""
        keys = _through(self.signed, self._meeting.keyed)
        for depth in range(1, limits.depth + 1):
            before, now = (self._meeting.within(limits, deep, paired) for deep in (depth - 1, depth))
            cut = _through(of_kind(level, LARGE), before.cut)
            finer = _through(self._exchange.sorted(keys.union(cut)), before.finer)
            level = self._keep(_through(self._exchange.sorted(finer), now.meet))
            yield level
            if of_kind(level, LARGE).isEmpty():
                return

    def _affordable(self, sizes: Numbers) -> Limits:
        """As the kernel finds them, from how often buckets have which size."""
        if self.limits.bucket:
            return self.limits
        found = [sizes[np.isin(sizes[:, 0], measured_columns(self.layout.columns))]]
        if (found[0][:, 2] > FEWEST).any():
            finer = self._finer(self._first, self._least, paired=False)
            found += [_collected(level, SIZES, SIZE) for level in finer]
        outer, size, times = np.concatenate(found)[:, 1:].T
        outer = np.where(outer == 0, self._contents + 1, outer)
        return largest_affordable(size, outer, times, self.layout.columns, self._contents, self.limits)

    def _warn(self, large: Numbers, limits: Limits) -> None:
        log.warning(
            "%d buckets hold more than %d contents, the largest %d: in them only the first %d were compared with all "
            "others, so that pairs may be missing; Limits(bucket=…) sets another limit",
            *(large[:, 3].sum(), limits.bucket, large[:, 2].max(), limits.representatives),
        )

    def _keep(self, made: DataFrame) -> DataFrame:
        self.kept.append(made.persist())
        return made


def _through(df: DataFrame, function: Callable[[Any], Any], schema: str = SCHEMA) -> DataFrame:
    return df.mapInArrow(lambda batches: function(batches), schema)


def _collected(parcels: DataFrame, kind: int, width: int) -> Numbers:
    return _rows((row[0] for row in of_kind(parcels, kind).select("data").collect()), width)


def _rows(data: Iterable[bytes], width: int) -> Numbers:
    return matrix([np.frombuffer(part, np.uint8) for part in data], width)

"""Candidate pairs by joins, after the rule of dedupe/kernels/buckets.py: contents (f, keys) → a, b.

A bucket is named by its path: the number of a key column, the key in it, and the same of each column that cut it. A
content's place in a bucket is that of its fingerprint, as in the kernels, so that the same few stand for the others.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from pyspark.sql import Window
from pyspark.sql import functions as F

from dbsim.dedupe.kernels.buckets import FEWEST, Limits, largest_affordable, measured_columns

DataFrame = Any
log = logging.getLogger("dbsim.spark")


@dataclass
class Buckets:
    """Of contents with the columns f and keys (an array of `columns` numbers); `kept` is what to unpersist."""

    contents: DataFrame
    columns: int
    limits: Limits
    kept: list[DataFrame] = field(default_factory=list)

    def pairs(self) -> DataFrame:
        """Each once, the smaller fingerprint first."""
        limits = self._affordable()
        levels = list(self._levels(range(self.columns), limits))
        if len(levels) > 1:
            self._warn(levels[0], limits)
        return reduce(lambda one, other: one.union(other), (_pairs(level, limits) for level in levels)).distinct()

    def _levels(self, columns: Sequence[int], limits: Limits) -> Iterator[DataFrame]:
        """The buckets of these columns, then those that later columns make of the large ones; at least two members."""
        chosen = F.array(*(F.lit(column) for column in columns))
        first = self.contents.select("f", F.explode(chosen).alias("last"), "keys")
        level = self._ranked(first.select("f", "last", _step(), F.lit(None).cast("long").alias("outer")))
        yield level
        for depth in range(1, limits.depth + 1):
            large = level.where(F.col("size") > limits.bucket)
            if large.isEmpty():
                return
            # a pair that shares two keys is in both buckets: the later column of the two is enough
            end = F.lit(self.columns - 1) if depth == 1 else F.least(F.col("last") + 1, F.lit(self.columns - 1))
            later = F.explode(F.sequence(F.col("last") + 1, end))
            cut = large.where(F.col("last") < self.columns - 1).select(
                "f", "path", F.col("size").alias("outer"), later.alias("last")
            )
            cut = cut.join(self.contents.select("f", "keys"), "f")
            level = self._ranked(cut.select("f", "last", F.concat("path", _step()).alias("path"), "outer"))
            yield level

    def _ranked(self, members: DataFrame) -> DataFrame:
        """f, last, path, outer, size, rank."""
        bucket = Window.partitionBy("path").orderBy("f")
        whole = bucket.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
        size = F.count("*").over(whole)
        rank = F.row_number().over(bucket) - 1
        made = members.withColumns({"size": size, "rank": rank}).where("size > 1").persist()
        self.kept.append(made)
        return made

    def _affordable(self) -> Limits:
        """As the kernel finds them, from how often buckets have which size."""
        if self.limits.bucket:
            return self.limits
        contents, least = self.contents.count(), replace(self.limits, bucket=FEWEST)
        found = [np.empty((0, 3), np.int64)]
        for level in self._levels(measured_columns(self.columns), least):
            sizes = level.where("rank = 0").groupBy("size", F.coalesce("outer", F.lit(contents + 1))).count()
            found.append(np.array(sizes.collect(), np.int64).reshape(-1, 3))
        size, outer, times = np.concatenate(found).T
        return largest_affordable(size, outer, times, self.columns, contents, self.limits)

    def _warn(self, level: DataFrame, limits: Limits) -> None:
        large = level.where((F.col("size") > limits.bucket) & (F.col("rank") == 0))
        buckets, largest = large.agg(F.count("*"), F.max("size")).first()
        log.warning(
            "%d buckets hold more than %d contents, the largest %d: in them only the first %d were compared with all "
            "others, so that pairs may be missing; Limits(bucket=…) sets another limit",
            *(buckets, limits.bucket, largest, limits.representatives),
        )


def _step() -> Any:
    return F.array(F.col("last").cast("long"), F.expr("keys[last]")).alias("path")


def _pairs(level: DataFrame, limits: Limits) -> DataFrame:
    compared = level.where((F.col("size") <= limits.bucket) | (F.col("rank") < limits.representatives))
    a = compared.select("path", F.col("f").alias("a"), F.col("rank").alias("before"))
    b = level.select("path", F.col("f").alias("b"), F.col("rank").alias("after"))
    return a.join(b, "path").where("before < after").select("a", "b")

"""Candidate pairs by joins, after the rule of dedupe/kernels/buckets.py: contents (f, keys) → a, b.

A bucket is named by the number of a key column, the key in it, and the same of each larger bucket it was cut from: its
path. A content's place in a bucket is that of its fingerprint, as in the kernels, so that the same few stand for the
others.
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
BUCKET = [
    "last",
    "key",
    "path",
]  # numbers first: rows are sorted by them, and arrays are only compared where these are equal
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
        whole = [F.array().cast("array<long>").alias("path"), F.lit(None).cast("long").alias("outer")]
        level = self._ranked(first.select("f", "last", _key(), *whole))
        yield level
        for depth in range(1, limits.depth + 1):
            large = level.where(F.col("size") > limits.bucket)
            if large.isEmpty():
                return
            # a pair that shares two keys is in both buckets: the later column of the two is enough
            end = F.lit(self.columns - 1) if depth == 1 else F.least(F.col("last") + 1, F.lit(self.columns - 1))
            later = F.explode(F.sequence(F.col("last") + 1, end))
            path = F.concat("path", F.array(F.col("last").cast("long"), F.col("key"))).alias("path")
            cut = large.where(F.col("last") < self.columns - 1).select(
                "f", path, F.col("size").alias("outer"), later.alias("last")
            )
            level = self._ranked(
                cut.join(self.contents.select("f", "keys"), "f").select("f", "last", _key(), "path", "outer")
            )
            yield level

    def _ranked(self, members: DataFrame) -> DataFrame:
        """f, last, key, path, outer, size, rank."""
        bucket = Window.partitionBy(*BUCKET).orderBy("f")
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


def _key() -> Any:
    return F.expr("keys[last]").alias("key")


def _pairs(level: DataFrame, limits: Limits) -> DataFrame:
    compared = level.where((F.col("size") <= limits.bucket) | (F.col("rank") < limits.representatives))
    a = compared.select(*BUCKET, F.col("f").alias("a"), F.col("rank").alias("before"))
    b = level.select(*BUCKET, F.col("f").alias("b"), F.col("rank").alias("after"))
    return a.join(b, BUCKET).where("before < after").select("a", "b")

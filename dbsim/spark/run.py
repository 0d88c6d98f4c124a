"""Deduplicate a DataFrame: rows → signatures → candidate pairs by joins → components → groups, all on the cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from dbsim.bulk.run import SECRET, require_sets
from dbsim.choosing import resolve
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.errors import InvalidOption, UnknownName
from dbsim.options import IndexOptions, fields_from
from dbsim.spark.components import components
from dbsim.spark.functions import Secret, Shape, grouping, scoring, signing

DataFrame = Any  # pyspark's, classic or Connect
SAMPLE = 1000  # rows from which the fields' open choices follow


def duplicates(
    df: DataFrame,
    *,
    key: str | Sequence[str],
    columns: str | Sequence[str] | Mapping[str, float] | None = None,
    options: IndexOptions | None = None,
    secret: bytes | None = None,
    by: str = "tight",
    threshold: float | None = None,
    limits: Limits | None = None,
) -> DataFrame:
    """Groups of near-duplicate rows: key, group_id, score, diameter, representative_<key>; one row for each in a group.

    With the options and the secret of an index they are the very groups, scores and diameters that `Index.duplicates`
    and `dbsim.bulk.duplicates` find. dbsim must be installed where the executors run; unless PYSPARK_PYTHON says
    otherwise they use the driver's Python.
    """
    names = (key,) if isinstance(key, str) else tuple(key)
    resolved = _resolved(df, names, columns, options, threshold)
    wanted = resolved.threshold if threshold is None else threshold
    pairing = PairOptions(threshold=wanted, limits=limits or Limits())
    with _drivers_python(df):
        run = _Run(resolved, names, Secret(secret or SECRET), pairing, GroupOptions(by=by, threshold=wanted))
        return run.groups(df)


class _Run:
    def __init__(
        self, options: IndexOptions, key: tuple[str, ...], secret: Secret, pairing: PairOptions, group: GroupOptions
    ) -> None:
        self.options, self.key, self.secret, self.pairing, self.group = options, key, secret, pairing, group
        self.shape = Shape.of(options)

    def groups(self, df: DataFrame) -> DataFrame:
        signed = self._signed(df).persist()
        contents = self._contents(signed).persist()
        edges = self._edges(contents).persist()
        assigned = self._assigned(edges, contents)
        rows = signed.select(*self.key, "f").join(assigned, "f").drop("f").localCheckpoint()
        for made in (signed, contents, edges):
            made.unpersist()
        return rows

    def _signed(self, df: DataFrame) -> DataFrame:
        wanted = list(dict.fromkeys((*self.key, *self.options.columns)))
        schema = StructType([df.schema[name] for name in self.key])
        schema = schema.add("f", "long").add("keys", "array<bigint>").add("counts", "array<int>").add("bits", "binary")
        work = signing(self.options.to_json(), self.secret, self.key)
        return df.select(*wanted).mapInArrow(work, schema)

    def _contents(self, signed: DataFrame) -> DataFrame:
        """Rows with equal fingerprints once, with the smallest of their keys; their signatures are equal, too."""
        first = F.min(F.struct(*self.key)).alias("k")
        same = [F.first(name).alias(name) for name in ("keys", "counts", "bits")]
        made = signed.groupBy("f").agg(first, F.count("*").alias("copies"), *same)
        return made.select("f", *(F.col(f"k.{name}").alias(name) for name in self.key), "copies", "keys", "counts", "bits")

    def _edges(self, contents: DataFrame) -> DataFrame:
        """a, b, score: fingerprints of near-duplicate contents."""
        pairs = self._candidates(contents)
        ends = [
            contents.select(F.col("f").alias(end), F.col("counts").alias(f"{end}_counts"), F.col("bits").alias(f"{end}_bits"))
            for end in "ab"
        ]
        joined = pairs.join(ends[0], "a").join(ends[1], "b")
        return joined.mapInArrow(scoring(self.shape, self.pairing.threshold), "a long, b long, score double")

    def _candidates(self, contents: DataFrame) -> DataFrame:
        """The rule of dedupe/kernels/buckets.py: all of a small bucket, a few of a large one, which is cut by finer keys."""
        limits, keys = self.pairing.limits, self.options.keys
        level = contents.select("f", "keys", F.posexplode("keys").alias("column", "k"))
        level = level.withColumn("path", F.array("k")).drop("k")
        found = None
        for depth in range(min(limits.depth, keys - 1) + 1):
            bucket = Window.partitionBy("column", "path")
            rank = F.row_number().over(bucket.orderBy("f")) - 1
            level = level.withColumn("size", F.count("*").over(bucket)).withColumn("rank", rank).where("size > 1").persist()
            compared = level.where(f"size <= {limits.bucket} OR rank < {limits.representatives}")
            a = compared.select("column", "path", F.col("f").alias("a"), F.col("rank").alias("a_rank"))
            b = level.select("column", "path", F.col("f").alias("b"), F.col("rank").alias("b_rank"))
            pairs = a.join(b, ["column", "path"]).where("a_rank < b_rank").select("a", "b")
            found = pairs if found is None else found.union(pairs)
            large = level.where(f"size > {limits.bucket}")
            if large.limit(1).count() == 0:
                break
            finer = F.expr(f"keys[(column + {depth + 1}) % {keys}]")
            level = large.select("f", "keys", "column", F.concat("path", F.array(finer)).alias("path"))
        return found.distinct()

    def _assigned(self, edges: DataFrame, contents: DataFrame) -> DataFrame:
        """f, group_id, score, diameter, representative_<key>: components by the kernel, then contents with copies only."""
        labels = components(edges.select("a", "b"))
        parts = int(labels.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
        part = F.pmod(F.hash("label"), F.lit(parts)).alias("part")
        inside = edges.join(labels.withColumnRenamed("node", "a"), "a").select(part, "a", "b", "score")
        nodes = contents.drop("keys").join(labels.withColumnRenamed("node", "f"), "f").select(part, contents.columns[0], *self.key, "copies", "counts", "bits")
        schema = StructType().add("f", "long").add("group_id", "long").add("score", "double").add("diameter", "double")
        for name in self.key:
            schema = schema.add(f"representative_{name}", contents.schema[name].dataType)
        work = grouping(self.shape, self.key, self.group.by, self.group.threshold)
        grouped = inside.groupBy("part").cogroup(nodes.groupBy("part")).applyInArrow(work, schema)
        alone = contents.where("copies > 1").join(labels.withColumnRenamed("node", "f"), "f", "left_anti")
        own = [F.col(name).alias(f"representative_{name}") for name in self.key]
        copies = alone.select("f", F.col("f").alias("group_id"), F.lit(1.0).alias("score"), F.lit(0.0).alias("diameter"), *own)
        return grouped.union(copies)


def _resolved(
    df: DataFrame,
    key: tuple[str, ...],
    columns: str | Sequence[str] | Mapping[str, float] | None,
    options: IndexOptions | None,
    threshold: float | None,
) -> IndexOptions:
    if options is None:
        options = IndexOptions(name="spark", table="spark", fields=fields_from(columns, None), threshold=threshold or 0.7)
    elif columns is not None:
        raise InvalidOption(f"the options name the columns already ({', '.join(options.columns)}): leave columns out")
    options = require_sets(options.with_plan())
    for name in (*key, *options.columns):
        if name not in df.columns:
            raise UnknownName("column of the DataFrame named", name, df.columns)
    if all(field.resolved for field in options.fields):
        return options
    rows = df.select(*options.columns).limit(SAMPLE).collect()
    samples = [["\n".join(str(row[name] or "") for name in field.columns) for row in rows] for field in options.fields]
    fields = (resolve(field, [text for text in sample if text.strip()]) for field, sample in zip(options.fields, samples, strict=True))
    return replace(options, fields=tuple(fields))


@contextmanager
def _drivers_python(df: DataFrame) -> Any:
    """The functions made here run under this very interpreter, unless the cluster's own is named."""
    context = getattr(df.sparkSession, "_sc", None)  # none with Spark Connect
    if context is None or os.environ.get("PYSPARK_PYTHON"):
        yield
        return
    before, context.pythonExec = context.pythonExec, sys.executable
    try:
        yield
    finally:
        context.pythonExec = before

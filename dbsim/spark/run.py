"""Deduplicate a DataFrame: rows → signatures → candidate pairs → components → groups, all on the cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DoubleType, LongType, StringType, StructType

from dbsim.bulk.results import group_columns
from dbsim.bulk.run import SAMPLE, SECRET, comparable, resolved
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.errors import UnknownName
from dbsim.options import IndexOptions
from dbsim.spark.candidates import Candidates
from dbsim.spark.components import FEW, components
from dbsim.spark.few import TOGETHER, Few
from dbsim.spark.functions import Secret, Work

DataFrame = Any  # of pyspark


def duplicates(
    df: DataFrame,
    *,
    key: str | Sequence[str],
    columns: str | Sequence[str] | Mapping[str, float] | None = None,
    options: IndexOptions | None = None,
    secret: bytes | None = None,
    by: str = "tight",
    threshold: float | None = None,
    verify: bool | None = None,
    limits: Limits | None = None,
) -> DataFrame:
    """Groups of near-duplicate rows, a row for each that is in one: the key, then group_id, score, diameter and
    representative_<key>, as in the view dbsim_<index>_groups.

    With the options and the secret of an index they are the groups, scores and diameters that `Index.duplicates` and
    `dbsim.bulk.duplicates` find. dbsim must be installed where the executors run; unless PYSPARK_PYTHON or
    spark.pyspark.python says otherwise, they use the driver's Python.
    """
    names = (key,) if isinstance(key, str) else tuple(key)
    asked = _resolved(df, names, comparable(options, columns, threshold))
    wanted = asked.threshold if threshold is None else threshold
    verify = False if asked.parted and verify is None else verify
    pairing = PairOptions(threshold=wanted, verify=True if by == "complete" else verify, limits=limits or Limits())
    grouping = GroupOptions(by=by, threshold=wanted)
    keys = _key_names(len(names), asked)
    work = Work(asked.to_json(), Secret(secret or SECRET), pairing, grouping, keys)
    rows = df.select(
        *(_column(name).alias(own) for name, own in zip(names, keys, strict=True)), *map(_column, asked.columns)
    )
    with _drivers_python(df):
        return _Run(work, names).groups(rows)


@dataclass
class _Run:
    work: Work
    names: tuple[str, ...]
    kept: list[DataFrame] = field(default_factory=list)

    def groups(self, rows: DataFrame) -> DataFrame:
        signed = self._keep(self._signed(rows))
        candidates = Candidates(signed, signed.count(), self.work.layout, self.work.pairing.limits, self.kept)
        edges = self._keep(candidates.edges(self.work.decision))
        made = self._by_few(signed, edges, candidates)
        made = self._by_joins(signed, edges) if made is None else made
        made = made.toDF(*self.names, *group_columns(self.names)).localCheckpoint()
        for each in self.kept:
            each.unpersist()
        return made

    def _keep(self, made: DataFrame) -> DataFrame:
        self.kept.append(made.persist())
        return made

    def _signed(self, rows: DataFrame) -> DataFrame:
        schema = StructType([rows.schema[name] for name in self.work.key]).add("f", LongType()).add("s", BinaryType())
        for name in self.work.texts:
            schema = schema.add(name, StringType())
        work = self.work
        return rows.mapInArrow(lambda batches: work.sign(batches), schema)

    def _by_few(self, signed: DataFrame, edges: DataFrame, candidates: Candidates) -> DataFrame | None:
        """Where the driver knows which contents hang together: their rows in one step. None: they are too many."""
        if candidates.copied > FEW or len(known := edges.limit(FEW + 1).toArrow()) > FEW:
            return None
        few = Few.of(self.work, known, candidates.copies(), candidates.tasks)
        if few is None:
            return None
        schema = StructType().add("part", LongType())
        chosen = signed.mapInArrow(lambda batches: few.choose(batches), StructType([*schema, *signed.schema]))
        own = [signed.schema[name] for name in self.work.key]
        figures = StructType([*own]).add("group_id", LongType())
        figures = figures.add("score", DoubleType()).add("diameter", DoubleType())
        for name, part in zip(_leaders(self.work), own, strict=True):
            figures = figures.add(name, part.dataType)

        def group(rows: Any) -> Any:
            return few.group(rows)

        return chosen.groupBy("part").applyInArrow(group, figures)

    def _by_joins(self, signed: DataFrame, scored: DataFrame) -> DataFrame:
        contents = self._keep(self._contents(signed))
        grouped = self._grouped(self._keep(self._decided(signed, scored)), signed, contents)
        return signed.select(*self.work.key, "f").join(grouped, "f").drop("f")

    def _contents(self, signed: DataFrame) -> DataFrame:
        """Rows with equal fingerprints once, with the smallest of their keys; their signatures are equal, too."""
        first = F.min(F.struct(*self.work.key)).alias("first")
        made = signed.groupBy("f").agg(first, F.count("*").alias("copies"), F.first("s").alias("s"))
        return made.select("f", "first.*", "copies", "s")

    def _decided(self, signed: DataFrame, scored: DataFrame) -> DataFrame:
        """a, b, score, exact: fingerprints of near-duplicate contents."""
        work = self.work
        sure = scored.where(~F.col("unsure") & (F.col("score") >= work.pairing.threshold)).select("a", "b", "score")
        unsure = scored.where("unsure").select("a", "b")
        ends = unsure.select(F.col("a").alias("f")).union(unsure.select("b"))
        decided = _both(unsure, self._texts(signed, ends)).mapInArrow(
            lambda batches: work.decide(batches), "a long, b long, score double"
        )
        return sure.withColumn("exact", F.lit(False)).union(decided.withColumn("exact", F.lit(True)))

    def _texts(self, signed: DataFrame, wanted: DataFrame) -> DataFrame:
        """Any one text of each content: they are equal as far as they are compared."""
        return signed.select("f", *self.work.texts).join(wanted, "f", "left_semi").dropDuplicates(["f"])

    def _grouped(self, edges: DataFrame, signed: DataFrame, contents: DataFrame) -> DataFrame:
        """f, group_id, score, diameter, r0 …: components by the kernel, then contents that only have copies."""
        labels = self._keep(components(edges.select("a", "b")))
        nodes = contents.join(labels.withColumnRenamed("node", "f"), "f")
        if self.work.pairing.verify:
            nodes = nodes.join(self._texts(signed, labels.select(F.col("node").alias("f"))), "f")
        part = F.pmod(F.xxhash64("label"), F.lit(self._parts(labels))).alias("part")
        inside = edges.join(labels.withColumnRenamed("node", "a"), "a").select(part, "a", "b", "score", "exact")
        nodes = nodes.select(part, *nodes.columns).drop("label")
        schema = StructType().add("f", LongType()).add("group_id", LongType())
        schema = schema.add("score", DoubleType()).add("diameter", DoubleType())
        leaders = _leaders(self.work)
        for leader, name in zip(leaders, self.work.key, strict=True):
            schema = schema.add(leader, contents.schema[name].dataType)
        work = self.work

        def group(edges: Any, nodes: Any) -> Any:
            return work.group(edges, nodes)

        found = inside.groupBy("part").cogroup(nodes.groupBy("part")).applyInArrow(group, schema)
        alone = contents.where("copies > 1").join(labels.select(F.col("node").alias("f")), "f", "left_anti")
        own = [F.col(name).alias(leader) for leader, name in zip(leaders, self.work.key, strict=True)]
        numbers = [F.col("f").alias("group_id"), F.lit(1.0).alias("score"), F.lit(0.0).alias("diameter")]
        return found.union(alone.select("f", *numbers, *own))

    def _parts(self, labels: DataFrame) -> int:
        """Sets of components; as many as there are tasks, more where one would be too large for a task."""
        tasks = int(labels.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
        return max(tasks, int(labels.count()) // TOGETHER)


def _leaders(work: Work) -> list[str]:
    """Of the representative's key."""
    return [f"r{number}" for number in range(len(work.key))]


def _both(pairs: DataFrame, contents: DataFrame) -> DataFrame:
    """a, b with what is known of each: a_<name>, b_<name>."""
    for end in "ab":
        known = [F.col(name).alias(f"{end}_{name}") for name in contents.columns if name != "f"]
        pairs = pairs.join(contents.select(F.col("f").alias(end), *known), end)
    return pairs


def _resolved(df: DataFrame, key: tuple[str, ...], options: IndexOptions) -> IndexOptions:
    for name in (*key, *options.columns):
        if name not in df.columns:
            raise UnknownName("column of the DataFrame named", name, df.columns)
    if all(part.resolved for part in options.fields):
        return options
    quoted = [_column(name).cast("string") for name in options.columns]
    rows = df.orderBy(*map(_column, key)).limit(SAMPLE).select(*quoted).toDF(*options.columns).collect()
    samples = [["\n".join(row[name] or "" for name in part.columns) for row in rows] for part in options.fields]
    return resolved(options, samples)


def _key_names(count: int, options: IndexOptions) -> tuple[str, ...]:
    """Of ours, which neither the key's own names nor those of the texts clash with."""
    prefix = "k"
    while any(name.lower().startswith(prefix) for name in options.columns):
        prefix += "_"
    return tuple(f"{prefix}{number}" for number in range(count))


def _column(name: str) -> Any:
    return F.col("`" + name.replace("`", "``") + "`")


@contextmanager
def _drivers_python(df: DataFrame) -> Iterator[None]:
    """The functions made here run under this very interpreter, unless the cluster's own is named."""
    context = getattr(df.sparkSession, "_sc", None)  # none with Spark Connect
    if context is None or os.environ.get("PYSPARK_PYTHON") or context.getConf().contains("spark.pyspark.python"):
        yield
        return
    before, context.pythonExec = context.pythonExec, sys.executable
    try:
        yield
    finally:
        context.pythonExec = before

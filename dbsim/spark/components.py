"""Connected components by alternating joins (large star, small star: Kiveris and others 2014): a, b → node, label."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

DataFrame = Any


def components(edges: DataFrame) -> DataFrame:
    """Each node with the smallest one that hangs together with it.

    A round about halves the longest path, so that their number grows with its logarithm.
    """
    current = edges.select(F.greatest("a", "b").alias("x"), F.least("a", "b").alias("y")).localCheckpoint()
    before = None
    while (now := _digest(current)) != before:
        before = now
        current = _small_star(_large_star(current)).localCheckpoint()
    roots = current.select(F.col("y").alias("node"), F.col("y").alias("label")).distinct()
    return current.select(F.col("x").alias("node"), F.col("y").alias("label")).union(roots)


def _large_star(edges: DataFrame) -> DataFrame:
    """A node's larger neighbours go to the smallest of its neighbourhood."""
    both = edges.union(edges.select(F.col("y").alias("x"), F.col("x").alias("y")))
    least = both.groupBy("x").agg(F.min("y").alias("other")).select("x", F.least("x", "other").alias("least"))
    return both.where("y > x").join(least, "x").select(F.col("y").alias("x"), F.col("least").alias("y")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """A node and its smaller neighbours go to the smallest of these; `edges` lead from the larger node."""
    least = edges.groupBy("x").agg(F.min("y").alias("least"))
    moved = edges.join(least, "x").where("y <> least").select(F.col("y").alias("x"), F.col("least").alias("y"))
    return moved.union(least.select("x", F.col("least").alias("y"))).distinct()


def _digest(edges: DataFrame) -> tuple[Any, ...]:
    """Equal for equal sets of edges."""
    sums = [F.sum(made.cast("decimal(38,0)")) for made in (F.xxhash64("x", "y"), F.xxhash64("y", "x"))]
    return tuple(edges.agg(F.count("*"), *sums).first())

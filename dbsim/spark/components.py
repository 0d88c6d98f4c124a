"""Connected components by alternating joins (large star, small star: Kiveris and others 2014): edges → node, label."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

DataFrame = Any


def components(edges: DataFrame) -> DataFrame:
    """`edges` with the columns a, b → node, label: the smallest node that hangs together with it.

    Each round makes paths about half as long; no row is ever larger than a node's own neighbourhood count.
    """
    current = edges.select(F.greatest("a", "b").alias("x"), F.least("a", "b").alias("y")).distinct().localCheckpoint()
    before = None
    while (now := _digest(current)) != before:
        before = now
        current = _small_star(_large_star(current)).localCheckpoint()
    roots = current.select(F.col("y").alias("node"), F.col("y").alias("label"))
    return current.select(F.col("x").alias("node"), F.col("y").alias("label")).union(roots).distinct()


def _large_star(edges: DataFrame) -> DataFrame:
    """A node's larger neighbours go to the smallest of its neighbourhood."""
    both = edges.union(edges.select(F.col("y").alias("x"), F.col("x").alias("y")))
    least = both.groupBy("x").agg(F.least(F.min("y"), F.first("x")).alias("least"))
    return both.where("y > x").join(least, "x").select(F.col("y").alias("x"), F.col("least").alias("y")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """A node and its smaller neighbours go to the smallest of these."""
    down = edges.select(F.greatest("x", "y").alias("x"), F.least("x", "y").alias("y"))
    least = down.groupBy("x").agg(F.min("y").alias("least"))
    moved = down.join(least, "x").where("y <> least").select(F.col("y").alias("x"), F.col("least").alias("y"))
    return moved.union(least.select("x", F.col("least").alias("y"))).distinct()


def _digest(edges: DataFrame) -> tuple[Any, ...]:
    """Equal for equal sets of edges."""
    parts = edges.agg(F.count("*"), F.sum(F.hash("x", "y").cast("decimal(38,0)")), F.sum(F.xxhash64("y", "x").cast("decimal(38,0)")))
    return tuple(parts.first())

"""Connected components: a, b → node, label; few edges on the driver, many by alternating joins.

The joins are large star and small star (Kiveris and others 2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.kernels.grouping.graph import components as of_graph

DataFrame = Any
FEW = 1_000_000  # edges, 16 MB: a round of joins takes seconds however few there are, and there are four or more


def components(edges: DataFrame, few: int = FEW) -> DataFrame:
    """Each node with the smallest one that hangs together with it; `edges` are persisted, for they are read again."""
    return _on_driver(edges) if edges.count() <= few else _by_joins(edges)


def _on_driver(edges: DataFrame) -> DataFrame:
    known = edges.toArrow()
    nodes, places = np.unique(np.concatenate([known["a"].to_numpy(), known["b"].to_numpy()]), return_inverse=True)
    a, b = np.split(places, 2)
    labels = of_graph(Graph(len(nodes), a, b, np.ones(len(a))))  # the first of them, and nodes are sorted
    return edges.sparkSession.createDataFrame(pa.table({"node": nodes, "label": nodes[labels]}))


def _by_joins(edges: DataFrame) -> DataFrame:
    """A round about halves the longest path, so that their number grows with its logarithm."""
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

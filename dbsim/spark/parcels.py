"""Rows of numbers travel between executors as parcels: a thousand in one binary value, sorted by where they go.

Spark moves, sorts and spills parcels as it does any rows, but there are few of them, and Python takes each as an array.
A part is what a task takes into memory at once. Parts are many more than tasks, so that each is small.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F

from dbsim.dedupe.kernels.buckets import MIX

DataFrame = Any
Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Found = dict[int, list[Bytes]]  # the parcels of a part, by kind

SCHEMA = "part long, kind int, data binary"
CONTENTS, BUCKETS, LARGE, PAIRS, COPIES, SIZES, TOTALS = range(7)  # kinds
ENTRIES = 1 << 20  # of a part
LEAST = 16  # parts a task at least, for tasks to have about as many each
MOST = 1 << 28  # bytes of a batch


@dataclass(frozen=True)
class Exchange:
    """Into how many tasks, and parts, whatever travels is divided."""

    tasks: int
    parts: int

    @staticmethod
    def of(df: DataFrame, entries: int) -> Exchange:
        tasks = int(df.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
        return Exchange(tasks, max(LEAST * tasks, entries // ENTRIES))

    def sorted(self, parcels: DataFrame) -> DataFrame:
        """All of a part in one task, one after the other."""
        return parcels.repartition(self.tasks, "part").sortWithinPartitions("part")

    def place(self, *columns: Numbers) -> Numbers:
        """The part of each row, by what it must be together with."""
        place: Numbers = (mixed(*columns) >> np.uint64(33)).astype(np.int64) % self.parts
        return place


def mixed(*columns: Numbers) -> NDArray[np.uint64]:
    """A number of each row, equal for equal rows and hardly ever for others."""
    found = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        found = (found ^ np.ascontiguousarray(column).view(np.uint64)) * MIX
        found ^= found >> np.uint64(32)
    return found


def sent(kind: int, rows: NDArray[Any], part: Numbers) -> Iterator[pa.RecordBatch]:
    """Rows of a matrix, each to its part."""
    width = rows.shape[1] * rows.itemsize
    step = max(1, MOST // width)
    for first in range(0, len(rows), step):
        order = np.argsort(part[first : first + step], kind="stable")
        there = part[first : first + step][order]
        starts = np.flatnonzero(np.diff(there, prepend=-1))
        data = np.ascontiguousarray(rows[first : first + step][order])
        ends = np.append(starts, len(order)).astype(np.int32) * np.int32(width)
        yield _batch(there[starts], kind, ends, data)


def whole(kind: int, rows: NDArray[Any], part: int) -> pa.RecordBatch:
    """One parcel."""
    return _batch(np.array([part]), kind, np.array([0, rows.nbytes], np.int32), rows)


def _batch(parts: Numbers, kind: int, ends: NDArray[np.int32], rows: NDArray[Any]) -> pa.RecordBatch:
    data = pa.Array.from_buffers(
        pa.binary(), len(parts), [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(rows))]
    )
    kinds = np.full(len(parts), kind, np.int32)
    columns = [pa.array(parts.astype(np.int64)), pa.array(kinds), data]
    return pa.RecordBatch.from_arrays(columns, names=["part", "kind", "data"])


def received(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Found]]:
    """The parts of a task, one after the other."""
    current, found = -1, defaultdict[int, list[Bytes]](list)
    for batch in batches:
        data = batch.column("data")
        for place, (part, kind) in enumerate(
            zip(*(batch.column(n).to_pylist() for n in ("part", "kind")), strict=True)
        ):
            if part != current and found:
                yield current, found
                found = defaultdict(list)
            current = part
            found[kind].append(np.frombuffer(data[place].as_buffer(), np.uint8))
    if found:
        yield current, found


def matrix(parcels: list[Bytes], width: int, dtype: Any = np.int64) -> NDArray[Any]:
    """The rows of parcels; `width` numbers each."""
    rows: NDArray[Any] = np.concatenate([np.empty(0, np.uint8), *parcels]).view(dtype).reshape(-1, width)
    return rows


def binary(rows: Bytes) -> pa.Array:
    """A value for each row."""
    ends = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(rows.shape[1])
    return pa.Array.from_buffers(
        pa.binary(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(rows))]
    )


def unbinary(column: Any, width: int) -> Bytes:
    """The rows of a column of values of equal width."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    _, ends, data = array.buffers()
    if not len(array):
        return np.empty((0, width), np.uint8)
    first = int(np.frombuffer(ends, np.int32, 1, 4 * array.offset)[0])
    return np.frombuffer(data, np.uint8, len(array) * width, first).reshape(-1, width)


def of_kind(parcels: DataFrame, kind: int) -> DataFrame:
    return parcels.where(F.col("kind") == kind)

"""What bulk deduplication returns, as Arrow batches or a file: Finding → groups, pairs, the rows that stay."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from dbsim.bulk.finding import Finding
from dbsim.bulk.gathering import Numbers
from dbsim.bulk.reading import CSV, JSON, PARQUET, TSV, Rows
from dbsim.dedupe.kernels.grouping.assignment import Assignment
from dbsim.dedupe.kernels.missing import Limited
from dbsim.errors import InvalidOption

BATCH = 65_536  # rows of a batch


class Batches(ABC):
    """Record batches made anew by every loop."""

    schema: pa.Schema

    @abstractmethod
    def __iter__(self) -> Iterator[pa.RecordBatch]: ...

    def to_table(self) -> pa.Table:
        return pa.Table.from_batches(list(self), self.schema)

    def write(self, path: str | Path) -> int:
        """Into a .parquet, .csv or .jsonl file, which is there when it is complete; returns the number of rows."""
        return write_batches(self, self.schema, Path(path))


class Groups(Batches):
    """One row for every row of the source that belongs to a group, with the columns of dbsim_<index>_groups.

    In the order of the representatives, then of the keys. len() is the number of groups, `rows` that of rows in them;
    `limited` says what was too large to compare all with all, so that pairs may be missing.
    """

    def __init__(self, finding: Finding, found: Assignment) -> None:
        self._finding = finding
        self._found = found
        self.limited: Limited = finding.edges.limited
        keys = finding.rows.keys.schema
        names, types = group_columns(keys.names), [pa.int64(), pa.float64(), pa.float64(), *keys.types]
        self.schema = pa.schema([*keys, *map(pa.field, names, types)])

    def __len__(self) -> int:
        return int((self._found.fingerprints == self._found.group_ids).sum())

    @property
    def rows(self) -> int:
        return len(self._members[0])

    @cached_property
    def _members(self) -> tuple[Numbers, Numbers]:
        """(rows in groups, the entry of each in the assignment), in the order they are given out."""
        finding, found = self._finding, self._found
        contents = finding.rows.collection
        entry = np.full(len(contents), -1, np.int64)
        numbers, _ = contents.find(found.fingerprints)
        entry[numbers] = np.arange(len(numbers))
        entries = entry[finding.row_contents]
        rows = np.flatnonzero(entries >= 0)
        entries = entries[rows]
        leader = finding.places[contents.find(found.group_ids)[0]][entries]
        order = np.lexsort((finding.row_places[rows], leader))
        return rows[order], entries[order]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        finding, found = self._finding, self._found
        rows, entries = self._members
        leaders = finding.first_rows[finding.rows.collection.find(found.group_ids)[0]]
        for start in range(0, len(rows), BATCH):
            some = entries[start : start + BATCH]
            own = _keys(finding, rows[start : start + BATCH])
            numbers = [found.group_ids[some], found.scores[some], found.diameters[some]]
            columns = [*own, *map(pa.array, numbers), *_keys(finding, leaders[some])]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)


class FoundPairs(Batches):
    """Pairs of rows with their scores, as `Index.pairs(copies="first")` gives them.

    Rows with equal content appear as pairs of the first of them with each other one, score 1; a pair of two different
    contents appears once, between their first rows.
    """

    def __init__(self, finding: Finding) -> None:
        self._finding = finding
        self.limited: Limited = finding.edges.limited
        keys = finding.rows.keys.schema
        names = [(end if len(keys) == 1 else f"{end}_{field.name}", field.type) for end in "ab" for field in keys]
        ends = [pa.field(name, type_) for name, type_ in names]
        self.schema = pa.schema([*ends, pa.field("score", pa.float64())])

    def __len__(self) -> int:
        return len(self._copies[0]) + len(self._finding.edges.a)

    @cached_property
    def _copies(self) -> tuple[Numbers, Numbers]:
        """(first rows, rows with the same content), the latter in the order of the keys."""
        finding = self._finding
        first = finding.first_rows[finding.row_contents]
        others = np.flatnonzero(first != np.arange(len(first)))
        others = others[np.argsort(finding.row_places[others])]
        return first[others], others

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        finding, edges = self._finding, self._finding.edges
        first, others = self._copies
        for start in range(0, len(first), BATCH):
            part = slice(start, start + BATCH)
            yield self._batch(first[part], others[part], np.ones(len(first[part])))
        for start in range(0, len(edges.a), BATCH):
            part = slice(start, start + BATCH)
            swap = finding.places[edges.a[part]] > finding.places[edges.b[part]]
            a, b = finding.first_rows[edges.a[part]], finding.first_rows[edges.b[part]]
            yield self._batch(np.where(swap, b, a), np.where(swap, a, b), edges.scores[part])

    def _batch(self, a: Numbers, b: Numbers, scores: NDArray[np.float64]) -> pa.RecordBatch:
        columns = [*_keys(self._finding, a), *_keys(self._finding, b), pa.array(scores)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


class Kept(Batches):
    """The rows of the source that stay: all but those of a group that are not its representative; all columns."""

    def __init__(self, source: Rows, groups: Groups) -> None:
        self._source = source
        self.limited = groups.limited
        finding = groups._finding
        rows, entries = groups._members
        leaders = finding.first_rows[finding.rows.collection.find(groups._found.group_ids)[0]]
        self._dropped = np.sort(finding.rows.rows[rows[leaders[entries] != rows]])
        self.removed = len(self._dropped)
        self._total = finding.rows.size
        self.schema = next(iter(source.batches(every_column=True))).schema

    def __len__(self) -> int:
        return self._total - self.removed

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        at = 0
        for batch in self._source.batches(every_column=True):
            low, high = np.searchsorted(self._dropped, [at, at + len(batch)])
            stays = np.ones(len(batch), bool)
            stays[self._dropped[low:high] - at] = False
            at += len(batch)
            yield batch.filter(pa.array(stays))


def _keys(finding: Finding, rows: Numbers) -> list[pa.Array]:
    taken = finding.rows.keys.take(pa.array(rows))
    return [column.combine_chunks() for column in taken.columns]


def group_columns(key: Sequence[str]) -> list[str]:
    """What stands beside the key is called as in the view dbsim_<index>_groups; a name that the key has ends in _."""
    taken, names = {name.lower() for name in key}, list[str]()
    for name in ("group_id", "score", "diameter", *(f"representative_{name}" for name in key)):
        while name.lower() in taken:
            name += "_"
        taken.add(name.lower())
        names.append(name)
    return names


def write_batches(batches: Batches, schema: pa.Schema, path: Path) -> int:
    """To a file beside it first, so that a run that is stopped leaves nothing that looks complete."""
    kind = path.suffix.lower()
    if kind not in PARQUET + CSV + TSV + JSON:
        raise InvalidOption(f"{path.name} is none of .parquet, .csv, .tsv, .jsonl: give it one of these endings")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            rows = _write(batches, schema, file, kind)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return rows


def _write(batches: Batches, schema: pa.Schema, file: IO[bytes], kind: str) -> int:
    rows = 0
    with _writer(file, schema, kind) as writer:
        for batch in batches:
            rows += len(batch)
            writer.write_batch(batch)
    return rows


def _writer(file: IO[bytes], schema: pa.Schema, kind: str) -> Any:
    if kind in PARQUET:
        return pa.parquet.ParquetWriter(file, schema, compression="zstd")
    if kind in JSON:
        return nullcontext(_Lines(file))
    return pa.csv.CSVWriter(file, schema, write_options=pa.csv.WriteOptions(delimiter="\t" if kind in TSV else ","))


@dataclass(frozen=True)
class _Lines:
    """An object of JSON a line."""

    file: IO[bytes]

    def write_batch(self, batch: pa.RecordBatch) -> None:
        rows = batch.to_pylist()
        self.file.writelines(json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n" for row in rows)

"""Rows from outside a database: Parquet, CSV, JSON lines or Arrow batches → Iterator[RecordBatch] of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from dbsim.errors import InvalidOption, UnknownFile, UnknownName
from dbsim.options import Field

ROWS = 8192  # of a batch
BYTES = 1 << 24  # of a batch: rows of 100 kB come some hundred at a time
BLOCK = 1 << 24  # of a text file; no line may be longer
COLUMN = "column of the input named"
ROW = "row"  # the key of rows that have none: their number, from 0 on
PARQUET, CSV, TSV, JSON = (".parquet", ".pq"), (".csv",), (".tsv",), (".jsonl", ".ndjson", ".json")

Origin = Any  # a path, paths, a pyarrow Table or RecordBatchReader, or an iterable of record batches


@dataclass(frozen=True)
class Rows:
    """Where rows come from, and which columns matter; `key` empty: rows are told apart by their number."""

    origin: Origin
    key: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def key_names(self) -> tuple[str, ...]:
        return self.key or (ROW,)

    @property
    def repeatable(self) -> bool:
        """Whether it can be read a second time."""
        return isinstance(self.origin, str | Path | list | tuple | pa.Table)

    def batches(self, *, every_column: bool = False) -> Iterator[pa.RecordBatch]:
        """In the order of the source; the key's and the texts' columns only, unless every column is wanted."""
        wanted = None if every_column else list(dict.fromkeys((*self.key, *self.columns)))
        for batch in _read(self.origin, wanted, self.columns):
            for name in (*self.key, *self.columns):
                if name not in batch.schema.names:
                    raise UnknownName(COLUMN, name, batch.schema.names)
            yield from cut(batch if wanted is None else batch.select(wanted))


def texts(batch: pa.RecordBatch, fields: Sequence[Field]) -> list[list[str]]:
    """`texts[field][row]`: the columns of a field joined by a line break, as an index joins them."""
    return [_joined([_strings(batch, name) for name in field.columns]) for field in fields]


def _joined(columns: list[list[str]]) -> list[str]:
    return columns[0] if len(columns) == 1 else ["\n".join(row) for row in zip(*columns, strict=True)]


def _strings(batch: pa.RecordBatch, name: str) -> list[str]:
    """NULL as the empty text; a value that is not UTF-8 is the empty text, too: it matches nothing."""
    column = batch.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = _as_string(column, name)
    try:
        return [value or "" for value in column.to_pylist()]
    except UnicodeDecodeError:
        return [_decoded(value) for value in column.cast(pa.large_binary()).to_pylist()]


def _as_string(column: pa.Array, name: str) -> pa.Array:
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type) or pa.types.is_nested(column.type):
        raise InvalidOption(f"column {name!r} is of type {column.type}, which holds no text: name a text column")
    return pc.cast(column, pa.string())


def _decoded(value: bytes | None) -> str:
    try:
        return "" if value is None else value.decode()
    except UnicodeDecodeError:
        return ""


def cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Into parts of bounded size."""
    step = max(1, min(ROWS, BYTES * len(batch) // max(batch.nbytes, 1)))
    for start in range(0, len(batch), step):
        yield batch.slice(start, step)


def _read(origin: Origin, wanted: list[str] | None, texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
    if isinstance(origin, str | Path):
        yield from _file(Path(origin), wanted, texts)
    elif isinstance(origin, pa.Table):
        yield from origin.to_batches(ROWS)
    elif isinstance(origin, list | tuple) and all(isinstance(part, str | Path) for part in origin):
        for part in origin:
            yield from _file(Path(part), wanted, texts)
    elif isinstance(origin, Iterable):
        yield from origin
    else:
        raise InvalidOption(
            f"rows come from files, a pyarrow table or record batches, not from {type(origin).__name__}"
        )


def _file(path: Path, wanted: list[str] | None, texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
    if path.is_dir():
        parts = sorted(part for part in path.rglob("*") if part.suffix.lower() in PARQUET and part.is_file())
        if not parts:
            raise InvalidOption(f"{path} is a folder without Parquet files: name a file")
        for part in parts:
            yield from _file(part, wanted, texts)
        return
    if not path.is_file():
        raise UnknownFile("file", path, [other for other in path.parent.glob("*") if other.is_file()])
    try:
        yield from _parts(path, wanted, texts)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InvalidOption(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from error


def _parts(path: Path, wanted: list[str] | None, texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
    kind = path.suffix.lower()
    if kind in PARQUET:
        with pa.parquet.ParquetFile(path, pre_buffer=False) as file:  # which keeps all that was read until the end
            for name in wanted or ():
                if name not in file.schema_arrow.names:
                    raise UnknownName(COLUMN, name, file.schema_arrow.names)
            yield from file.iter_batches(ROWS, columns=wanted)
    elif kind in CSV + TSV:
        yield from pa.csv.open_csv(
            path,
            pa.csv.ReadOptions(block_size=BLOCK),
            pa.csv.ParseOptions(delimiter="\t" if kind in TSV else ",", newlines_in_values=True),
            # an empty field is an empty text and a word like "null" a text, as in a table
            pa.csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()), strings_can_be_null=False),
        )
    elif kind in JSON:
        schema = pa.schema([(name, pa.string()) for name in texts])
        yield from pa.json.open_json(
            path, pa.json.ReadOptions(block_size=BLOCK), pa.json.ParseOptions(explicit_schema=schema)
        )
    else:
        known = ", ".join((*PARQUET[:1], *CSV, *TSV, *JSON[:1]))
        raise InvalidOption(f"{path.name} is none of {known}: rename it or convert it")

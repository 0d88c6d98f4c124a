"""Read a .jsonl, .csv or .tsv file into a table: path → rows inserted, in one transaction."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import NullType, TypeEngine

from dbsim.engines.backend import Backend
from dbsim.errors import InvalidOption, UnknownFile, UnknownName
from dbsim.importing.sniff import Record, number, separator_named, separator_of, types_of
from dbsim.lifecycle.create import find_source
from dbsim.tables.catalogue import document_table

BATCH = 1000
KEY = "id"
REST = "\0"  # no column has this name
TABULAR = {".csv": None, ".tsv": "tab", ".tab": "tab"}  # and their separator, where the name tells it
READABLE = (*TABULAR, ".jsonl", ".ndjson", ".json")
FIELD_LIMIT = 2**31 - 1  # characters in a CSV field; Python's own limit is 131,072


def load(
    connection: Connection,
    backend: Backend,
    path: Path,
    table: str | None,
    text: str | None,
    separator: str | None,
    progress: Callable[[int], None],
) -> tuple[str, int]:
    """(table, rows inserted)"""
    if not path.is_file():
        others = [other for other in path.parent.glob("*") if other.suffix.lower() in READABLE and other.is_file()]
        raise UnknownFile("file", path, others)

    def records() -> Iterator[Record]:
        return _named(_records(path, separator), path)

    if next(records(), None) is None:
        raise InvalidOption(f"{path} holds no records")
    if table is None:
        target, rows = document_table, _documents(records(), text or "text", path)
    else:
        target = _target(connection, backend, table, records, path.suffix.lower() in TABULAR)
        types = {column.name: column.type for column in target.c}
        rows = (_fitting(record, types, target.name) for record in records())
    done = 0
    while batch := list(islice(rows, BATCH)):
        names = dict.fromkeys(name for row in batch for name in row)
        try:
            connection.execute(insert(target), [{name: row.get(name) for name in names} for row in batch])
        except IntegrityError as error:
            detail = str(error.orig).strip().split("\n")[0]
            raise InvalidOption(f"the table refuses a row ({detail}); nothing was imported") from error
        done += len(batch)
        progress(done)
    return target.name, done


def _named(records: Iterator[Record], path: Path) -> Iterator[Record]:
    try:
        for record in records:
            if not all(record):
                raise InvalidOption(f"{path.name} has a column without a name; nothing was imported")
            yield record
    except UnicodeDecodeError as error:
        raise InvalidOption(f"{path.name} is not UTF-8: convert it first; nothing was imported") from error


def _records(path: Path, separator: str | None) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        kind = path.suffix.lower()
        if kind not in READABLE:
            raise InvalidOption(f"{path.name} is neither .jsonl nor .csv: rename it or convert it")
        if kind in TABULAR:
            yield from _csv_records(file, path, separator or TABULAR[kind])
            return
        for line_number, line in enumerate(file, 1):
            if line.strip():
                yield _json_record(line, path, line_number)


def _csv_records(file: TextIO, path: Path, separator: str | None) -> Iterator[Record]:
    csv.field_size_limit(FIELD_LIMIT)
    delimiter = separator_named(separator) if separator else separator_of(file, path.name)
    reader = csv.DictReader(file, delimiter=delimiter, restkey=REST, skipinitialspace=True)
    for record in reader:
        if REST in record:
            raise InvalidOption(
                f"{path.name}, line {reader.line_num}: more values than the header has columns; nothing was imported"
            )
        yield record


def _json_record(line: str, path: Path, number: int) -> Record:
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise InvalidOption(f"{path.name}, line {number}: not JSON ({reason}); nothing was imported") from error
    if not isinstance(record, dict):
        raise InvalidOption(f"{path.name}, line {number}: a JSON object was expected; nothing was imported")
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
        for name, value in record.items()
    }


def _documents(records: Iterator[Record], text: str, path: Path) -> Iterator[Record]:
    for record in records:
        if text not in record:
            raise UnknownName(f"column of {path.name} named", text, record)
        yield {"text": record[text], "source": path.name}


def _target(
    connection: Connection, backend: Backend, name: str, records: Callable[[], Iterator[Record]], written: bool
) -> Table:
    """The existing table, or a new one with the columns of all records, which are read once more for it."""
    source = backend.describe(connection, name, None)
    if source is None and "." in name:
        source = find_source(connection, backend, name, None)
    if source is not None:
        return Table(source.table, MetaData(), *(Column(column) for column in source.columns), schema=source.schema)
    types = types_of(records(), KEY, written=written)
    key = next((column for column in types if column.lower() == KEY), KEY)
    columns = [Column(column, type_) for column, type_ in types.items() if column != key]
    table = Table(name, MetaData(), Column(key, types.get(key, Integer()), primary_key=True), *columns)
    connection.execute(CreateTable(table))
    return table


def _fitting(record: Record, types: dict[str, TypeEngine[Any]], table: str) -> Record:
    """Numbers where the new table has numbers; an empty value of such a column is none."""
    for name in record:
        if name not in types:
            raise UnknownName(f"column of table {table!r} named", str(name), types)
    return {name: _value(value, types[name]) for name, value in record.items()}


def _value(value: Any, type_: TypeEngine[Any]) -> Any:
    if not isinstance(value, str) or isinstance(type_, Text | NullType):
        return value
    return number(value) if value else None

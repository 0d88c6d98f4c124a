"""Read a .jsonl or .csv file into a table: path → rows inserted, in one transaction."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from sqlalchemy import Boolean, Column, Connection, Double, Integer, MetaData, Table, Text, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateTable

from dbsim.engines.backend import Backend
from dbsim.errors import InvalidOption, UnknownName
from dbsim.lifecycle.create import find_source
from dbsim.tables.catalogue import document_table
from dbsim.tables.types import row_number

Record = dict[str, Any]
BATCH = 1000
PROBE = 200  # records looked at to choose the column types of a new table
KEY = "id"
REST = "\0"  # no column has this name
FIELD_LIMIT = 2**31 - 1  # characters in a CSV field; Python's own limit is 131,072


def load(
    connection: Connection,
    backend: Backend,
    path: Path,
    table: str | None,
    text: str | None,
    progress: Callable[[int], None],
) -> tuple[str, int]:
    """(table, rows inserted)"""
    if not path.is_file():
        raise UnknownName("file", str(path), [str(other) for other in path.parent.glob("*") if other.is_file()])
    records = _named(_records(path), path)
    probe = list(islice(records, PROBE))
    if not probe:
        raise InvalidOption(f"{path} holds no records")
    if table is None:
        target, rows = document_table, _documents(chain(probe, records), text or "text", path)
    else:
        target = _target(connection, backend, table, probe)
        known = set(target.c.keys())
        rows = (_fitting(record, known, target.name) for record in chain(probe, records))
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


def _records(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        if path.suffix.lower() == ".csv":
            yield from _csv_records(file, path)
            return
        if path.suffix.lower() not in (".jsonl", ".ndjson", ".json"):
            raise InvalidOption(f"{path.name} is neither .jsonl nor .csv: rename it or convert it")
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _json_record(line, path, number)


def _csv_records(file: TextIO, path: Path) -> Iterator[Record]:
    csv.field_size_limit(FIELD_LIMIT)
    reader = csv.DictReader(file, restkey=REST, skipinitialspace=True)
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


def _target(connection: Connection, backend: Backend, name: str, probe: list[Record]) -> Table:
    """The existing table, or a new one with the columns of the first records."""
    source = backend.describe(connection, name, None)
    if source is None and "." in name:
        source = find_source(connection, backend, name, None)
    if source is not None:
        return Table(source.table, MetaData(), *(Column(column) for column in source.columns), schema=source.schema)
    names = dict.fromkeys(column for record in probe for column in record)
    columns = [Column(column, _type([record.get(column) for record in probe])) for column in names if column != KEY]
    key = _type([record.get(KEY) for record in probe]) if KEY in names else Integer()
    table = Table(name, MetaData(), Column(KEY, key, primary_key=True), *columns)
    connection.execute(CreateTable(table))
    return table


def _type(values: list[Any]) -> Any:
    found = {type(value) for value in values if value is not None}
    if found == {bool}:
        return Boolean()
    if found == {int}:
        return row_number()
    if found and found <= {int, float}:
        return Double()
    return Text()


def _fitting(record: Record, known: set[str], table: str) -> Record:
    for name in record:
        if name not in known:
            raise UnknownName(f"column of table {table!r} named", str(name), known)
    return record

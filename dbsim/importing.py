"""Read a .jsonl or .csv file into a table: path → rows inserted, in one transaction."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Double, Integer, MetaData, Table, Text, insert
from sqlalchemy.schema import CreateTable

from dbsim.errors import InvalidOption, UnknownName
from dbsim.store.backend import Backend
from dbsim.store.catalogue import document_table
from dbsim.store.create import find_source

Record = dict[str, Any]
BATCH = 1000
PROBE = 200  # records looked at to choose the column types of a new table
KEY = "id"


def load(
    connection: Connection,
    backend: Backend,
    path: Path,
    table: str | None,
    text: str | None,
    progress: Callable[[int], None],
) -> tuple[str, int]:
    """(table, rows inserted)"""
    records = _records(path)
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
        connection.execute(insert(target), [{name: row.get(name) for name in names} for row in batch])
        done += len(batch)
        progress(done)
    return target.name, done


def _records(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        if path.suffix.lower() == ".csv":
            yield from csv.DictReader(file, skipinitialspace=True)
            return
        if path.suffix.lower() not in (".jsonl", ".ndjson", ".json"):
            raise InvalidOption(f"{path.name} is neither .jsonl nor .csv: rename it or convert it")
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _json_record(line, path, number)


def _json_record(line: str, path: Path, number: int) -> Record:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidOption(f"{path.name}, line {number}: not JSON ({error.msg}); nothing was imported") from error
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
    if found == {int}:
        return BigInteger().with_variant(Integer, "sqlite")
    if found and found <= {int, float}:
        return Double()
    return Text()


def _fitting(record: Record, known: set[str], table: str) -> Record:
    for name in record:
        if name not in known:
            raise UnknownName(f"column of table {table!r} named", str(name), known)
    return record

"""A small generated register in a table `people`, for the tests of records of persons."""

from __future__ import annotations

from sqlalchemy import Engine, text

from benchmarks.register import COLUMNS, Register, register
from tests.integration.helpers import execute


def people(engine: Engine, rows: int = 300, seed: int = 5, table: str = "people") -> Register:
    """CREATE TABLE people (id, …) with generated rows, numbered from 1."""
    made = register(rows, seed)
    execute(engine, f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {', '.join(f'{name} TEXT' for name in COLUMNS)})")
    add_people(engine, dict(enumerate(made.rows, 1)), table)
    return made


def add_people(engine: Engine, rows: dict[int, list[str]], table: str = "people") -> None:
    names = ", ".join(COLUMNS)
    values = ", ".join(f":{name}" for name in COLUMNS)
    with engine.begin() as connection:
        connection.execute(
            text(f"INSERT INTO {table} (id, {names}) VALUES (:id, {values})"),
            [{"id": key, **{n: v or None for n, v in zip(COLUMNS, row, strict=True)}} for key, row in rows.items()],
        )

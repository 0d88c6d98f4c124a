"""A generated register in a database: rows a second of its first sync; the door beside a search with the same row."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import psycopg
from sqlalchemy import text

import dbsim
from benchmarks import server
from benchmarks.register import Register
from benchmarks.report import Report, Target, console

ROWS_A_SECOND = Target("≥", 10_000, "value")
TWICE = Target("≤", 2.0)
ASKED, FIRST = 200, 20  # rows of the register, asked with again; the first ones only warm what is cached
HITS = 10


@dataclass(frozen=True)
class Took:
    """Seconds, of one call."""

    wall: float
    client: float

    @staticmethod
    def by(call: Callable[[], object]) -> Took:
        wall, client = time.perf_counter(), time.process_time()
        call()
        return Took(time.perf_counter() - wall, time.process_time() - client)


def measure(report: Report, made: Register, full: bool) -> None:
    """Both engines, one after the other; with the first sync everything is learned, signed and stored."""
    with server.postgres() as url:
        for engine in server.ENGINES:
            console.print(f"database, {engine}: {len(made.rows):,} rows")
            with server.empty(engine, url) as database:
                _measure(report, engine, database, made, full)


def _measure(report: Report, engine: str, database: dbsim.Database, made: Register, full: bool) -> None:
    _load(database, made)
    index = database.create_records("people", table="people", secret=server.SECRET)
    took = Took.by(index.sync)
    rows = len(made.rows)
    note = f"{rows / took.wall:,.0f} rows/s by the clock; the client's CPU, learning included"
    report.add(f"{engine}: first sync", rows / took.client, "rows/s", target=ROWS_A_SECOND if full else None, note=note)
    _door(report, engine, index, made)
    if engine == "postgresql":
        _function(report, database, made)


def _door(report: Report, engine: str, index: dbsim.Index, made: Register) -> None:
    """check_row and search by turns, each with the same row."""
    checked: list[Took] = []
    searched: list[Took] = []
    for number, row in enumerate(_asked(made)):
        for took, call in ((checked, index.check_row), (searched, index.search)):
            one = Took.by(lambda call=call, row=row: call(row, limit=HITS))  # type: ignore[misc]
            if number >= FIRST:
                took.append(one)
    for what, of in (("", "wall"), (", CPU of the client", "client")):
        mine, theirs = (statistics.median(getattr(one, of) for one in took) * 1000 for took in (checked, searched))
        name = f"{engine}: check_row{what}"
        report.add(name, mine, "ms", peer="search with the row", peer_value=theirs, target=TWICE)


def _function(report: Report, database: dbsim.Database, made: Register) -> None:
    """The same inside PostgreSQL, where the row is signed in SQL: `_check` beside `_similar` of a stored row."""
    check, similar = (
        text("SELECT count(*) FROM dbsim_people_check(:given)"),
        text("SELECT count(*) FROM dbsim_people_similar(:given, hits => 10)"),
    )
    checked, compared = [], []
    with database.engine.connect() as connection:
        for number, row in enumerate(_asked(made)):
            given = {"given": json.dumps(row)}
            one = Took.by(lambda given=given: connection.execute(check, given).all())  # type: ignore[misc]
            key = {"given": number + 1}
            two = Took.by(lambda key=key: connection.execute(similar, key).all())  # type: ignore[misc]
            if number >= FIRST:
                checked.append(one.wall * 1000)
                compared.append(two.wall * 1000)
    mine, theirs = statistics.median(checked), statistics.median(compared)
    report.add("postgresql: _check", mine, "ms", peer="_similar", peer_value=theirs, target=TWICE)


def _asked(made: Register) -> Iterator[Mapping[str, str]]:
    for row in made.rows[: ASKED + FIRST]:
        yield dict(zip(made.columns, row, strict=True))


def _load(database: dbsim.Database, made: Register) -> None:
    """The application's table, there before dbsim."""
    key = "INTEGER" if database.engine.dialect.name == "sqlite" else "BIGINT"
    columns = ", ".join(f"{name} TEXT" for name in made.columns)
    rows = ((number, *row) for number, row in enumerate(made.rows, 1))
    with database.engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE TABLE people (id {key} PRIMARY KEY, {columns})")
        raw = connection.connection.dbapi_connection
        if isinstance(raw, psycopg.Connection):
            with raw.cursor() as cursor, cursor.copy("COPY people FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join("?" for _ in range(1 + len(made.columns)))
            connection.connection.cursor().executemany(f"INSERT INTO people VALUES ({marks})", list(rows))
    if database.engine.dialect.name == "postgresql":
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE people")

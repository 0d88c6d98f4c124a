"""At the door: is this person already here? Checked and inserted in the caller's transaction, safe against a twin."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable

import numpy as np
import pytest
from sqlalchemy import create_engine

import dbsim
from benchmarks.register import COLUMNS, register
from dbsim.errors import InvalidOption
from tests.conftest import SECRET
from tests.integration.helpers import articles, fetch
from tests.people import add_people, people

PERSON = {
    "given": "Erika",
    "surname": "Mustermann",
    "born": "1964-08-12",
    "street": "Heidestraße",
    "house": "17",
    "postcode": "51147",
    "city": "Köln",
    "phone": "0221 123456",
    "email": "erika@mustermann.example",
}


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    people(database.engine, 300)
    made = database.create_records("people", table="people", secret=SECRET)
    made.sync()
    return made


def test_a_person_comes_in_once(index: dbsim.Index, database: dbsim.Database) -> None:
    with database.engine.begin() as connection:
        first = index.add_unless_duplicate(connection, {"id": 9001, **PERSON})
    assert first.inserted
    assert first.key == 9001
    changed = {**PERSON, "surname": "Musterman", "born": "12.8.1964", "street": "Heidestr.", "phone": None}
    with database.engine.begin() as connection:
        second = index.add_unless_duplicate(connection, {"id": 9002, **changed})
        in_same = index.check_row(changed, connection=connection)
    assert not second.inserted
    assert [match.key for match in second.matches] == [9001] == [match.key for match in in_same]
    evidence = second.matches[0].evidence
    assert evidence.probability == second.matches[0].probability >= 0.9
    assert evidence.bits == pytest.approx(evidence.prior + sum(field.bits for field in evidence.fields))
    assert fetch(database.engine, "SELECT count(*) FROM people WHERE id >= 9000") == [(1,)]
    index.sync()
    assert not index.check()


def test_a_rolled_back_row_leaves_no_trace(index: dbsim.Index, database: dbsim.Database) -> None:
    with database.engine.connect() as connection:
        assert index.add_unless_duplicate(connection, {"id": 9001, **PERSON}).inserted
        connection.rollback()
    assert not index.check_row(PERSON)
    with database.engine.begin() as connection:
        assert index.add_unless_duplicate(connection, {"id": 9001, **PERSON}).inserted


def test_rows_that_wait_in_the_queue_are_seen(index: dbsim.Index, database: dbsim.Database) -> None:
    add_people(database.engine, {9001: list(PERSON.values())})
    assert [match.key for match in index.check_row(PERSON)] == [9001]
    with database.engine.begin() as connection:
        assert not index.add_unless_duplicate(connection, {"id": 9002, **PERSON}).inserted


@pytest.mark.parametrize("changing", [False, True])
def test_who_came_in_is_indexed_in_every_generation(
    index: dbsim.Index, database: dbsim.Database, changing: bool
) -> None:
    """On SQLite, where it is safe, the queue is spared a row that is indexed already; not while options change."""
    if changing:
        index.alter(threshold=0.6)
    with database.engine.begin() as connection:
        assert index.add_unless_duplicate(connection, {"id": 9001, **PERSON}).inserted
    waiting = fetch(database.engine, "SELECT count(*) FROM dbsim_people_queue")[0][0]
    assert waiting == (changing or database.engine.dialect.name == "postgresql")
    index.sync()
    found = database.index("people")
    assert [match.key for match in found.check_row(PERSON)] == [9001]
    assert not found.check()


def test_a_check_finds_what_a_search_finds(index: dbsim.Index, database: dbsim.Database) -> None:
    rows = register(300, 5).rows
    for row in rows[:20]:
        asked = dict(zip(COLUMNS, row, strict=True))
        assert [(m.key, m.probability) for m in index.check_row(asked)] == [
            (hit.key, hit.score) for hit in index.search(asked)
        ]


def test_what_cannot_be_asked_is_said(index: dbsim.Index, database: dbsim.Database) -> None:
    with pytest.raises(InvalidOption, match="none of the columns"):
        index.check_row({"shoe_size": 43})
    assert index.check_row({"surname": "Schmidt"}) == []
    assert index.check_row(dict.fromkeys(COLUMNS, "")) == []
    articles(database.engine, {1: "a text"}, "articles")
    other = database.create_index("articles", table="articles", columns="body")
    with pytest.raises(InvalidOption, match="not about persons"):
        other.check_row({"body": "x"})


def _insert(url: str, rows: list[dict[str, object]], errors: multiprocessing.Queue[str]) -> None:
    """One process of the application: every row in a transaction of its own."""
    # the full run: SQLite lets nobody queue for its write lock, so that one of eight may wait for minutes
    wait = 600 if _full() else 60
    arguments = {"connect_args": {"timeout": wait}} if url.startswith("sqlite") else {}
    engine = create_engine(url, **arguments)
    index = dbsim.open(engine).index("people")
    for row in rows:
        try:
            with engine.begin() as connection:
                index.add_unless_duplicate(connection, row)
        except Exception as error:  # noqa: BLE001  whatever it is, the test fails with it
            errors.put(f"{type(error).__name__}: {error}"[:300])
    engine.dispose()


def test_no_two_processes_bring_the_same_person(index: dbsim.Index, database: dbsim.Database, url: str) -> None:
    """4 processes, 80 near-copies of 16 persons (the full run: 8 processes, 1,000 of 200)."""
    processes, persons, copies = (8, 200, 5) if _full() else (4, 16, 5)
    twins_in(index, database, url, processes, persons, copies)


def _full() -> bool:
    return os.environ.get("DBSIM_RELIABILITY") == "full"


def twins_in(
    index: dbsim.Index,
    database: dbsim.Database,
    url: str,
    processes: int,
    persons: int,
    copies: int,
    target: Callable[..., None] = _insert,
) -> None:
    """`target` inserts rows in a process of its own."""
    random = np.random.default_rng(11)
    made = register(4 * persons, 77).rows[:persons]
    rows: list[dict[str, object]] = []
    for person in made:
        for _ in range(copies):
            row = list(person)
            place = int(random.integers(0, 9))
            row[place] = row[place][:-1] + "x" if len(row[place]) > 3 else row[place]
            rows.append({"id": 10_000 + len(rows), **dict(zip(COLUMNS, row, strict=True))})
    order = random.permutation(len(rows))
    shares = [[rows[i] for i in order[n::processes]] for n in range(processes)]
    context = multiprocessing.get_context("spawn")
    errors: multiprocessing.Queue[str] = context.Queue()
    run: list[multiprocessing.process.BaseProcess] = [
        context.Process(target=target, args=(url, share, errors)) for share in shares
    ]
    _together(run, lambda process: process.start())
    _together(run, lambda process: process.join(300))
    assert errors.empty(), errors.get()
    index.sync()
    inside = [key for (key,) in fetch(database.engine, "SELECT id FROM people WHERE id >= 10000")]
    assert persons * 0.8 <= len(inside) <= persons * 2
    assert [hit for key in inside for hit in index.similar(key, threshold=0.9) if hit.key >= 10_000] == []
    assert not index.check()


def _together(
    run: list[multiprocessing.process.BaseProcess],
    what: Callable[[multiprocessing.process.BaseProcess], object],
) -> None:
    for process in run:
        what(process)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite's writer sees everything
def test_a_snapshot_older_than_the_lock_is_refused(index: dbsim.Index, database: dbsim.Database) -> None:
    engine = database.engine.execution_options(isolation_level="REPEATABLE READ")
    with engine.connect() as connection, pytest.raises(InvalidOption, match="READ COMMITTED"):
        index.add_unless_duplicate(connection, {"id": 9001, **PERSON})

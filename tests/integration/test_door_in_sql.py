"""The door of PostgreSQL: persons signed in SQL as in Python, checked from SQL, rejected or flagged by a trigger."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

import dbsim
from benchmarks.register import COLUMNS, register
from dbsim.engines.postgresql.surface.signing import gate
from dbsim.errors import InvalidOption
from dbsim.tables.names import literal
from tests.conftest import SECRET
from tests.integration.helpers import execute, fetch
from tests.integration.test_door import PERSON, twins_in
from tests.oracle import stored
from tests.people import add_people, people

HOSTILE = [
    ["Dr. Müller", "O'Brien-Łukasz", "32.13.2001", "c/ Mayor", "0", "00000000", "n/a", "+49 (0)40 1 ext. 5", "a+b@c@d"],
    ["", "", "", "", "", "", "", "", ""],
    ["Erika", "", "", "", "", "", "", "", ""],
    ["漢字", "😀", "२४.६.१९७१", "Hauptstr. 5", "12 b", "x", "Köln", "(040)", "<x@GoogleMail.com>"],
]


@pytest.fixture(scope="module")
def shared(module_postgres: str) -> Iterator[dbsim.Database]:
    """With an index of persons that rejects; learning takes longer than all that is asked of it."""
    database = dbsim.open(module_postgres)
    database.upgrade()
    people(database.engine, 200)
    database.create_records("people", table="people", on_duplicate="reject", secret=SECRET).sync()
    yield database
    database.close()


@pytest.fixture
def database(shared: dbsim.Database) -> Iterator[dbsim.Database]:
    """Without the rows of the test before."""
    yield shared
    execute(shared.engine, "DELETE FROM people WHERE id > 1000")


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    return database.index("people")


@pytest.fixture
def other(new_postgres: str) -> Iterator[dbsim.Database]:
    """A database of its own."""
    opened = dbsim.open(new_postgres)
    opened.upgrade()
    yield opened
    opened.close()


def insert(database: dbsim.Database, key: int, row: dict[str, str | None]) -> None:
    with database.engine.begin() as connection:
        names = ["id", *row]
        values = ", ".join(f":{name}" for name in names)
        connection.execute(text(f"INSERT INTO people ({', '.join(names)}) VALUES ({values})"), {"id": key, **row})


def test_what_sql_signs_is_what_python_signs(index: dbsim.Index, database: dbsim.Database) -> None:
    """Byte for byte: keys, filters, rarities, also of rows that say too little, and of hostile text."""
    execute(database.engine, "ALTER TABLE people DISABLE TRIGGER unless_dbsim_people")
    add_people(database.engine, dict(enumerate([*HOSTILE, *register(60, 9).rows], 5001)))
    assert fetch(database.engine, "SELECT count(*) FROM dbsim_people_queue") == [(0,)]  # signed inline
    inline = stored(database, "people")
    assert not index.check()
    assert len(inline) == 264
    execute(
        database.engine,
        "ALTER TABLE people ENABLE TRIGGER unless_dbsim_people",
        "DELETE FROM dbsim_people",
        "INSERT INTO dbsim_people_queue (id) SELECT id FROM people",
    )
    index.sync()  # the worker signs
    assert stored(database, "people") == inline


def test_keys_of_few_fields_are_signed_alike(other: dbsim.Database) -> None:
    """Fewer fields have keys by other minima, and by one field alone."""
    people(other.engine, 200)
    kinds = dict.fromkeys(COLUMNS, "") | {"surname": "name", "born": "date", "city": "text"}
    index = other.create_records("few", table="people", kinds=kinds, secret=SECRET, on_duplicate="flag")
    scheme = index.options.hashing.scheme
    assert set("cdf") & set(scheme), scheme
    index.sync()
    add_people(other.engine, dict(enumerate([*HOSTILE, *register(30, 9).rows], 5001)))
    assert fetch(other.engine, "SELECT count(*) FROM dbsim_few_queue") == [(0,)]
    inline = stored(other, "few")
    execute(other.engine, "DELETE FROM dbsim_few", "INSERT INTO dbsim_few_queue (id) SELECT id FROM people")
    index.sync()
    assert stored(other, "few") == inline


def test_check_says_in_sql_what_python_says(index: dbsim.Index, database: dbsim.Database) -> None:
    asked = [dict(zip(COLUMNS, row, strict=True)) for row in register(200, 5).rows[:12]]
    asked += [{"given": row["surname"], "surname": row["given"], "born": row["born"]} for row in asked[:6]]
    elsewhere = {"street": "Am Bug", "house": "999", "postcode": "00231", "city": "Xylx"}
    asked += [{**row, **elsewhere} for row in asked[:6]]  # against twins a move says nothing
    asked += [{"given": row["given"], "surname": row["surname"], **elsewhere} for row in asked[:6]]
    query = text("SELECT id, score, evidence FROM dbsim_people_check(CAST(:row AS json))")
    found = moved = 0
    with database.engine.connect() as connection:
        for row in asked:
            rows = connection.execute(query, {"row": json.dumps(row)}).all()
            matches = index.check_row(row)
            assert [(m.key, m.probability, m.to_json()["evidence"]) for m in matches] == [
                (r[0], r[1], {**r[2], "fields": tuple(r[2]["fields"])}) for r in rows
            ]
            found += len(rows)
            fields = [field for r in rows for field in r[2]["fields"]]
            moved += sum(one["field"] == "street" and one["agreement"].startswith("different") for one in fields)
    assert found > 10
    assert moved >= 5


def test_a_person_who_is_there_is_rejected(index: dbsim.Index, database: dbsim.Database) -> None:
    insert(database, 9001, dict(PERSON))
    changed = {**PERSON, "surname": "Musterman", "born": "12.8.1964", "street": "Heidestr.", "phone": None}
    with pytest.raises(DBAPIError) as caught:
        insert(database, 9002, changed)
    error = caught.value.orig
    assert isinstance(error, psycopg.Error)
    assert error.sqlstate == "DS001"
    assert str(error).startswith("this person is in people already, as row 9001 (probability ")
    assert fetch(database.engine, "SELECT id FROM people WHERE id > 9000") == [(9001,)]
    insert(database, 9003, {**PERSON, "given": "Otto", "born": "1931-01-30", "email": None})  # a relative
    twin = list({**PERSON, "given": "Wilhelmine", "surname": "Zweig", "born": "1950-05-05", "email": "w@z.de"}.values())
    listed = ", ".join(f"({key}, {', '.join(map(literal, twin))})" for key in (9004, 9005))
    with pytest.raises(DBAPIError, match="already, as row 900"):  # twins in one statement
        execute(database.engine, f"INSERT INTO people VALUES {listed}")
    index.sync()
    assert not index.check()


def test_rows_that_wait_in_the_queue_are_compared(index: dbsim.Index, database: dbsim.Database) -> None:
    execute(
        database.engine,
        "UPDATE dbsim_index SET wanted = generation",  # as while another generation is built: triggers queue
    )
    insert(database, 9001, dict(PERSON))
    assert fetch(database.engine, "SELECT count(*) FROM dbsim_people_queue") == [(1,)]
    with pytest.raises(DBAPIError, match="already, as row 9001"):
        insert(database, 9002, {**PERSON, "surname": "Musterman"})
    execute(database.engine, "UPDATE dbsim_index SET wanted = NULL")
    index.sync()


def test_a_signature_of_before_is_not_taken_for_the_new_row(index: dbsim.Index, database: dbsim.Database) -> None:
    """A key that comes again while a worker holds the gate has its old signature still: the row's texts count."""
    insert(database, 4001, {**PERSON, "given": "Somebody", "surname": "Else", "born": "1950-01-02", "email": "x@y.z"})
    insert(database, 4002, PERSON)
    with database.engine.begin() as worker:
        worker.execute(text(f"SELECT pg_advisory_xact_lock({gate('people')})"))
        execute(database.engine, "DELETE FROM people WHERE id = 4001")  # queued
        with pytest.raises(DBAPIError, match="as row 4002"):
            insert(database, 4001, PERSON)
    index.sync()


def test_a_broken_index_lets_rows_pass(index: dbsim.Index, database: dbsim.Database) -> None:
    execute(database.engine, "UPDATE dbsim_constant SET name = 'gone' WHERE name = 'primes'")
    insert(database, 9001, dict(PERSON))
    insert(database, 9002, dict(PERSON))
    engine = database.engine.execution_options(isolation_level="REPEATABLE READ")
    with engine.begin() as connection, pytest.raises(DBAPIError, match="READ COMMITTED or SERIALIZABLE"):
        connection.execute(text("INSERT INTO people (id, given) VALUES (9003, 'x')"))
    execute(database.engine, "UPDATE dbsim_constant SET name = 'primes' WHERE name = 'gone'")
    index.sync()
    assert {hit.key for hit in index.similar(9001)} == {9002}


def test_flagged_rows_come_in_and_are_noted(other: dbsim.Database) -> None:
    execute(
        other.engine,
        "CREATE TABLE people (town text, number integer, given text, surname text, born date, email text, "
        "PRIMARY KEY (town, number))",
    )
    rows = register(120, 5).rows
    with other.engine.begin() as connection:
        for place, row in enumerate(rows):
            values = dict(zip(COLUMNS, row, strict=True))
            born = values["born"] if values["born"][4:5] == "-" else None
            statement = "INSERT INTO people VALUES ('Ulm', :n, :given, :surname, CAST(:born AS date), :email)"
            connection.execute(text(statement), {**values, "born": born, "n": place})
    index = other.create_records("people", table="people", on_duplicate="flag", secret=SECRET)
    index.sync()
    person = "'Erika', 'Mustermann', '1964-08-12', 'erika@mustermann.example'"
    execute(other.engine, f"INSERT INTO people VALUES ('Ulm', 1001, {person})")
    execute(other.engine, "SET datestyle = 'German'", f"INSERT INTO people VALUES ('Jena', 1, {person})")
    flagged = fetch(
        other.engine, "SELECT a_town, a_number, b_town, b_number, probability >= 0.9 FROM dbsim_people_flagged"
    )
    assert flagged == [("Jena", 1, "Ulm", 1001, True)]
    (noted,) = index.flagged()
    assert (noted.new, noted.old) == ({"town": "Jena", "number": 1}, {"town": "Ulm", "number": 1001})
    assert noted.evidence is not None
    assert noted.evidence.probability == noted.probability >= 0.9
    execute(other.engine, "DELETE FROM people WHERE number = 1001")
    assert [one.evidence for one in index.flagged()] == [None]
    assert not index.check()
    other.drop_index("people")
    assert fetch(other.engine, "SELECT to_regclass('dbsim_people_flagged')") == [(None,)]
    assert fetch(other.engine, "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal") == []
    execute(other.engine, f"INSERT INTO people VALUES ('Jena', 2, {person})")


def test_what_cannot_be_is_refused(other: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    people(other.engine, 20)
    monkeypatch.setenv("DBSIM_TEST_SECRET", "a secret of many bytes")
    with pytest.raises(InvalidOption, match="never sees a secret kept outside"):
        other.create_records("people", table="people", on_duplicate="flag", secret="env:DBSIM_TEST_SECRET")
    with pytest.raises(InvalidOption, match="filters are folded"):
        other.create_records("people", table="people", on_duplicate="flag", fold=1)
    with pytest.raises(InvalidOption, match="'reject' or 'flag'"):
        other.create_records("people", table="people", on_duplicate="ignore")


def _insert(url: str, rows: list[dict[str, object]], errors: multiprocessing.Queue[str]) -> None:
    """One process of an application that knows nothing of dbsim."""
    engine = create_engine(url)
    statement = text(
        f"INSERT INTO people (id, {', '.join(COLUMNS)}) VALUES (:id, {', '.join(f':{c}' for c in COLUMNS)})"
    )
    for row in rows:
        try:
            with engine.begin() as connection:
                connection.execute(statement, row)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", "") != "DS001":
                errors.put(f"{type(error).__name__}: {error}"[:300])
    engine.dispose()


def test_no_two_processes_bring_the_same_person_past_the_trigger(
    index: dbsim.Index, database: dbsim.Database, module_postgres: str
) -> None:
    """4 processes, 60 near-copies of 12 persons (the full run: 8 processes, 1,000 of 200)."""
    size = (8, 200, 5) if os.environ.get("DBSIM_RELIABILITY") == "full" else (4, 12, 5)
    twins_in(index, database, module_postgres, *size, target=_insert)

"""A small table with near-duplicates in it, for everything that is asked from SQL."""

from __future__ import annotations

import random
import sqlite3
from typing import Any

from sqlalchemy import text

import dbsim
from tests.conftest import SECRET

SENTENCE = (
    "database index table row column query plan cache page disk memory thread lock commit rollback snapshot version "
    "straße Ärger naïve café 東京 данные ﬁne ½ İstanbul größer"
)
WORDS = SENTENCE.split()


def documents(count: int, seed: int = 1) -> dict[int, str]:
    """Every second text is a near-copy of the one before; one is empty and one missing."""
    rng = random.Random(seed)
    found: dict[int, str] = {}
    for number in range(0, count, 2):
        words = rng.choices(WORDS, k=rng.randint(25, 60))
        found[number] = " ".join(words)
        words[rng.randrange(len(words))] = "changed"
        found[number + 1] = " ".join(words) + "."
    found[count] = ""
    return found


def make_table(database: dbsim.Database, texts: dict[int, str], table: str = "articles") -> None:
    with database.engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, body TEXT)"))
        rows = [{"id": key, "body": value} for key, value in texts.items()] + [{"id": max(texts) + 1, "body": None}]
        connection.execute(text(f"INSERT INTO {table} VALUES (:id, :body)"), rows)


def indexed(database: dbsim.Database, count: int = 40, **options: Any) -> dbsim.Index:
    make_table(database, documents(count))
    index = database.create_index("articles", table="articles", columns=["body"], words=2, secret=SECRET, **options)
    index.sync()
    return index


def make_people(database: dbsim.Database) -> dbsim.Index:
    """A composite key and weighted fields, some of them missing."""
    names = ["John Smith", "Jon Smith", "Johann Schmidt", "Jane Doe", "Jane D. Doe", None, "Ann Lee"]
    towns = ["New York", "New York City", None, "Berlin", "Berlin", "Berlin", None]
    with database.engine.begin() as connection:
        connection.execute(
            text("CREATE TABLE people (tenant INTEGER, nr INTEGER, name TEXT, town TEXT, PRIMARY KEY (tenant, nr))")
        )
        for number, (name, town) in enumerate(zip(names, towns, strict=True)):
            connection.execute(
                text("INSERT INTO people VALUES (:t, :n, :a, :b)"), {"t": number % 2, "n": number, "a": name, "b": town}
            )
    index = database.create_index(
        "people", table="people", columns={"name": 0.1, "town": 0.2}, threshold=0.3, characters=2, secret=SECRET
    )
    index.sync()
    return index


def plain(database: dbsim.Database, statement: str) -> list[tuple[Any, ...]]:
    """As any client would ask: on SQLite a bare connection without a function."""
    if database.engine.dialect.name == "sqlite":
        with sqlite3.connect(str(database.engine.url.database)) as bare:
            found = bare.execute(statement).fetchall()
        bare.close()
        return found
    with database.engine.connect() as connection:
        rows = connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
        return [tuple(row) for row in rows]

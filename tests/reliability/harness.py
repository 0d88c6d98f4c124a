"""What the reliability tests share: sizes, an application that knows nothing of dbsim, a small table and index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any

import psycopg
from sqlalchemy import make_url

import dbsim
from dbsim.index import Index
from dbsim.options import Field
from tests.conftest import SECRET

FULL = os.environ.get("DBSIM_RELIABILITY") == "full"
WORDS = ("river stone cloud green paper window seven light", "under marble quiet engine orange basket winter copper")
VOCABULARY = [word for line in WORDS for word in line.split()]
FIELDS = (
    Field(columns=("title",), weight=0.3, unit="characters", size=2, bits=64, sample=1),
    Field(columns=("body",), weight=0.7, unit="words", size=2, bits=64, sample=1),
)


def size(small: int, full: int) -> int:
    """How many: in CI, and with DBSIM_RELIABILITY=full."""
    return full if FULL else small


class Application:
    """Another program on the same database: plain sqlite3 or psycopg, every transaction explicit."""

    def __init__(self, url: str, *, timeout: float = 30.0) -> None:
        self.sqlite = make_url(url).get_backend_name() == "sqlite"
        self.connection: Any
        if self.sqlite:
            self.connection = sqlite3.connect(
                make_url(url).database or "", timeout=timeout, isolation_level=None, check_same_thread=False
            )
        else:
            self.connection = psycopg.connect(url, autocommit=True)

    def execute(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        if values and not self.sqlite:
            statement = statement.replace("?", "%s")
        cursor = self.connection.execute(statement, values) if values else self.connection.execute(statement)
        found = cursor.fetchall() if cursor.description else []
        cursor.close()
        return found

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Application:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def create_articles(app: Application, rows: Iterable[tuple[int, str | None, str | None]] = ()) -> None:
    app.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
    for row in rows:
        app.execute("INSERT INTO articles VALUES (?, ?, ?)", *row)


def create_index(database: dbsim.Database, **options: Any) -> Index:
    """Two weighted fields, two keys, 64 bits: all of a signature's parts, and quick to build."""
    settings = {"fields": FIELDS, "rows": 1, "keys": 2, "secret": SECRET, **options}
    return database.create_index("articles", table="articles", **settings)


def small_batches(index: Index, rows: int = 3) -> Index:
    """Let a handful of rows need several transactions."""
    backend = copy(index._worker().backend)  # a copy: the engine's own serves every test of this process
    backend.fill_batch, backend.queue_batch, backend.key_batch, backend.read_batch = rows, rows, max(rows - 1, 1), 2
    return Index(replace(index._context, backend=backend), index._tables.record)


def sentence(number: int, words: int = 6) -> str:
    """Some words, the same for the same number."""
    return " ".join(VOCABULARY[(number * (place + 3) + place * place) % len(VOCABULARY)] for place in range(words))

"""The engines answer a search from the B-trees of the bucket keys, never by reading the signature table through."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, event, insert, select, table
from sqlalchemy import column as column_clause

import dbsim
from tests.conftest import SECRET
from tests.integration.helpers import WORDS, execute, sentence

ROWS = 20_000


def many_articles(database: dbsim.Database) -> dbsim.Index:
    execute(database.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT, tenant INTEGER)")
    words = np.array(WORDS)[np.random.default_rng(3).integers(0, len(WORDS), (ROWS, 20))].tolist()
    host = table("articles", column_clause("id"), column_clause("body"), column_clause("tenant"))
    with database.engine.begin() as connection:
        rows = [{"id": number, "body": " ".join(one), "tenant": number % 100} for number, one in enumerate(words)]
        connection.execute(insert(host), rows)
    index = database.create_index("articles", table="articles", columns="body", secret=SECRET, rows=6, keys=24)
    assert index.sync().filled == ROWS
    return index


@contextmanager
def recorded(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    """The statements, with their parameters, that read the signatures."""
    found: list[tuple[str, Any]] = []

    def keep(connection: Connection, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "dbsim_articles" in statement and "k0" in statement:
            found.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", keep)
    yield found
    event.remove(engine, "before_cursor_execute", keep)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def check_postgresql(engine: Engine, statement: str, parameters: Any) -> None:
    with engine.connect() as connection:
        shown = connection.exec_driver_sql("EXPLAIN (FORMAT JSON) " + statement, parameters).scalar_one()
    found = list(nodes((json.loads(shown) if isinstance(shown, str) else shown)[0]["Plan"]))
    read = [node["Node Type"] for node in found if node.get("Relation Name") == "dbsim_articles"]
    indexes = {node["Index Name"] for node in found if node["Node Type"] == "Bitmap Index Scan"}
    assert set(read) <= {"Bitmap Heap Scan", "Index Scan"}, shown
    assert "BitmapOr" in [node["Node Type"] for node in found], shown
    assert {f"dbsim_articles_k{number}" for number in range(24)} == indexes, shown


def check_sqlite(engine: Engine, statement: str, parameters: Any) -> None:
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("EXPLAIN QUERY PLAN " + statement, parameters).all()
    lines = [row[3] for row in rows]
    if "json_each" in statement:  # of a batch each key's list is read through, and its values are looked up
        assert [line for line in lines if line.startswith("SCAN asked")] == ["SCAN asked VIRTUAL TABLE INDEX 1:"] * 24
        assert lines.index("SCAN pairs") < lines.index("SEARCH dbsim_articles USING INTEGER PRIMARY KEY (rowid=?)")
    else:
        assert any("MULTI-INDEX OR" in line for line in lines), lines
    # of the queue at most WAITING rows are read (the statement's LIMIT); nothing else of the index is scanned
    scanned = {line.split()[1] for line in lines if line.startswith("SCAN dbsim_articles")}
    assert scanned <= {"dbsim_articles_queue"}, lines
    if scanned:
        assert re.search(r"FROM dbsim_articles_queue\s+LIMIT \?", statement), statement
    used = set(re.findall(r"USING (?:COVERING )?INDEX (dbsim_articles_k\d+) ", "\n".join(lines)))
    assert used == {f"dbsim_articles_k{number}" for number in range(24)}, lines


def test_every_kind_of_search_uses_the_key_indexes(database: dbsim.Database) -> None:
    index = many_articles(database)
    assert index.options.keys == 24

    def match() -> None:
        with database.engine.connect() as connection:
            connection.execute(select(index.match(sentence(1), limit=5))).all()

    kinds: dict[str, Callable[[], object]] = {
        "search": lambda: index.search(sentence(1)),
        "similar": lambda: index.similar(17),
        "where": lambda: index.search(sentence(1), where="tenant = 7"),
        "where expression": lambda: index.search(sentence(1), where=column_clause("tenant") == 7),
        "search_many": lambda: index.search_many([sentence(number) for number in range(50)]),
        "match": match,
    }
    check = check_sqlite if database.engine.dialect.name == "sqlite" else check_postgresql
    for kind, run in kinds.items():
        with recorded(database.engine) as statements:
            run()
        searches = [one for one in statements if "body_bits" in one[0] and "k23 = " in one[0]]
        assert searches, kind
        for statement, parameters in searches:
            check(database.engine, statement, parameters)


def test_keeping_groups_up_reads_no_table_through(database: dbsim.Database) -> None:
    """Little changed: what is looked up is what changed, however many rows, contents and decisions there are."""
    index = many_articles(database)
    list(index.duplicates(by="components"))
    index.decide(1, 2, "different")
    index.sync()
    execute(database.engine, "UPDATE articles SET body = 'something else altogether' WHERE id = 5")
    index._worker().drain()
    statements: list[tuple[str, Any]] = []

    def keep(connection: Connection, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        statements.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", keep)
    index.sync()
    event.remove(database.engine, "before_cursor_execute", keep)
    asked = [one for one in statements if one[0].lstrip().startswith(("SELECT", "WITH")) and "dbsim_articles" in one[0]]
    assert any("_decisions" in statement for statement, _ in asked)
    for statement, parameters in asked:
        assert "dbsim_articles" not in read_through(database.engine, statement, parameters), statement


def read_through(engine: Engine, statement: str, parameters: Any) -> set[str]:
    """Tables of which the engine means to read every row."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            rows = connection.exec_driver_sql("EXPLAIN QUERY PLAN " + statement, parameters).all()
            found = {row[3].split()[1] for row in rows if row[3].startswith("SCAN ")}
            # an index on what every row has is as long as the table
            found |= {row[3].split()[1] for row in rows if re.search(r"\(fingerprint>\?\)", row[3])}
            return {"dbsim_articles" if one in ("dbsim_a", "dbsim_b", "s") else one for one in found}
        connection.exec_driver_sql("ANALYZE")
        shown = connection.exec_driver_sql("EXPLAIN (FORMAT JSON) " + statement, parameters).scalar_one()
    plan = (json.loads(shown) if isinstance(shown, str) else shown)[0]["Plan"]
    return {node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"}

"""Names that break careless SQL: every statement, trigger and command works with them in every place."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import column, delete, insert, table, update

import dbsim
from dbsim.tables.names import quote
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, execute, near_copy, objects, sentence
from tests.oracle import assert_in_step

NAMES = [
    'quo"te""s',
    "it's ''quoted''",
    "100%",
    "%%s %s",
    "%(id)s",
    ":name ::text",
    "  spaces  ",
    "a;DROP TABLE x;--",
    "select",
    "Grün 🦊 Ünï",
    "back\\slash\\'",
    "new\nline\r\ttab",
    "x END; y END",
    "$dbsim$ $$",
    "{brace} {0} {{}}",
    "[/bold] [red]",
    "dot.ted",
    "?1 ? $1",
    "x" * 63,
    "é" * 31,
    "CamelCase",
    "/* -- */",
]
PLACES = 5
SCHEMA = "sch%em\"a's"


def rotated(start: int) -> list[str]:
    """Names for table, key, text, filter column and index, so that every name stands in every place once."""
    return [NAMES[(start + place * 4) % len(NAMES)] for place in range(PLACES)]


@pytest.mark.parametrize("start", range(len(NAMES)), ids=NAMES.__getitem__)
def test_an_index_lives_with_hostile_names(
    database: dbsim.Database, start: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, key, body, tenant, index_name = rotated(start)
    schema = SCHEMA if database.engine.dialect.name == "postgresql" and start % 2 else None
    host = table(name, column(key), column(body), column(tenant), schema=schema)
    execute(
        database.engine,
        *([f"CREATE SCHEMA {quote(schema)}"] if schema else []),
        f"CREATE TABLE {quote(schema, name)} "
        f"({quote(key)} INTEGER PRIMARY KEY, {quote(body)} TEXT, {quote(tenant)} TEXT)",
    )
    before = objects(database.engine)
    rows = [(1, sentence(1), "%s"), (2, near_copy(1), "%s"), (3, near_copy(1), ":x"), (4, sentence(2), "%s")]
    with database.engine.begin() as connection:
        connection.execute(insert(host), [dict(zip((key, body, tenant), row, strict=True)) for row in rows])
    index = database.create_index(index_name, table=name, schema=schema, columns=body, **QUICK)
    assert index.sync().filled == 4
    assert [hit.key for hit in index.similar(1)] == [2, 3]
    assert [hit.key for hit in index.similar(1, where=f"{quote(tenant)} = ':x'")] == [3]
    assert [hit.key for hit in index.similar(1, where=f"{quote(tenant)} LIKE '%s'")] == [2]
    assert [hit.key for hit in index.search(sentence(1), where=host.c[tenant] == "%s")] == [1, 2]
    assert [[hit.key for hit in one] for one in index.search_many([sentence(1), sentence(2)])] == [[1, 2, 3], [4]]
    with database.engine.begin() as connection:
        connection.execute(update(host).where(host.c[key] == 3).values({body: sentence(2)}))
        connection.execute(delete(host).where(host.c[key] == 2))
        connection.execute(update(host).where(host.c[key] == 4).values({key: 40}))
    assert index.status().queued >= 4
    assert index.status().problems == ()
    assert index.sync().changed >= 4
    assert [hit.key for hit in index.search(sentence(2))] == [3, 40]
    assert_in_step(database, index_name)
    assert database.create_index(index_name, table=name, schema=schema, columns=body, **QUICK).name == index_name

    dbsim_command = Command(monkeypatch, capsys)
    url = database.engine.url.render_as_string(hide_password=False)
    code, out, err = dbsim_command("search", url, index_name, sentence(2), "--where", f"{quote(tenant)} = '%s'")
    assert (code, err) == (0, "")
    assert out.startswith("1.000  40 ")
    code, out, err = dbsim_command("status", url)
    assert (code, err) == (0, "")
    assert index_name.split("\n")[0] in out
    assert "3 of 3 rows indexed" in out
    code, out, err = dbsim_command("status", url, "--json")
    (shown,) = json.loads(out)
    assert (shown["index"], shown["columns"]) == (index_name, body)
    assert shown["table"] == (name if database.engine.dialect.name == "sqlite" else f"{schema or 'public'}.{name}")
    assert dbsim_command("drop", url, index_name)[0] == 0
    assert objects(database.engine) == before
    execute(database.engine, f"DELETE FROM {quote(schema, name)}")


def test_names_longer_than_63_bytes_do_not_collide(database: dbsim.Database) -> None:
    """PostgreSQL would cut both names to the same 63 bytes."""
    long = "n" * 200
    execute(database.engine, "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)")
    execute(database.engine, f"INSERT INTO t VALUES (1, '{sentence(1)}'), (2, '{sentence(2)}')")
    before = objects(database.engine)
    first = database.create_index(long + "a", table="t", columns="body", **QUICK)
    second = database.create_index(long + "b", table="t", columns="body", **QUICK)
    first.sync()
    second.sync()
    execute(database.engine, f"UPDATE t SET body = '{sentence(3)}' WHERE id = 1")
    first.sync()
    assert [hit.key for hit in first.search(sentence(3))] == [1]
    assert [hit.key for hit in second.search(sentence(3))] == []
    second.sync()
    assert [hit.key for hit in second.search(sentence(3))] == [1]
    database.drop_index(long + "a")
    assert second.status().problems == ()
    database.drop_index(long + "b")
    assert objects(database.engine) == before


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_names_longer_than_postgresql_allows(database: dbsim.Database) -> None:
    long = "colümn" * 30
    execute(
        database.engine,
        f'CREATE TABLE "{"t" * 150}" ("{long}" INTEGER PRIMARY KEY, "{long}1" TEXT, "{long}2" TEXT)',
        f"INSERT INTO \"{'t' * 150}\" VALUES (1, '{sentence(1)}', '{sentence(2)}')",
    )
    index = database.create_index("t", table="t" * 150, columns={long + "1": 0.5, long + "2": 0.5}, **QUICK)
    index.sync()
    assert [hit.key for hit in index.search({long + "1": sentence(1)})] == [1]
    assert_in_step(database, "t")


@pytest.mark.parametrize("number", [2, 11])
def test_names_of_weighted_fields(database: dbsim.Database, number: int) -> None:
    """Field names become names of columns; two that only differ in case or cut alike stay apart."""
    first, second = NAMES[number], NAMES[number].swapcase()[:62] + "_"
    execute(
        database.engine,
        f"CREATE TABLE t (id INTEGER PRIMARY KEY, {quote(first)} TEXT, {quote(second)} TEXT)",
        f"INSERT INTO t VALUES (1, '{sentence(1)}', '{sentence(2)}'), (2, '{near_copy(1)}', '{near_copy(2)}')",
    )
    index = database.create_index("t", table="t", columns={first: 0.3, second: 0.7}, **QUICK)
    index.sync()
    assert [hit.key for hit in index.similar(1)] == [2]
    assert [hit.key for hit in index.search({first: sentence(1), second: sentence(2)})] == [1, 2]
    assert set(index.status().fill) == {first, second}
    assert_in_step(database, "t")

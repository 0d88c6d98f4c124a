"""Primary keys of every kind: found, updated, moved, deleted and compared by their own values."""

from __future__ import annotations

import datetime
import decimal
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import column, insert, table, text, update
from sqlalchemy import delete as delete_from

import dbsim
from dbsim.errors import DbsimError
from dbsim.tables.index_tables import PlainType
from dbsim.tables.names import quote
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, execute, fetch, near_copy, sentence
from tests.oracle import assert_in_step

BOTH, SQLITE, POSTGRESQL = ("sqlite", "postgresql"), ("sqlite",), ("postgresql",)


@dataclass(frozen=True)
class Kind:
    """A table definition and five keys: two of near-duplicates, one of another text, one to insert, one to move to."""

    name: str
    columns: dict[str, str]  # key column → type
    keys: Sequence[Any]  # tuples when composite
    engines: tuple[str, ...] = BOTH
    suffix: str = ""  # after the closing parenthesis of CREATE TABLE
    before: tuple[str, ...] = ()

    def parts(self, key: Any) -> tuple[Any, ...]:
        return key if len(self.columns) > 1 else (key,)

    def public(self, key: Any) -> Any:
        return dict(zip(self.columns, key, strict=True)) if len(self.columns) > 1 else key

    def row(self, key: Any) -> dict[str, Any]:
        return dict(zip(self.columns, self.parts(key), strict=True))


def uuids(count: int) -> list[uuid.UUID]:
    return [uuid.UUID(int=0x5EED << 100 | number * 7919 << 64 | number) for number in range(1, count + 1)]


DAY = datetime.date(1969, 12, 31)
MOMENT = datetime.datetime(2024, 2, 29, 23, 59, 59, 999999)
KINDS = [
    Kind("integer", {"id": "INTEGER"}, [1, 2, 3, 4, 5]),
    Kind("bigint", {"id": "BIGINT"}, [-(2**63), 2**63 - 1, -1, 2**31, 2**40]),
    Kind("smallint", {"id": "SMALLINT"}, [-32768, 32767, 0, 1, 2]),
    Kind("text", {"id": "TEXT"}, ["", "ünï\u0301cödé 🦊 ' \" % \\", "A", "a", "\n"]),
    Kind("varchar", {"id": "VARCHAR(20)"}, ["x", "X", "10", "9", "é"]),
    Kind("text collate C", {"id": 'TEXT COLLATE "C"'}, ["b", "B", "ä", "a", "_"], POSTGRESQL),
    Kind("text nocase", {"id": "TEXT COLLATE NOCASE"}, ["Straße", "b", "C", "d", "E"], SQLITE),
    Kind("text rtrim", {"id": "TEXT COLLATE RTRIM"}, ["a ", "b", "c  ", "d", "e"], SQLITE),
    Kind("uuid", {"id": "UUID"}, uuids(5), POSTGRESQL),
    Kind("uuid as text", {"id": "CHAR(36)"}, [str(one) for one in uuids(5)]),
    Kind("uuid as blob", {"id": "BLOB"}, [one.bytes for one in uuids(5)], SQLITE),
    Kind("bytea", {"id": "BYTEA"}, [b"\x00\xff", b"", b"a", b"\\", b"'"], POSTGRESQL),
    Kind("blob with zeros", {"id": "BLOB"}, [b"\x00\xff", b"", b"a", b"\\", b"'"], SQLITE),
    Kind(
        "numeric",
        {"id": "NUMERIC(20, 4)"},
        [decimal.Decimal(x) for x in ("0.1", "-7", "1e9", "2.5000", "3")],
        POSTGRESQL,
    ),
    Kind("real", {"id": "real"}, [0.1, -7.25, 1e9, 2.5, 3.0]),
    Kind("double", {"id": "DOUBLE PRECISION"}, [0.1, -7.25, 1e300, 2.5, 3.0]),
    Kind("boolean", {"flag": "BOOLEAN", "n": "INTEGER"}, [(True, 1), (False, 1), (True, 2), (False, 2), (True, 3)]),
    Kind("date", {"day": "DATE"}, [DAY + datetime.timedelta(n) for n in range(5)], POSTGRESQL),
    Kind("date as text", {"day": "DATE"}, [str(DAY + datetime.timedelta(n)) for n in range(5)], SQLITE),
    Kind("timestamp", {"at": "TIMESTAMP"}, [MOMENT + datetime.timedelta(n) for n in range(5)], POSTGRESQL),
    Kind(
        "timestamptz",
        {"at": "TIMESTAMPTZ"},
        [MOMENT.replace(tzinfo=datetime.UTC) + datetime.timedelta(n) for n in range(5)],
        POSTGRESQL,
    ),
    Kind("time", {"at": "TIME"}, [datetime.time(n, 30, 1) for n in range(5)], POSTGRESQL),
    Kind("char", {"id": "CHAR(4)"}, ["a   ", "b   ", "abcd", "é   ", "ab  "], POSTGRESQL),
    Kind(
        "enum",
        {"id": "mood"},
        ["sad", "ok", "happy", "new", "moved"],
        POSTGRESQL,
        before=("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'new', 'moved')",),
    ),
    Kind(
        "domain", {"id": "short"}, ["a", "b", "c", "d", "e"], POSTGRESQL, before=("CREATE DOMAIN short AS varchar(9)",)
    ),
    Kind("untyped", {"id": ""}, [1, "1", b"1", 1.5, "x"], SQLITE),
    Kind("composite", {"tenant": "INTEGER", "slug": "TEXT"}, [(1, "a"), (2, "a"), (1, "b"), (-3, ""), (1, "é")]),
    Kind(
        "composite of four",
        {"d": "TEXT", "c": "BIGINT", "b": "SMALLINT", "a": "TEXT"},
        [("x", 2**40, -1, ""), ("", 0, 0, ""), ("x", -1, 5, "z"), ("y", 1, 1, "y"), ("x", 2**40, -1, "a")],
    ),
    Kind("without rowid", {"id": "TEXT"}, ["a", "b", "c", "d", "e"], SQLITE, " WITHOUT ROWID"),
    Kind(
        "composite without rowid",
        {"a": "INT", "b": "ANY"},
        [(1, "x"), (1, 2), (2, b"x"), (3, 1.5), (0, "")],
        SQLITE,
        " WITHOUT ROWID",
    ),
    *(
        Kind(f"column {name}", {name: "INTEGER"}, [1, 2, 3, 4, 5])
        for name in ("k0", "fingerprint", "body_bits", "rowid", "queued_at", "score")
    ),
    Kind("columns rowid and oid", {"_rowid_": "INTEGER", "oid": "TEXT"}, [(n, "a") for n in range(5)]),
    Kind(
        "columns named like parameters",
        dict.fromkeys(("number", "candidates", "state", "low", "bits0", "count0", "self0", "threshold"), "INTEGER"),
        [(n, 1, 2, 3, 4, 5, 6, 7) for n in range(5)],
    ),
]
CASES = [(engine, kind) for kind in KINDS for engine in kind.engines]


def case_name(case: Any) -> str:
    return case.name if isinstance(case, Kind) else str(case)


def make(database: dbsim.Database, kind: Kind) -> Any:
    """The table with the first three keys, as a SQLAlchemy table."""
    definition = ", ".join(f"{quote(name)} {type_} NOT NULL" for name, type_ in kind.columns.items())
    key = ", ".join(quote(name) for name in kind.columns)
    execute(
        database.engine,
        *kind.before,
        f"CREATE TABLE things ({definition}, body TEXT, PRIMARY KEY ({key})){kind.suffix}",
    )
    things = table("things", *(column(name, PlainType(type_)) for name, type_ in kind.columns.items()), column("body"))
    texts = [sentence(1), near_copy(1), sentence(2)]
    with database.engine.begin() as connection:
        for one, body in zip(kind.keys, texts, strict=False):
            connection.execute(insert(things).values({**kind.row(one), "body": body}))
    return things


@pytest.mark.parametrize(("url", "kind"), CASES, ids=case_name, indirect=["url"])
def test_a_row_is_found_changed_moved_and_deleted_by_its_key(database: dbsim.Database, kind: Kind) -> None:
    things = make(database, kind)
    one, twin, other, new, moved = kind.keys
    index = database.create_index("things", table="things", columns="body", **QUICK)
    assert index.sync().filled == 3
    assert index.key_names == list(kind.columns)
    assert [hit.key for hit in index.similar(kind.public(one))] == [kind.public(twin)]
    assert [hit.key for hit in index.search(sentence(2))] == [kind.public(other)]
    assert [[hit.key for hit in found] for found in index.search_many([sentence(2), sentence(9)])] == [
        [kind.public(other)],
        [],
    ]
    assert index.texts([kind.public(other), kind.public(new)]) == [sentence(2), None]

    def here(key: Any) -> list[Any]:
        return [things.c[name] == value for name, value in kind.row(key).items()]

    with database.engine.begin() as connection:
        connection.execute(insert(things).values({**kind.row(new), "body": near_copy(2)}))
        connection.execute(update(things).where(*here(twin)).values(body=sentence(3)))
    assert [hit.key for hit in index.similar(kind.public(new))] == [kind.public(other)]  # not indexed yet: by its text
    assert index.sync().changed >= 2
    assert index.similar(kind.public(one)) == []
    assert [hit.key for hit in index.similar(kind.public(other))] == [kind.public(new)]
    with database.engine.begin() as connection:
        connection.execute(update(things).where(*here(new)).values(kind.row(moved)))
        connection.execute(delete_from(things).where(*here(one)))
    index.sync()
    assert [hit.key for hit in index.similar(kind.public(other))] == [kind.public(moved)]
    assert index.status().indexed == index.status().rows == 3
    assert_in_step(database, "things")


def test_the_key_may_be_the_text(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE titles (title TEXT PRIMARY KEY)")
    titles = table("titles", column("title"))
    with database.engine.begin() as connection:
        connection.execute(insert(titles), [{"title": one} for one in (sentence(1), near_copy(1), "", "it's")])
    index = database.create_index("titles", table="titles", columns="title", words=3, **QUICK)
    index.sync()
    assert [hit.key for hit in index.similar(sentence(1))] == [near_copy(1)]
    assert index.similar("") == []
    with database.engine.begin() as connection:
        connection.execute(update(titles).where(titles.c.title == near_copy(1)).values(title=near_copy(1, 2)))
    index.sync()
    assert [hit.key for hit in index.search("it's")] == ["it's"]
    assert [hit.key for hit in index.similar(sentence(1))] == [near_copy(1, 2)]
    assert_in_step(database, "titles")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_nocase_key_that_only_changes_its_case_stays_one_row(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE t (id TEXT PRIMARY KEY COLLATE NOCASE, body TEXT)",
        f"INSERT INTO t VALUES ('Abc', '{sentence(1)}')",
    )
    index = database.create_index("t", table="t", columns="body", **QUICK)
    index.sync()
    execute(database.engine, "UPDATE t SET id = 'aBC'")
    index.sync()
    assert index.search(sentence(1)) == [dbsim.Hit("aBC", 1.0)]
    assert [hit.key for hit in index.similar("ABC")] == []
    assert_in_step(database, "t")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_rows_without_a_key_which_sqlite_allows_are_passed_over(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE t (a TEXT, b TEXT, body TEXT, PRIMARY KEY (a, b))",
        f"INSERT INTO t VALUES ('x', 'y', '{sentence(1)}'), (NULL, 'y', '{sentence(1)}'), ('z', NULL, 'z')",
    )
    index = database.create_index("t", table="t", columns="body", **QUICK)
    index.sync()
    execute(database.engine, f"INSERT INTO t VALUES (NULL, NULL, '{sentence(1)}'), ('z', NULL, 'z')")
    index.sync()
    assert [hit.key for hit in index.search(sentence(1))] == [{"a": "x", "b": "y"}]
    assert index.status().queued == 0
    assert index.sync(reconcile=True).repaired == 0
    assert not index.check()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_keys_that_python_cannot_tell_apart_are_refused(database: dbsim.Database) -> None:
    """Two times with zone are equal in Python when their moments are, in PostgreSQL only when the zones are too."""
    for number, type_ in enumerate(
        ("integer[]", "text[]", "jsonb", "int4range", "datemultirange", "time with time zone")
    ):
        execute(database.engine, f"CREATE TABLE t{number} (id {type_} PRIMARY KEY, body TEXT)")
        with pytest.raises(
            DbsimError, match=f"the primary key column 'id' is of type {re.escape(type_)}, by which rows"
        ):
            database.create_index("t", table=f"t{number}", columns="body")


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_boolean_key(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE t (id BOOLEAN PRIMARY KEY, body TEXT)",
        f"INSERT INTO t VALUES (false, '{sentence(1)}'), (true, '{near_copy(1)}')",
    )
    index = database.create_index("t", table="t", columns="body", **QUICK)
    index.sync()
    assert [hit.key for hit in index.similar(False)] == [True]
    assert_in_step(database, "t")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "key", ["id TEXT PRIMARY KEY", "id, tenant INTEGER DEFAULT 1", "id TEXT PRIMARY KEY COLLATE NOCASE"]
)
def test_a_key_that_is_not_utf_8_is_in_quarantine(database: dbsim.Database, key: str) -> None:
    """The other rows are indexed; once the key is corrected its row is, too."""
    columns = f"{key}, body TEXT" + ("" if "PRIMARY" in key else ", PRIMARY KEY (tenant, id)")
    bad = [f"(CAST(x'736563726574{number:02x}' AS TEXT), '{sentence(number)}')" for number in range(0x80, 0xB0)]
    execute(
        database.engine,
        f"CREATE TABLE t ({columns})",
        f"INSERT INTO t (id, body) VALUES ('a', '{sentence(1)}'), ('Ärger', '{near_copy(1)}'), {', '.join(bad)}, "
        f"('zz', '{near_copy(1, 2)}')",
    )
    index = database.create_index("t", table="t", columns="body", **QUICK)
    assert index.sync().filled == 3
    assert index.status().quarantined == len(bad)
    assert len(index.search(sentence(1))) == 3
    held = fetch(database.engine, "SELECT source_key, reason FROM dbsim_quarantine ORDER BY 1")
    assert "73656372657480" in held[0][0]
    assert "secret" not in str(held)
    execute(
        database.engine,
        "UPDATE t SET body = body || ' more'",
        "UPDATE t SET id = 'mended' WHERE hex(CAST(id AS BLOB)) = '73656372657480'",
        "DELETE FROM t WHERE hex(CAST(id AS BLOB)) > '73656372657490' AND hex(id) LIKE '736563726574%'",
        f"INSERT INTO t (id, body) VALUES (CAST(x'ff' AS TEXT), '{sentence(3)}')",
    )
    index.sync()
    assert index.status().queued == 0
    assert index.status().quarantined == 17
    assert [hit.key if isinstance(hit.key, str) else hit.key["id"] for hit in index.search(sentence(0x80))] == [
        "mended"
    ]
    assert not index.check()
    assert_in_step(database, "t")
    index.sync(reconcile=True)
    assert len(list(index.pairs())) == 3


def test_keys_on_the_command_line(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The shell has only text; the database makes the key's type of it, a composite key is a JSON object."""
    dbsim_command = Command(monkeypatch, capsys)
    url = database.engine.url.render_as_string(hide_password=False)
    execute(
        database.engine,
        "CREATE TABLE a (id BIGINT PRIMARY KEY, body TEXT)",
        "CREATE TABLE b (tenant INTEGER, slug TEXT, body TEXT, PRIMARY KEY (tenant, slug))",
        f"INSERT INTO a VALUES (-5, '{sentence(1)}'), ({2**40}, '{near_copy(1)}')",
        f"INSERT INTO b VALUES (1, 'x y', '{sentence(1)}'), (2, '', '{near_copy(1)}')",
    )
    for name in ("a", "b"):
        database.create_index(name, table=name, columns="body", **QUICK).sync()
    code, out, err = dbsim_command("similar", url, "a", "--json", "--", "-5")
    assert (code, err) == (0, "")
    assert f'"key": {2**40}' in out
    code, out, err = dbsim_command("similar", url, "b", '{"slug": "x y", "tenant": 1}')
    assert (code, err) == (0, "")
    assert '{"tenant": 2, "slug": ""}' in out
    assert near_copy(1).split()[-1] in out  # the part that differs is shown
    code, out, err = dbsim_command("similar", url, "b", "1")
    assert code == 2
    assert '{"tenant": "…", "slug": "…"}' in err
    code, out, err = dbsim_command("similar", url, "a", "77")
    assert code == 2
    assert err == "dbsim: table 'a' has no row with the key '77'\n"
    assert fetch(database.engine, "SELECT count(*) FROM a") == [(2,)]


def test_keys_that_end_in_a_new_line(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Each is a key of its own, through sync, search, decisions, groups and the command line."""
    keys = ["a", "a\n", "a\r\n", "\n", " a", "a ", "a\t"]
    execute(database.engine, "CREATE TABLE t (id TEXT PRIMARY KEY, body TEXT)")
    with database.engine.begin() as connection:
        rows = [{"id": key, "body": near_copy(1, number)} for number, key in enumerate(keys)]
        connection.execute(text("INSERT INTO t VALUES (:id, :body)"), rows)
    index = database.create_index("t", table="t", columns="body", threshold=0.5, words=1, **QUICK)
    index.sync()
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE t SET body = body || ' more' WHERE id = :id"), {"id": "a\n"})
        connection.execute(text("DELETE FROM t WHERE id = :id"), {"id": "a"})
    index.sync()
    assert_in_step(database, "t")
    assert sorted(hit.key for hit in index.similar("a\n")) == sorted({*keys} - {"a", "a\n"})
    index.decide("a\n", "\n", "different")
    assert {decision.key for group in index.duplicates() for decision in group.members} <= {*keys} - {"a"}
    assert [{decision.a, decision.b} for decision in index.decisions()] == [{"a\n", "\n"}]
    url = database.engine.url.render_as_string(hide_password=False)
    code, out, err = Command(monkeypatch, capsys)("similar", url, "t", "a\n", "--json")
    assert (code, err) == (0, "")
    assert '"key": "a\\r\\n"' in out
    code, _, err = Command(monkeypatch, capsys)("similar", url, "t", "a")
    assert (code, err) == (2, "dbsim: table 't' has no row with the key 'a'\n")

"""Every mistake a user can make is answered by one sentence with the remedy, in Python and in the shell."""

from __future__ import annotations

import datetime
import decimal
import re
import sqlite3
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Engine, make_url

import dbsim
from dbsim.engines import transactions
from dbsim.errors import (
    DatabaseUnavailable,
    DbsimError,
    IndexExists,
    InvalidOption,
    NoPrimaryKey,
    SchemaOutdated,
    StatementRejected,
    UnknownKey,
    UnknownName,
)
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, corpus, execute, objects, sentence


def shell_url(database: dbsim.Database) -> str:
    return database.engine.url.render_as_string(hide_password=False)


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(1))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    return index


def refused(shell: Command, *arguments: str) -> str:
    """The one sentence on stderr of a command that exits with 2."""
    code, out, err = shell(*arguments)
    assert (code, out) == (2, ""), (out, err)
    assert "Traceback" not in err
    assert err.count("\n") == 1, err
    return err.strip()


# ── names ──
def test_unknown_names_are_answered_with_the_closest(
    database: dbsim.Database, index: dbsim.Index, shell: Command
) -> None:
    url = shell_url(database)
    create = ("create", url, "x", "--table")
    cases = [
        (
            lambda: database.index("artcles"),
            ("sync", url, "artcles"),
            "there is no index 'artcles'; did you mean 'articles'?",
        ),
        (lambda: database.drop_index("zzz"), ("drop", url, "zzz"), "there is no index 'zzz'; there is 'articles'"),
        (
            lambda: database.create_index("x", table="Artikles", columns="body"),
            (*create, "Artikles", "--column", "body"),
            "there is no table 'Artikles'; did you mean 'articles'?",
        ),
        (
            lambda: database.create_index("x", table="articles", columns="bodi"),
            (*create, "articles", "--column", "bodi"),
            "there is no column of table 'articles' named 'bodi'; did you mean 'body'?",
        ),
        (
            lambda: database.create_index("x", table="articles", columns="zzz"),
            (*create, "articles", "--column", "zzz"),
            "there is no column of table 'articles' named 'zzz'; there is 'body', 'id'",
        ),
        (
            lambda: database.create_index("x", table="shop.articles", columns="body"),
            (*create, "shop.articles", "--column", "body"),
            "there is no table 'shop.articles'; did you mean 'articles'?",
        ),
    ]
    for call, arguments, sentence_ in cases:
        with pytest.raises(UnknownName, match=f"^{re.escape(sentence_)}$"):
            call()
        assert refused(shell, *arguments) == f"dbsim: {sentence_}"
    database.drop_index("articles")
    with pytest.raises(UnknownName, match="there is no index 'x'; there is none yet"):
        database.index("x")


OTHER = "dbsim works on SQLite and PostgreSQL, not on '{}': write postgresql://user@host/name, or a SQLite file's path"


def test_unknown_databases(tmp_path: Path, shell: Command) -> None:
    (tmp_path / "shop.db").touch()
    (tmp_path / "notes.txt").write_text("not a database " * 100)
    bad = f"{tmp_path}/shp.db"
    cases = {
        bad: f"there is no database file '{bad}'; did you mean '{tmp_path}/shop.db'?",
        f"sqlite:///{bad}": f"there is no database file '{bad}'; did you mean '{tmp_path}/shop.db'?",
        f"{tmp_path}/no/such.db": f"there is no database file '{tmp_path}/no/such.db'",
        str(tmp_path): "the database file cannot be opened: check the path and its permissions",
        f"{tmp_path}/notes.txt": "the file is not a SQLite database: check the path",
        "postgressql://u@h/d": "dbsim works on SQLite and PostgreSQL, not on 'postgressql': did you mean 'postgresql'?",
        "oracle://u@h/d": OTHER.format("oracle"),
        "mysql://u@h/d": OTHER.format("mysql"),
        "postgresql://u@h:port/d": "the database URL cannot be read: write postgresql://user@host/name or sqlite:///path",
        "": "name a database: a SQLite path, or a URL such as postgresql://user@host/name",
    }
    for target, sentence_ in cases.items():
        with pytest.raises(DbsimError, match=f"^{re.escape(sentence_)}$"):
            dbsim.open(target).indexes()
        assert refused(shell, "status", target) == f"dbsim: {sentence_}"
    assert not (tmp_path / "shp.db").exists()
    assert refused(shell, "upgrade", f"{tmp_path}/no/such.db").startswith("dbsim: the database file cannot be opened")


def test_a_table_that_cannot_be_indexed(database: dbsim.Database, shell: Command) -> None:
    binary = {"sqlite": "BLOB", "postgresql": "bytea"}[database.engine.dialect.name]
    execute(
        database.engine,
        "CREATE TABLE nokey (id INTEGER, body TEXT)",
        f"CREATE TABLE files (id INTEGER PRIMARY KEY, data {binary}, body TEXT)",
        "CREATE VIEW texts AS SELECT id, body FROM files",
    )
    url = shell_url(database)
    cases: list[tuple[type[DbsimError], str, str, str]] = [
        (NoPrimaryKey, "nokey", "body", "table 'nokey' has no primary key, so its rows cannot be referred to: add one"),
        (DbsimError, "texts", "body", "'texts' is a view: index the table it reads from"),
        (DbsimError, "files", "data", f"column 'data' is of type {binary}, which holds no text: name a text column"),
    ]
    before = objects(database.engine)
    for kind, table, column, sentence_ in cases:
        with pytest.raises(kind, match=f"^{re.escape(sentence_)}"):
            database.create_index("x", table=table, columns=column)
        assert sentence_ in refused(shell, "create", url, "x", "--table", table, "--column", column)
    assert objects(database.engine) == before


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_other_relations_of_postgresql_are_not_tables(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)",
        "CREATE MATERIALIZED VIEW m AS SELECT * FROM t",
        "CREATE SEQUENCE s",
    )
    with pytest.raises(DbsimError, match="'m' is a view"):
        database.create_index("x", table="m", columns="body")
    with pytest.raises(UnknownName, match="there is no table 's'"):
        database.create_index("x", table="s", columns="body")


# ── the same name again ──
def test_creating_the_same_index_twice(database: dbsim.Database, shell: Command) -> None:
    articles(database.engine, corpus(1))
    execute(database.engine, "CREATE TABLE other (id INTEGER PRIMARY KEY, body TEXT, title TEXT)")
    options: dict[str, Any] = {"table": "articles", "columns": "body", "threshold": 0.8, "recall": 0.9, "words": 3}
    first = database.create_index("a", **options)
    first.sync()
    before, secret = objects(database.engine), first._tables.record.secret
    assert database.create_index("a", **options)._tables.record.secret == secret
    assert database.create_index("a", table="articles", columns="body")._tables.record.secret == secret  # nothing named
    url = shell_url(database)
    assert shell("create", url, "a", "--table", "articles", "--column", "body", "--threshold", "0.8")[0] == 0
    differing = {
        "threshold is 0.8, not 0.7": {"threshold": 0.7},
        "recall is 0.9, not 0.99": {"recall": 0.99},
        "rows is": {"rows": 2, "keys": 3},
        "triggers is True, not False": {"triggers": False},
        "table is 'articles', not 'other'": {"table": "other"},
        "columns are body, not body+title": {"table": "other", "columns": ["body", "title"]},
        "size of 'body' is 3, not 5": {"words": 5},
        "unit of 'body' is 'words', not 'characters'": {"words": None, "characters": 3},
        "normaliser of 'body' is 'text', not 'german'": {"normaliser": "german"},
        "bits of 'body' is 1024, not 512": {"bits": 512},
    }
    for sentence_, change in differing.items():
        with pytest.raises(IndexExists, match=r"^index 'a' exists with other options \(") as raised:
            database.create_index("a", **{**options, **change})
        assert sentence_ in str(raised.value)
        assert str(raised.value).endswith(": change it with `dbsim alter`, or choose another name")
    said = refused(shell, "create", url, "a", "--table", "articles", "--column", "body", "--threshold", "0.5")
    assert "threshold is 0.8, not 0.5" in said
    assert objects(database.engine) == before


def test_an_index_created_by_many_at_once_is_made_once(database: dbsim.Database) -> None:
    articles(database.engine, corpus(1))
    failures: list[BaseException] = []
    start = threading.Barrier(6)

    def create() -> None:
        own = dbsim.open(shell_url(database))
        start.wait()
        try:
            own.create_index("a", table="articles", columns="body", rows=2, keys=4)
        except DbsimError as error:
            failures.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    (only,) = database.indexes()
    assert only.sync().filled == 4
    assert not only.check()


def test_names_that_dbsim_needs_itself(database: dbsim.Database, index: dbsim.Index, shell: Command) -> None:
    execute(
        database.engine, "CREATE TABLE dbsim_taken (id INTEGER PRIMARY KEY)", "CREATE TABLE dbsim_free_queue (x TEXT)"
    )
    before = objects(database.engine)
    reserved = ["index", "INDEX", "version", "document", "quarantine", "model", "cardinality", "status", ""]
    derived = ["articles_queue", "articles_k0", "articles_K12", "articles_fingerprint", "articles_pkey", "x_Queue"]
    for name in reserved + derived:
        with pytest.raises(InvalidOption, match=f"^an index cannot be called {name!r}: dbsim needs that name itself"):
            database.create_index(name, table="articles", columns="body")
    for name in ("taken", "free"):
        with pytest.raises(InvalidOption, match=f"^there is a table 'dbsim_{name}.*' already: choose another name"):
            database.create_index(name, table="articles", columns="body")
    for name in ("a\0b", "a\ud800b"):
        with pytest.raises(InvalidOption):
            database.create_index(name, table="articles", columns="body")
    assert "'index'" in refused(
        shell, "create", shell_url(database), "index", "--table", "articles", "--column", "body"
    )
    assert objects(database.engine) == before


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_sqlite_does_not_tell_names_apart_by_case(database: dbsim.Database, index: dbsim.Index) -> None:
    with pytest.raises(InvalidOption, match="there is a table 'dbsim_ARTICLES' already"):
        database.create_index("ARTICLES", table="articles", columns="body")
    assert database.create_index("other", table="ARTICLES", columns="body").options.table == "articles"


# ── options ──
def test_options_out_of_range(database: dbsim.Database, index: dbsim.Index, shell: Command) -> None:
    url = shell_url(database)
    before = objects(database.engine)
    cases: list[tuple[dict[str, Any], list[str], str]] = [
        ({"threshold": 0}, ["--threshold", "0"], "threshold is 0"),
        ({"threshold": 1.01}, ["--threshold", "1.01"], "threshold is 1.01, but must be above 0 and at most 1"),
        ({"threshold": float("nan")}, ["--threshold", "nan"], "threshold is nan"),
        (
            {"threshold": 0.01},
            ["--threshold", "0.01"],
            "would need 299 keys, more than 64: raise the threshold or lower",
        ),
        ({"recall": 1}, ["--recall", "1"], "must lie between 0 and 1, both excluded"),
        ({"recall": 0}, ["--recall", "0"], "must lie between 0 and 1, both excluded"),
        ({"words": 0}, ["--words", "0"], "0 words in a row is out of range: use 1 to 32"),
        ({"words": 33}, ["--words", "33"], "33 words in a row is out of range: use 1 to 32"),
        ({"characters": -1}, ["--characters", "-1"], "-1 characters in a row is out of range: use 1 to 32"),
        ({"words": 1, "characters": 1}, ["--words", "1", "--characters", "1"], "give words or characters, not both"),
        ({"bits": 100}, ["--bits", "100"], "a filter of 100 bits is not possible: use a power of two from 64 to 65536"),
        ({"bits": 2**17}, ["--bits", str(2**17)], "use a power of two from 64 to 65536"),
        ({"keys": 65, "rows": 2}, ["--keys", "65", "--rows", "2"], "65 keys are not possible: use 1 to 64"),
        ({"keys": 2, "rows": 129}, ["--keys", "2", "--rows", "129"], "129 values a key (rows) are not possible"),
        ({"keys": 2}, ["--keys", "2"], "give both rows and keys, or neither"),
        ({"family": "minhsh"}, ["--family", "minhsh"], "no hash family 'minhsh'; did you mean 'minhash'?"),
        ({"normaliser": "germn"}, ["--normaliser", "germn"], "there is no normaliser 'germn'; did you mean 'german'?"),
    ]
    for options, arguments, sentence_ in cases:
        with pytest.raises(DbsimError, match=re.escape(sentence_)):
            database.create_index("x", table="articles", columns="body", **options)
        assert sentence_ in refused(shell, "create", url, "x", "--table", "articles", "--column", "body", *arguments)
    columns: list[tuple[Any, list[str], str]] = [
        ({"body": 0}, ["body:0"], "the weight of 'body' is 0"),
        ({"body": -1}, ["body:-1"], "the weight of 'body' is -1"),
        ({"body": float("inf")}, ["body:inf"], "but must be a positive number"),
        (["body", "body"], ["body", "body"], "a column is named twice among body, body: name each column once"),
    ]
    for value, names, sentence_ in columns:
        with pytest.raises(InvalidOption, match=re.escape(sentence_)):
            database.create_index("x", table="articles", columns=value)
        arguments = [part for name in names for part in ("--column", name)]
        assert sentence_ in refused(shell, "create", url, "x", "--table", "articles", *arguments)
    for argument, sentence_ in {
        "body:words=many": "words must be a whole number, not 'many'",
        "body:words=0": "0 words in a row is out of range",
        "body:1:twice": "'twice' in --column 'body:1:twice' is neither a weight nor one of",
        "body:words=2:characters=2": "give words or characters, not both",
    }.items():
        assert sentence_ in refused(shell, "create", url, "x", "--table", "articles", "--column", argument)
    mixed = refused(shell, "create", url, "x", "--table", "articles", "--column", "body:1", "--column", "id")
    assert "give every --column a weight" in mixed
    for value in ({}, [], "", None):
        with pytest.raises(DbsimError):
            database.create_index("x", table="articles", columns=value)
    with pytest.raises(InvalidOption, match="give either columns or fields, not both"):
        database.create_index("x", table="articles", columns="body", fields=[dbsim.Field(columns=("body",))])
    assert objects(database.engine) == before


def test_searches_out_of_range(database: dbsim.Database, index: dbsim.Index, shell: Command) -> None:
    url = shell_url(database)
    for option, value, sentence_ in [
        ("threshold", -0.1, "threshold is -0.1, but must lie between 0 and 1"),
        ("threshold", 1.1, "threshold is 1.1, but must lie between 0 and 1"),
        ("limit", 0, "limit and max_candidates must be at least 1"),
        ("max_candidates", -1, "limit and max_candidates must be at least 1"),
    ]:
        calls: list[tuple[Callable[..., object], object]] = [
            (index.search, sentence(0)),
            (index.search_many, [sentence(0)]),
            (index.match, sentence(0)),
            (index.similar, 1),
        ]
        for call, argument in calls:
            with pytest.raises(InvalidOption, match=re.escape(sentence_)):
                call(argument, **{option: value})
        flag = f"--{option.replace('_', '-')}={value}"
        assert sentence_ in refused(shell, "search", url, "articles", sentence(0), flag)
    with pytest.raises(InvalidOption):
        index.search(sentence(0), limit=2**70)
    refused(shell, "search", url, "articles", sentence(0), "--limit", str(2**70))
    with pytest.raises(InvalidOption, match="search_many takes a list of texts"):
        index.search_many("one text")
    with pytest.raises(InvalidOption, match="a sample of 0 rows is not possible"):
        index.check(sample=0)
    assert "a sample of -1 rows" in refused(shell, "check", url, "articles", "--sample", "-1")
    assert "give TEXT, - for standard input, or --field" in refused(shell, "search", url, "articles")
    assert "write --field NAME=TEXT, not 'x'" in refused(shell, "search", url, "articles", "--field", "x")
    assert "has no field 'x'" in refused(shell, "search", url, "articles", "--field", "x=y")


def test_conditions_that_the_database_does_not_understand(index: dbsim.Index, shell: Command) -> None:
    url = index._context.engine.url.render_as_string(hide_password=False)
    for where in ("nosuch = 1", "id = (SELECT 1 FROM nosuch)"):
        with pytest.raises(
            StatementRejected, match=r"a table or column is not there \(.*nosuch.*\): check the condition"
        ):
            index.search(sentence(0), where=where)
        assert "nosuch" in refused(shell, "search", url, "articles", sentence(0), "--where", where)
    for where in ("", "id = ", "id = '", "\0"):
        with pytest.raises(StatementRejected, match="the condition is not SQL that the database understands"):
            index.search(sentence(0), where=where)
    with pytest.raises(InvalidOption, match="cannot take a name or value"):
        index.search(sentence(0), where="body = '\ud800'")
    assert index.search(sentence(0)) != []


def test_keys_that_no_row_can_have(database: dbsim.Database, index: dbsim.Index, shell: Command) -> None:
    url = shell_url(database)
    odd = [
        "abc",
        "",
        None,
        2**70,
        -(2**70),
        b"x",
        object(),
        uuid.UUID(int=1),
        datetime.date(2024, 1, 1),
        "\0",
        "\ud800",
    ]
    for key in [*odd, decimal.Decimal("7.5"), 10**6, "9" * 40, 0.1]:
        with pytest.raises((UnknownKey, InvalidOption)):
            index.similar(key)
        if isinstance(key, str) and key.isalnum():
            refused(shell, "similar", url, "articles", key)
    assert refused(shell, "similar", url, "articles", "77") == "dbsim: table 'articles' has no row with the key '77'"
    assert len(index.similar(1)) == 3  # and nothing is broken


# ── the schema ──
def test_a_missing_schema_is_answered_with_the_command_and_the_migration(url: str, shell: Command) -> None:
    database = dbsim.open(url, create=True)
    articles(database.engine, corpus(1))
    for call in (
        database.indexes,
        lambda: database.index("a"),
        lambda: database.drop_index("a"),
        lambda: database.create_index("a", table="articles", columns="body"),
        lambda: database.import_file(__file__),
    ):
        with pytest.raises(SchemaOutdated, match="the database has no dbsim tables yet") as raised:
            call()
    message = str(raised.value)
    assert f"run `dbsim upgrade {database.url}`" in message
    code, _, err = shell("status", url)
    assert code == 2
    assert err.startswith("dbsim: the database has no dbsim tables yet: run `dbsim upgrade ")
    assert "Traceback" not in err
    pasted = "\n".join(line[4:] for line in message.splitlines()[1:])
    before = objects(database.engine)
    run_migration(database.engine, pasted, "upgrade")
    assert database.create_index("a", table="articles", columns="body", **QUICK).sync().filled == 4
    database.drop_index("a")
    run_migration(database.engine, pasted, "downgrade")
    assert objects(database.engine) == before
    database.close()


def run_migration(engine: Engine, code: str, function: str) -> None:
    """Run the pasted functions as Alembic would run them in the application's migration."""
    with engine.begin() as connection:
        module: dict[str, Any] = {"op": Operations(MigrationContext.configure(connection))}
        exec(compile(code, "pasted migration", "exec"), module)
        module[function]()


def test_a_schema_of_another_version(database: dbsim.Database, shell: Command) -> None:
    url = shell_url(database)
    for version, sentence_ in {
        "0000": "the database has dbsim's tables in version 0000, not 0003: run `dbsim upgrade",
        "9999": "dbsim's tables are of version 9999, newer than this dbsim (0003): install the newer dbsim",
    }.items():
        execute(database.engine, f"UPDATE dbsim_version SET version_num = '{version}'")
        with pytest.raises(SchemaOutdated, match=re.escape(sentence_)):
            dbsim.open(database.engine).indexes()
        for call in (database.upgrade, database.downgrade):
            with pytest.raises(SchemaOutdated, match=f"version {version}, which this dbsim"):
                call()
        for command in ("upgrade", "downgrade"):
            assert f"version {version}, which this dbsim" in refused(shell, command, url)


# ── a table that changes under the index ──
def test_a_table_that_is_renamed_or_loses_a_column(
    database: dbsim.Database, index: dbsim.Index, shell: Command
) -> None:
    url = shell_url(database)
    execute(database.engine, "ALTER TABLE articles RENAME COLUMN body TO words")
    (problem,) = index.status().problems
    assert problem.startswith("column 'body' is gone: if it was renamed, run `dbsim alter ")
    assert problem.endswith(" articles --rename body=words`, otherwise rename it back or drop the index")
    execute(database.engine, "INSERT INTO articles VALUES (9, 'the application goes on')")
    with pytest.raises(StatementRejected, match="--rename body=words"):
        index.sync()
    assert "body" in refused(shell, "sync", url, "articles")
    execute(database.engine, "ALTER TABLE articles RENAME COLUMN words TO body")
    assert index.sync().changed == 1
    assert not index.check()
    execute(database.engine, "ALTER TABLE articles RENAME TO posts")
    assert "the table is gone: if it was renamed, run `dbsim alter" in index.status().problems[-1]
    assert "=posts`" in index.status().problems[-1]
    assert shell("status", url)[0] == 0
    assert "articles" in refused(shell, "check", url, "articles")
    execute(database.engine, "DROP TABLE posts")
    assert "the table is gone: if it was renamed" in index.status().problems[-1]
    assert shell("drop", url, "articles")[0] == 0
    assert shell("status", url)[1] == "no index yet: create one with `dbsim create`\n"


# ── a database that does not answer ──
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_locked_database_is_retried_and_then_reported(
    database: dbsim.Database, index: dbsim.Index, shell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = shell_url(database)
    monkeypatch.setattr(transactions, "PATIENCE", 0.05)
    monkeypatch.setattr("dbsim.engines.urls.BUSY_SECONDS", 0.01)
    execute(database.engine, "INSERT INTO articles VALUES (9, 'x')")
    said = "the database is locked by another process: try again when it has finished"
    other = sqlite3.connect(str(database.engine.url.database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = dbsim.open(url)
    for call in (
        impatient.index("articles").sync,
        lambda: impatient.create_index("b", table="articles", columns="body"),
        lambda: impatient.drop_index("articles"),
        lambda: impatient.import_file(Path(__file__).parent / "nothing.csv", table="t"),
    ):
        with pytest.raises(DatabaseUnavailable, match=f"^{said}$"):
            call()
    for command in ("sync", "drop"):
        assert refused(shell, command, url, "articles") == f"dbsim: {said}"
    assert len(impatient.index("articles").similar(1)) == 3  # readers do not wait for a writer
    assert impatient.index("articles").status().queued == 1
    other.execute("ROLLBACK")
    other.close()
    assert impatient.index("articles").sync().changed == 1  # nothing was lost
    impatient.close()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_lock_that_is_released_in_time_is_not_noticed(
    database: dbsim.Database, index: dbsim.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However short SQLite's own patience is."""
    monkeypatch.setattr("dbsim.engines.urls.BUSY_SECONDS", 0.01)
    execute(database.engine, "INSERT INTO articles VALUES (9, 'x')")
    impatient = dbsim.open(shell_url(database))
    other = sqlite3.connect(str(database.engine.url.database), isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    release.start()
    assert impatient.index("articles").sync().changed == 1
    release.join()
    other.close()
    impatient.close()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_read_only_file(database: dbsim.Database, index: dbsim.Index, shell: Command) -> None:
    execute(database.engine, "INSERT INTO articles VALUES (9, 'x')")
    url = f"sqlite:///file:{database.engine.url.database}?mode=ro&uri=true"
    read_only = dbsim.open(url)
    said = "the database is read-only: give write access to the file and its folder"
    for call in (read_only.index("articles").sync, lambda: read_only.drop_index("articles")):
        with pytest.raises(DatabaseUnavailable, match=f"^{said}$"):
            call()
    assert refused(shell, "sync", url, "articles") == f"dbsim: {said}"
    assert len(read_only.index("articles").similar(1)) == 3
    assert shell("search", url, "articles", sentence(0))[0] == 0
    assert shell("status", url)[0] == 0
    read_only.close()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_role_that_is_read_only_by_default(database: dbsim.Database, index: dbsim.Index) -> None:
    """Searches run as they are; what has something to write says so at once."""
    own = make_url(shell_url(database)).update_query_dict({"options": "-c default_transaction_read_only=on"})
    cautious = dbsim.open(own.render_as_string(hide_password=False))
    assert len(cautious.index("articles").similar(1)) == 3
    assert cautious.index("articles").sync().idle
    execute(database.engine, "INSERT INTO articles VALUES (9, 'x')")
    with pytest.raises(DatabaseUnavailable, match="the database is read-only"):
        cautious.index("articles").sync()
    cautious.close()


def test_a_server_that_refuses(postgres_url: str, shell: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbsim.database.FIRST_CONTACT", 0.0)
    missing = make_url(postgres_url).set(database="nosuchdb").render_as_string(hide_password=False)
    stranger = make_url(postgres_url).set(username="nobody at all").render_as_string(hide_password=False)
    for url, parts in {
        "postgresql://u:secret@127.0.0.1:1/x": [
            "the server cannot be reached",
            "Connection refused",
            "check that it runs",
        ],
        missing: ["the server refuses the connection", 'database "nosuchdb" does not exist', "check the URL"],
        stranger: ["the server refuses the connection", 'role "nobody at all" does not exist', "check the URL"],
    }.items():
        said = refused(shell, "status", url)
        for part in parts:
            assert part in said
        assert "secret" not in said
        with pytest.raises(DatabaseUnavailable, match=parts[0]):
            dbsim.open(url).indexes()


# ── none given is not zero given ──
@pytest.mark.parametrize("option", ["threshold", "recall", "rows", "keys", "bits"])
def test_zero_is_refused_not_ignored(database: dbsim.Database, index: dbsim.Index, shell: Command, option: str) -> None:
    with pytest.raises(InvalidOption, match=rf"{option} is 0"):
        database.alter_index("articles", **{option: 0})
    assert f"{option} is 0" in refused(shell, "alter", shell_url(database), "articles", f"--{option}", "0")
    with pytest.raises(InvalidOption, match=rf"{option} is 0"):
        database.create_index("others", table="articles", columns="body", **{option: 0})


def test_nothing_is_no_value(database: dbsim.Database, index: dbsim.Index) -> None:
    """Left out is `None`: an empty secret or list does not stand for it, as it may come from a variable not set."""
    with pytest.raises(InvalidOption, match="a secret of no bytes keeps nothing secret: leave it out"):
        database.create_index("more", table="articles", columns="body", **QUICK | {"secret": b""})
    with pytest.raises(InvalidOption, match="no family to measure: name some, or leave `families` out"):
        index.tune(families=[])
    assert [one.name for one in database.indexes()] == ["articles"]

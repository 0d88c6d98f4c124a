"""Through PgBouncer in transaction mode, on a standby and under default_transaction_read_only."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

import dbsim
import dbsim.migrate
from dbsim.errors import DatabaseUnavailable, DbsimError
from tests.applications.pooler import pooled
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, corpus, execute
from tests.oracle import assert_in_step

pytestmark = pytest.mark.long

TEXTS = corpus(4)


@pytest.fixture
def pooled_url(new_postgres: str, tmp_path: Path) -> Iterator[str]:
    with pooled(new_postgres, tmp_path) as url:
        yield url


def test_everything_through_a_pooler(pooled_url: str, new_postgres: str) -> None:
    database = dbsim.open(pooled_url)
    database.upgrade()
    articles(database.engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    index.sync()
    others = [dbsim.open(pooled_url) for _ in range(3)]  # so that server processes are shared
    for _ in range(8):  # psycopg prepares from the sixth time on
        for other in others:
            found = other.index("articles")
            assert [hit.key for hit in found.similar(1)] == [2, 3, 4]
            assert [hit.key for hit in found.search(TEXTS[5])] == [5, 6, 7, 8]
    for number in range(7):
        execute(database.engine, f"UPDATE articles SET body = body || ' {number}' WHERE id % 2 = 0")
        index.sync()
    assert len(list(index.duplicates())) == 4
    database.alter_index("articles", threshold=0.6)
    assert index.sync().switched
    assert_in_step(database, "articles")
    for other in (*others, database):
        other.close()


def test_the_applications_own_engine(pooled_url: str) -> None:
    engine = create_engine(pooled_url.replace("postgresql://", "postgresql+psycopg://"))
    database = dbsim.open(engine)
    database.upgrade()
    articles(engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    for _ in range(8):
        index.sync(reconcile=True)
        assert [hit.key for hit in index.similar(1)] == [2, 3, 4]
    engine.dispose()


def test_following_polls_and_says_so(pooled_url: str, caplog: pytest.LogCaptureFixture) -> None:
    database = dbsim.open(pooled_url)
    database.upgrade()
    articles(database.engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    stop = threading.Event()
    follower = threading.Thread(target=index.follow, kwargs={"stop": stop.is_set, "poll": 0.2})
    follower.start()
    while not any("polls" in record.getMessage() for record in caplog.records):
        stop.wait(0.05)
    execute(database.engine, "DELETE FROM articles WHERE id = 2")
    other = dbsim.open(pooled_url)
    for _ in range(600):
        if [hit.key for hit in other.index("articles").search(TEXTS[1])] == [1, 3, 4]:
            break
        stop.wait(0.05)
    assert [hit.key for hit in other.index("articles").search(TEXTS[1])] == [1, 3, 4]
    stop.set()
    follower.join()
    assert sum("polls" in record.getMessage() for record in caplog.records) == 1
    database.close()
    other.close()


def test_one_deploy_at_a_time_leaves_no_lock_behind(pooled_url: str, new_postgres: str) -> None:
    engine = create_engine(pooled_url.replace("postgresql://", "postgresql+psycopg://"))
    for _ in range(3):
        with engine.connect() as connection, dbsim.migrate.exclusively(connection):
            connection.exec_driver_sql("SELECT 1")
            connection.commit()
    engine.dispose()
    direct = dbsim.open(new_postgres)
    with direct.engine.connect() as connection:
        left = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
        assert connection.exec_driver_sql(left).scalar_one() == 0
    direct.close()


def test_options_in_the_url(new_postgres: str) -> None:
    joined = new_postgres + ("&" if "?" in new_postgres else "?")
    database = dbsim.open(joined + "prepare_threshold=none&application_name=shop&sslmode=prefer")
    database.upgrade()
    with database.engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW application_name").scalar_one() == "shop"
    database.close()
    with pytest.raises(DbsimError, match="prepare_threshold in the database URL must be a whole number or none"):
        dbsim.open(joined + "prepare_threshold=soon")
    with pytest.raises(DbsimError, match="no_such_option"):
        dbsim.open(joined + "no_such_option=1").indexes()


def test_read_only_by_default(new_postgres: str, shell: Command) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    articles(database.engine, TEXTS)
    database.create_index("articles", table="articles", columns=["body"], **QUICK).sync()
    name = make_url(new_postgres).database
    execute(database.engine, "INSERT INTO articles VALUES (99, 'x')")
    execute(database.engine, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    database.close()
    cautious = dbsim.open(new_postgres)
    index = cautious.index("articles")
    assert [hit.key for hit in index.similar(1)] == [2, 3, 4]
    assert index.explain(1, 2).found
    assert index.status().queued == 1
    for work in (index.sync, index.duplicates, lambda: cautious.drop_index("articles"), cautious.upgrade):
        with pytest.raises(DatabaseUnavailable, match=r"^the database is read-only"):
            work()
    assert shell("search", new_postgres, "articles", TEXTS[1])[0] == 0
    assert shell("status", new_postgres)[0] == 0
    code, out, said = shell("sync", new_postgres, "articles")
    assert (code, out) == (2, "")
    assert said.startswith("dbsim: the database is read-only (a replica, or default_transaction_read_only is on)")
    cautious.close()

"""An owner of dbsim who loses rights on its tables: the application goes on, `status` says so, `sync` catches up."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import make_url

import dbsim
from tests.integration.helpers import QUICK, corpus
from tests.oracle import assert_in_step

ROWS = corpus(3, 4)
LOST = [
    "REVOKE ALL ON dbsim_articles_queue FROM {owner}",
    "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {owner}",
    "REVOKE ALL ON SCHEMA public FROM {owner}, PUBLIC",
    "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM {owner}, PUBLIC",
    "ALTER TABLE dbsim_articles_queue OWNER TO postgres",
    "ALTER TABLE dbsim_articles_queue ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
    "DROP VIEW dbsim_articles_signatures CASCADE",
]


@pytest.fixture
def owner(new_postgres: str) -> Iterator[str]:
    """A role that is no superuser and owns nothing yet."""
    name = f"o_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(new_postgres, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(f"GRANT ALL ON SCHEMA public TO {name}")
        yield name
        connection.execute(f"DROP OWNED BY {name} CASCADE")
        connection.execute(f"DROP ROLE {name}")


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("lost", LOST)
def test_rights_that_the_owner_has_lost(new_postgres: str, owner: str, lost: str, inline: bool) -> None:
    url = make_url(new_postgres).set(username=owner).render_as_string(hide_password=False)
    with psycopg.connect(new_postgres, autocommit=True) as admin:
        with dbsim.open(url) as database:
            database.upgrade()
            with database.engine.begin() as connection:
                connection.exec_driver_sql("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT, hits INTEGER)")
                for number, body in ROWS.items():
                    connection.exec_driver_sql("INSERT INTO articles VALUES (%s, %s, 0)", (number, body))
            database.create_index("articles", table="articles", columns=["body"], inline=inline, **QUICK).sync()
        with psycopg.connect(new_postgres, autocommit=True) as warm:
            write(warm, 100)  # its plans are made
            admin.execute(lost.format(owner=owner))
            for connection in (warm, admin):
                write(connection, 200)
        with dbsim.open(new_postgres) as database:  # a superuser's worker
            index = database.index("articles")
            index.sync()
            write(admin, 300)
            assert index.status().queued or inline or "ON SCHEMA" in lost
            index.sync()
            assert_in_step(database, "articles")
            if "ON SCHEMA" not in lost:  # which only its owner may give back
                assert index.status().problems == ()


def write(connection: psycopg.Connection[tuple[object, ...]], key: int) -> None:
    connection.execute("INSERT INTO articles VALUES (%s, 'written by the application'), (%s, 'x')", (key, key + 1))
    connection.execute("UPDATE articles SET hits = hits + 1")
    connection.execute("UPDATE articles SET body = body || ' changed' WHERE id IN (1, %s)", (key,))
    connection.execute("DELETE FROM articles WHERE id >= %s", (key + 1,))
    connection.execute("DELETE FROM articles WHERE id = %s", (key,))

"""What ALTER ROLE and ALTER DATABASE may set for an application changes nothing of what dbsim does; PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import make_url

import dbsim
from tests.integration.helpers import QUICK, articles, corpus, execute, fetch
from tests.oracle import assert_in_step

SETTINGS = [
    "array_nulls = off",
    "plpgsql.extra_errors = 'all'",
    "standard_conforming_strings = off",
    "bytea_output = escape",
    "extra_float_digits = -15",
    "search_path = public, pg_catalog",
    "search_path = pg_temp, public",  # in which tables would be made as temporary ones, gone with their connection
    'search_path = "pg_temp" , public',
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_of_a_database(new_postgres: str, setting: str) -> None:
    with dbsim.open(new_postgres) as database:
        articles(database.engine, corpus(3, 4))
    with psycopg.connect(new_postgres, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {make_url(new_postgres).database} SET {setting}")
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
        index.sync()
        execute(
            database.engine,
            "INSERT INTO articles VALUES (100, NULL), (101, 'a text of the application with \\ in it')",
            "UPDATE articles SET id = id + 1000 WHERE id = 2",
            "DELETE FROM articles WHERE id = 3",
        )
        index.sync()
        assert_in_step(database, "articles")
        index.duplicates()
        index.alter(keys=6, rows=2)
        index.sync()
        assert_in_step(database, "articles")
        assert fetch(database.engine, "SELECT count(*) FROM dbsim_articles_search('a text of the application')")
        assert index.status().problems == ()
    with dbsim.open(new_postgres) as database:  # what was made has outlived the connections
        assert_in_step(database, "articles")

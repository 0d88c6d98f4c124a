"""Everything of an index in a tablespace of its own."""

from __future__ import annotations

import uuid

import psycopg
import pytest

import dbsim
from dbsim.errors import InvalidOption, UnknownName
from tests.articles import fill, generated
from tests.integration.helpers import fetch

LIES = """SELECT c.relname, s.spcname FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
WHERE c.relkind IN ('r', 'i') AND starts_with(c.relname, 'dbsim_articles')"""


def test_tables_and_indexes_lie_there(new_postgres: str) -> None:
    name = f"dbsim_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(new_postgres, autocommit=True) as connection:
        connection.execute("SET allow_in_place_tablespaces = on")
        connection.execute(f"CREATE TABLESPACE {name} LOCATION ''")
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        index = fill(database, generated(60), threshold=0.5, tablespace=name)
        index.duplicates()
        index.alter(threshold=0.6)
        index.sync()
        found = fetch(database.engine, LIES)
        assert len(found) > 20
        assert [row for row in found if row[1] != name] == []
        database.drop_index("articles")
    with psycopg.connect(new_postgres, autocommit=True) as connection:
        connection.execute(f"DROP TABLESPACE {name}")


def test_refused(database: dbsim.Database) -> None:
    with pytest.raises((UnknownName, InvalidOption), match="no tablespace"):
        fill(database, generated(5), tablespace="nowhere")

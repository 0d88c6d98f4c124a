"""A PostgreSQL database with dbsim's tables, and a role that may but log in to it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import psycopg
import pytest

import dbsim
from tests.integration.helpers import execute


@pytest.fixture
def owned(new_postgres: str) -> Iterator[dbsim.Database]:
    with dbsim.open(new_postgres) as opened:
        opened.upgrade()
        yield opened


@pytest.fixture
def role(postgres_url: str, owned: dbsim.Database) -> Iterator[str]:
    name = f"Reader-{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f'CREATE ROLE "{name}" LOGIN')
    yield name
    execute(owned.engine, f'DROP OWNED BY "{name}" CASCADE')
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f'DROP ROLE "{name}"')

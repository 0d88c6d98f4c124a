"""Forking after dbsim.open (gunicorn --preload, multiprocessing): every child has connections of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dbsim
from tests.integration.helpers import QUICK, articles, corpus, execute, fetch, sentence

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, sys
import dbsim

database = dbsim.open(sys.argv[1])
index = database.index("articles")
text = sys.argv[2]
wanted = [(hit.key, hit.score) for hit in index.search(text)]
assert wanted


def child(number):
    with database.engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE articles SET body = body WHERE id = {number}")
    for _ in range(20):
        assert [(hit.key, hit.score) for hit in index.search(text)] == wanted
    index.sync()


def forked(number):
    process = os.fork()
    if not process:
        try:
            child(number)
        except BaseException as error:
            print(type(error).__name__, str(error).splitlines()[:1], file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return process


children = [forked(number) for number in (1, 2, 3)]
for _ in range(20):
    assert [(hit.key, hit.score) for hit in index.search(text)] == wanted
codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in children]
assert [(hit.key, hit.score) for hit in index.search(text)] == wanted  # the parent's connections are as they were
index.sync()
sys.exit(max(codes))
"""


def test_children_and_their_parent_do_not_share_connections(database: dbsim.Database) -> None:
    articles(database.engine, corpus(2))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    url = database.engine.url.render_as_string(hide_password=False)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, url, sentence(0)], capture_output=True, cwd=ROOT, timeout=120, check=False
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert index.status().queued == 0
    assert not index.check()


def test_a_child_does_not_close_what_its_parent_has_open(tmp_path: Path) -> None:
    """SQLite in WAL mode: a child that ended its copy of the last connection would take the log away."""
    url = str(tmp_path / "test.db")
    database = dbsim.open(url, create=True)
    database.upgrade()
    articles(database.engine, corpus(1))
    fetch(database.engine, "PRAGMA journal_mode = wal")
    execute(database.engine, "UPDATE articles SET body = 'in the log only' WHERE id = 1")
    program = (
        "import gc, os, sys, dbsim\n"
        "database = dbsim.open(sys.argv[1])\n"
        "with database.engine.connect() as connection:\n"
        "    connection.exec_driver_sql('SELECT count(*) FROM articles')\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    gc.collect()\n"
        "    from dbsim.engines import urls\n"
        "    os._exit(0 if urls._INHERITED and urls._INHERITED[0] is not database.engine.pool else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", program, url], cwd=ROOT, timeout=300, check=False).returncode == 0
    assert (1, "in the log only") in fetch(database.engine, "SELECT id, body FROM articles")
    database.close()


def test_a_database_in_memory_is_copied_with_the_process() -> None:
    program = (
        "import os, sys, dbsim\n"
        "database = dbsim.open('sqlite:///:memory:')\n"
        "database.upgrade()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(0 if database.indexes() == [] else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=300, check=False).returncode == 0

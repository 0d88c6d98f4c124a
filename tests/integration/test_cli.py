"""The command line: the same verbs and results as Python; exit codes 0, 1 and 2; results on stdout, not the rest."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dbsim
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, add, articles, corpus, execute, near_copy, sentence
from tests.oracle import assert_in_step

SCRIPT = Path(sys.executable).parent / "dbsim"


def run(*arguments: str | bytes, stdin: bytes = b"", module: bool = False) -> tuple[int, str, str]:
    """In a process of its own, by the console script or by `python -m dbsim`."""
    start: list[str | bytes] = [sys.executable, "-m", "dbsim"] if module else [str(SCRIPT)]
    done = subprocess.run([*start, *arguments], input=stdin, capture_output=True, timeout=300, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_life_of_an_index_from_the_shell(url: str, shell: Command, tmp_path: Path) -> None:
    texts = corpus(2)
    path = tmp_path / "articles.jsonl"
    path.write_text("\n".join(json.dumps({"id": key, "body": body}) for key, body in texts.items()))
    assert shell("import", url, str(path), "--table", "articles") == (0, "8 rows imported into articles\n", "")
    for _ in range(2):  # safe to repeat
        assert shell("upgrade", url) == (0, "dbsim's tables are at version 0003\n", "")
    options = ["--table", "articles", "--column", "body", "--words", "3", "--keys", "4", "--rows", "2", "--bits", "512"]
    code, out, err = shell("create", url, "articles", *options)
    assert (code, err) == (0, "")
    assert out == (
        "index 'articles' on articles (body): 4 keys of 2 values, 3 words and 512 bits for body\n"
        f"next: {shlex.join(['dbsim', 'sync', url, 'articles'])}\n"
    )
    code, out, err = shell("search", url, "articles", sentence(0))
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "the index is not filled yet, so rows may be missing: run `dbsim sync`",
        "nothing similar found",
    ]
    assert shell("sync", url, "articles") == (0, "8 rows read, 0 changes worked off\n", "")
    assert shell("sync", url, "articles") == (0, "0 rows read, 0 changes worked off\n", "")
    assert shell("sync", url, "articles", "--reconcile") == (
        0,
        "0 rows read, 0 changes worked off, 8 rows compared and 0 repaired\n",
        "",
    )
    database = dbsim.open(url)
    index = database.index("articles")
    for arguments, expected in [
        (("search", url, "articles", sentence(0)), index.search(sentence(0))),
        (("search", url, "articles", sentence(0), "--limit", "2"), index.search(sentence(0), limit=2)),
        (("search", url, "articles", sentence(0), "--where", "id > 2"), index.search(sentence(0), where="id > 2")),
        (("similar", url, "articles", "1", "--threshold", "0.9"), index.similar(1, threshold=0.9)),
    ]:
        code, out, err = shell(*arguments, "--json")
        assert (code, err) == (0, "")
        assert json.loads(out) == [{"key": hit.key, "score": hit.score, "exact": hit.exact} for hit in expected]
        code, out, err = shell(*arguments)
        assert (code, err) == (0, "")
        assert [line.split()[:2] for line in out.splitlines()] == [
            [f"{hit.score:.3f}", str(hit.key)] for hit in expected
        ]
    code, out, err = shell("search", url, "articles", sentence(0), "--max-candidates", "2")
    assert code == 0
    assert err == "only 2 candidates were ranked: raise --max-candidates to see all\n"
    code, out, err = shell("similar", url, "articles", "1", "--where", "id > 100", "--json")
    assert (code, json.loads(out)) == (1, [])
    code, out, err = shell("search", url, "articles", near_copy(0, 9))
    assert (code, out) == (1, "")
    closest = index.search(near_copy(0, 9)).closest
    named = "" if closest is None else f"; closest: {closest.score:.3f} (key {closest.key})"  # if they share a key
    assert err == f"nothing similar found{named}\n"
    code, out, err = shell("search", url, "articles", sentence(0), "--threshold", "0.2")
    assert code == 0
    assert err.startswith("the index was made for threshold 0.7: about ")
    execute(database.engine, "DELETE FROM articles WHERE id = 1")
    assert shell("sync", url, "articles")[1] == "0 rows read, 1 changes worked off\n"
    assert shell("downgrade", url) == (
        2,
        "",
        "dbsim: the database still has the indexes articles: drop them first with `dbsim drop`\n",
    )
    assert shell("drop", url, "articles") == (0, "index 'articles' is dropped\n", "")
    assert shell("drop", url, "articles")[0] == 2
    assert shell("downgrade", url) == (0, "dbsim's tables are removed\n", "")
    database.close()


def test_weighted_columns_and_their_options(database: dbsim.Database, shell: Command) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    execute(
        database.engine,
        'CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, phone TEXT, "a:b" TEXT)',
        "INSERT INTO people VALUES (1, 'Jörg Weiß', '+49 30 1234', 'x'), (2, 'Joerg Weiss', '49301234', 'y')",
    )
    columns = ["name:0.7:characters=2:normaliser=german:bits=128", "phone:0.3:normaliser=digits:characters=3"]
    columns.append("a:b:0.1")  # a name with a colon
    code, out, err = shell(
        "create", url, "people", "--table", "people", *(part for one in columns for part in ("--column", one))
    )
    assert (code, err) == (0, "")
    assert "(name:0.7, phone:0.3, a:b:0.1)" in out
    made = database.index("people").options.fields
    assert [(field.columns, field.weight, field.unit, field.size, field.normaliser) for field in made[:2]] == [
        (("name",), 0.7, "characters", 2, "german"),
        (("phone",), 0.3, "characters", 3, "digits"),
    ]
    assert (made[0].bits, made[2].columns) == (128, ("a:b",))
    assert shell("sync", url, "people")[0] == 0
    code, out, _ = shell("search", url, "people", "--field", "name=joerg weiss", "--field", "phone=4930/1234", "--json")
    assert (code, [hit["key"] for hit in json.loads(out)]) == (0, [1, 2])
    assert shell("search", url, "people", "text", "--field", "name=x")[0] == 2
    joined = ["--column", "name", "--column", "phone", "--no-triggers"]
    code, out, _ = shell("create", url, "joined", "--table", "people", *joined)
    assert (code, "(name+phone)" in out) == (0, True)
    assert not database.index("joined").options.triggers
    assert shell("sync", url, "joined")[1] == "2 rows read, 0 changes worked off, 2 rows compared and 0 repaired\n"


def test_missing_triggers_are_mentioned(database: dbsim.Database, shell: Command) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    articles(database.engine, corpus(1))
    database.create_index("articles", table="articles", columns="body", rows=2, keys=4).sync()
    on = "" if database.engine.dialect.name == "sqlite" else " ON articles"
    execute(database.engine, f"DROP TRIGGER dbsim_articles_update{on}", "UPDATE articles SET body = 'new' WHERE id = 1")
    assert "1 triggers are missing" in shell("status", url)[1]
    code, out, err = shell("sync", url, "articles")
    assert (code, err) == (0, "1 missing triggers were installed again\n")
    assert out == "0 rows read, 0 changes worked off, 4 rows compared and 1 repaired\n"


def test_usage(shell: Command) -> None:
    code, out, err = shell("--help")
    assert (code, err) == (0, "")
    for command in (
        "check",
        "create",
        "demo",
        "downgrade",
        "drop",
        "import",
        "search",
        "similar",
        "status",
        "sync",
        "upgrade",
    ):
        assert f"\n  {command} " in out
        code, shown, err = shell(command, "--help")
        assert (code, err) == (0, "")
        assert shown.startswith(f"Usage: dbsim {command} ")
    assert shell("--version")[1] == f"dbsim, version {dbsim.__version__}\n"
    for wrong in (
        ["nosuch"],
        ["sync"],
        ["sync", "a", "b", "c"],
        ["search", "x.db", "i", "t", "--limit", "many"],
        ["status", "--x"],
    ):
        code, out, err = shell(*wrong)
        assert (code, out) == (2, "")
        assert "Error: " in err


# ── in processes of their own ──
@pytest.mark.long
def test_processes(url: str) -> None:
    assert run("upgrade", url, module=True) == (0, "dbsim's tables are at version 0003\n", "")
    database = dbsim.open(url)
    articles(database.engine, {1: f"Grüße {sentence(1)}", 2: f"Grüße {near_copy(1)}"})
    database.create_index("artikel", table="articles", columns="body", **QUICK)
    database.close()
    assert run("sync", url, "artikel") == (0, "2 rows read, 0 changes worked off\n", "")
    code, out, err = run("search", url, "artikel", "-", stdin=f"Grüße {sentence(1)}".encode())
    assert (code, err) == (0, "")
    same, near = out.splitlines()
    assert same.split()[1:3] == ["1", "Grüße"]
    changed = (set(near_copy(1).split()) - set(sentence(1).split())).pop()
    assert near.split()[1] == "2"
    assert changed in near
    code, out, err = run("sync", url, b"\xff")  # a name that is not text
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_odd_standard_streams(tmp_path: Path) -> None:
    """Bytes that are not text on standard input, a full disk behind standard output."""
    url = str(tmp_path / "test.db")
    database = dbsim.open(url, create=True)
    database.upgrade()
    articles(database.engine, corpus(1))
    database.create_index("articles", table="articles", columns="body", **QUICK).sync()
    database.close()
    assert run("search", url, "articles", "-", stdin=b"\xff\xfe\x00 nonsense") == (1, "", "nothing similar found\n")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([str(SCRIPT), "status", url], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"dbsim: the system: No space left on device\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_following_is_stopped_by_signals_and_goes_on_later(url: str, number: signal.Signals) -> None:
    """Also in a process whose shell has told it to ignore Ctrl-C, as shells do in the background."""
    database = dbsim.open(url, create=True)
    database.upgrade()
    articles(database.engine, corpus(1))
    index = database.create_index("articles", table="articles", columns="body", rows=2, keys=4)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    started: subprocess.Popen[Any] = subprocess.Popen(
        [str(SCRIPT), "sync", url, "articles", "--follow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert started.stdout is not None
    assert started.stderr is not None
    assert started.stdout.readline() == "4 rows read, 0 changes worked off\n"
    assert started.stderr.readline() == "following; stop with Ctrl-C\n"
    add(database.engine, {50: sentence(5)})
    while not index.search(sentence(5)):
        assert started.poll() is None
    assert started.stderr.readline() == "dbsim: index 'articles': 1 rows in 1 runs\n"
    started.send_signal(number)
    out, err = started.communicate(timeout=300)
    assert (started.returncode, out) == (0, "")
    assert err == "dbsim: stopped; nothing is lost, the same command goes on where it was\n"
    add(database.engine, {51: near_copy(5)})
    assert run("sync", url, "articles")[1] == "0 rows read, 1 changes worked off\n"
    assert_in_step(database, "articles")
    database.close()

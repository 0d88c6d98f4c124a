"""How commands end: exit codes, one sentence without values of rows, closed pipes, odd terminals."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import dbsim
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, execute, sentence

pytestmark = pytest.mark.long

DBSIM = (sys.executable, "-m", "dbsim")


class Terminal(io.StringIO):
    """Somebody who types this."""

    def isatty(self) -> bool:
        return True


def filled(url: str, texts: dict[int, str | None]) -> None:
    database = dbsim.open(url, create=True)
    database.upgrade()
    articles(database.engine, texts)
    database.create_index("articles", table="articles", columns="body", **QUICK).sync()
    database.close()


REFUSE = {
    "postgresql": ["ALTER TABLE dbsim_articles ADD CONSTRAINT too_small CHECK (id < 12345) NOT VALID"],
    "sqlite": [
        "CREATE TRIGGER too_small BEFORE INSERT ON dbsim_articles WHEN NEW.id >= 12345 "
        "BEGIN SELECT RAISE(ABORT, 'too_small'); END"
    ],
}


def test_an_error_inside_copy_is_one_sentence_without_values(url: str, shell: Command) -> None:
    filled(url, {1: sentence(1), 12345: sentence(2)})
    database = dbsim.open(url)
    execute(database.engine, *REFUSE[database.engine.dialect.name], "UPDATE articles SET body = 'confidential matter'")
    database.close()
    code, out, err = shell("sync", url, "articles")
    assert (code, out) == (2, "")
    assert err.startswith("dbsim: the database refuses: ")
    assert err.count("\n") == 1
    assert "too_small" in err
    assert "12345" not in err
    assert "confidential" not in err


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_message_that_quotes_a_value_is_shown_without_it(url: str, shell: Command) -> None:
    """SQLite's messages quote none."""
    filled(url, {1: sentence(1)})
    database = dbsim.open(url)
    execute(
        database.engine,
        "CREATE FUNCTION careless() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM (SELECT body FROM articles WHERE id = NEW.id)::integer; RETURN NEW; END $$",
        "CREATE TRIGGER careless BEFORE INSERT ON dbsim_articles FOR EACH ROW EXECUTE FUNCTION careless()",
        "UPDATE articles SET body = 'confidential matter'",
    )
    database.close()
    code, out, err = shell("sync", url, "articles")
    assert (code, out) == (2, "")
    assert err == "dbsim: a value does not fit its column (invalid input syntax for type integer: …)\n"


@pytest.mark.parametrize("arguments", [["pairs"], ["pairs", "--json"], ["duplicates"]])
def test_a_pipe_that_is_closed_early_is_no_error(tmp_path: Path, arguments: list[str]) -> None:
    url = str(tmp_path / "test.db")
    filled(url, dict.fromkeys(range(1, 200), sentence(1)))
    start = [*DBSIM, arguments[0], url, "articles", *arguments[1:]]
    process = subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()  # before the first line
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, b"")


def test_ctrl_c_while_loading_has_its_exit_code() -> None:
    """As if the key was pressed when this module is looked for."""
    program = (
        "import runpy, sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == sys.argv[1]: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "runpy.run_module('dbsim', run_name='__main__')\n"
    )
    for module in ("click", "dbsim.cli"):
        done = subprocess.run([sys.executable, "-c", program, module], capture_output=True, timeout=300, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (130, b"", b""), module


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_a_no_is_not_stopped(tmp_path: Path, shell: Command, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    url = str(tmp_path / "test.db")
    filled(url, {1: sentence(1), 2: sentence(1)})
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    code, _, err = shell("duplicates", url, "articles", "--delete")
    assert code == 1
    assert err.endswith("dbsim: nothing was changed\n")
    database = dbsim.open(url)
    with database.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM articles").scalar() == 2
    database.close()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_other_encodings_of_the_terminal(tmp_path: Path, encoding: str) -> None:
    url = str(tmp_path / "test.db")
    filled(url, {1: f"Größe 日本 {sentence(1)}", 2: f"Größe 日本 {sentence(1)}"})
    for arguments in (
        ["status", url],
        ["similar", url, "articles", "1"],
        ["pairs", url, "articles"],
        ["sync", url, "日"],
    ):
        done = subprocess.run(
            [*DBSIM, *arguments],
            capture_output=True,
            env={"PYTHONIOENCODING": encoding, "LC_ALL": "C.UTF-8"},
            timeout=300,
            check=False,
        )
        written = "utf-8" if encoding == "ascii" else encoding  # click takes ASCII for a mistake in the settings
        out, err = done.stdout.decode(written), done.stderr.decode(written)
        assert done.returncode == (2 if "sync" in arguments else 0), err
        assert "Traceback" not in err
        if "similar" in arguments and encoding != "ascii":
            assert ("Größe ??" if encoding == "latin-1" else "Größe 日本") in out


def test_json_goes_through_a_poor_terminal_unharmed(tmp_path: Path) -> None:
    """What a program reads must not have question marks in it."""
    url = str(tmp_path / "test.db")
    database = dbsim.open(url, create=True)
    database.upgrade()
    execute(
        database.engine,
        "CREATE TABLE articles (id TEXT PRIMARY KEY, body TEXT)",
        *(f"INSERT INTO articles VALUES ('{key}', '{sentence(1)}')" for key in ("schlüssel", "鍵")),
    )
    database.create_index("articles", table="articles", columns="body", **QUICK).sync()
    database.close()
    for encoding in ("ascii", "latin-1", "utf-8"):
        done = subprocess.run(
            [*DBSIM, "pairs", url, "articles", "--json"],
            capture_output=True,
            env={"PYTHONIOENCODING": encoding},
            timeout=300,
            check=True,
        )
        (pair,) = json.loads(done.stdout.decode(encoding))
        assert {pair["a"], pair["b"]} == {"schlüssel", "鍵"}

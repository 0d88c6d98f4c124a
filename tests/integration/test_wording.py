"""What a new user reads: commands to copy, units as people say them, narrow terminals, files that may be meant."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from rich.console import Console

import dbsim
from dbsim.cli.measuring import tuning
from dbsim.errors import UnknownFile
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, execute, near_copy, sentence

CHINESE = "中华人民共和国中央人民政府今天宣布成立并向全世界发表公告"


@pytest.fixture
def tickets(database: dbsim.Database) -> str:
    execute(database.engine, "CREATE TABLE tickets (id INTEGER PRIMARY KEY, body TEXT, copy_of INTEGER)")
    texts = [*map(sentence, range(60)), near_copy(1), near_copy(2)]
    with database.engine.begin() as connection:
        for key, text in enumerate(texts, 1):
            connection.exec_driver_sql(f"INSERT INTO tickets (id, body) VALUES ({key}, '{text}')")
    return database.engine.url.render_as_string(hide_password=False)


def test_the_next_command_can_be_copied(database: dbsim.Database, tickets: str, shell: Command) -> None:
    """Whatever the index is called: the hint itself is run."""
    name = "t-x y"
    given = ["create", tickets, name, "--table", "tickets", "--column", "body"]
    for arguments in (given, ["alter", tickets, name, "--threshold", "0.6"]):
        code, out, _ = shell(*arguments)
        assert code == 0
        (hint,) = [line.removeprefix("next: ") for line in out.splitlines() if line.startswith("next: ")]
        assert shlex.split(hint) == ["dbsim", "sync", tickets, name]
        assert shell(*shlex.split(hint)[1:])[0] == 0


def test_a_dry_run_is_a_sentence(database: dbsim.Database, tickets: str, shell: Command) -> None:
    index = database.create_index("tickets", table="tickets", columns="body", threshold=0.5, **QUICK)
    index.sync()
    code, _, err = shell("duplicates", tickets, "tickets", "--mark", "copy_of")
    assert code == 0
    assert "dry run: 2 rows would be marked in tickets.copy_of; add --yes to do it\n" in err


def test_units_as_people_say_them(database: dbsim.Database, shell: Command) -> None:
    execute(database.engine, "CREATE TABLE news (id INTEGER PRIMARY KEY, zh TEXT, de TEXT)")
    german = "Der Bürgermeister äußerte sich über die Änderung der Straße und die größte Brücke über den Fluß Öse"
    execute(database.engine, f"INSERT INTO news VALUES (1, '{CHINESE}', '{german}'), (2, '{CHINESE}', '{german}')")
    url = database.engine.url.render_as_string(hide_password=False)
    given = ["--table", "news", "--column", "zh:1", "--column", "de:1", "--words", "3"]
    out = shell("create", url, "news", *given)[1]
    assert "3 characters and 1024 bits for zh, 3 words and 1024 bits for de" in out
    assert database.index("news").options.fields[0].unit == "words"


@pytest.mark.parametrize("columns", [30, 40, 200])
def test_tune_fits_the_terminal(
    database: dbsim.Database, tickets: str, shell: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr(tuning, "out", Console(width=columns, highlight=False, soft_wrap=True))
    database.create_index("tickets", table="tickets", columns="body", threshold=0.5, **QUICK).sync()
    code, out, _ = shell("tune", tickets, "tickets", "--threshold", "0.5", "--recall", "0.5")
    assert code == 0
    lines = out.splitlines()
    plot = [line for line in lines if "│" in line or "└" in line or line.strip().startswith("0  ")]
    assert max(map(len, plot)) <= columns
    assert any(line.startswith("family") for line in lines) == (columns == 200)
    assert any(line.startswith("* minhash@") and " keys of " in line for line in lines) == (columns < 200)
    (advice,) = [line for line in lines if line.startswith("recommended: ")]
    command = advice.removeprefix("recommended: ").partition(" (")[0]
    assert shell(*shlex.split(command)[1:])[0] == 0  # runs as printed


def test_only_files_that_may_be_meant_are_suggested(tmp_path: Path, database: dbsim.Database) -> None:
    for name in ("dup.txt", "dup.csv", "article.csv", "articles.log"):
        (tmp_path / name).write_text("id\n1\n")
    with pytest.raises(UnknownFile) as raised:
        database.import_file(tmp_path / "README.txt", table="t")
    assert str(raised.value) == f"there is no file '{tmp_path / 'README.txt'}'"
    with pytest.raises(UnknownFile, match=r"did you mean '.*article.csv'\?$"):
        database.import_file(tmp_path / "articles.cvs", table="t")
    (tmp_path / "server.log").write_text("")
    with pytest.raises(UnknownFile) as raised:
        dbsim.open(str(tmp_path / "server.db"))
    assert "did you mean" not in str(raised.value)


def test_a_table_that_cannot_be_read_is_an_error(tmp_path: Path, shell: Command) -> None:
    """BLOBs in a TEXT column of SQLite: every row is quarantined; one readable row is enough to go on."""
    path = str(tmp_path / "shop.db")
    with dbsim.open(path, create=True) as database:
        database.upgrade()
        execute(database.engine, "CREATE TABLE files (id INTEGER PRIMARY KEY, body TEXT)")
        execute(database.engine, "INSERT INTO files VALUES (1, x'fffe'), (2, x'fffd')")
        database.create_index("files", table="files", columns="body", **QUICK)
        for _ in range(2):
            code, _, err = shell("sync", path, "files")
            assert code == 2
            assert err.startswith("dbsim: all 2 rows of 'files' are quarantined (")
        assert [problem.split(" (")[0] for problem in database.index("files").status().problems] == [
            "all 2 rows of 'files' are quarantined"
        ]
        execute(database.engine, f"INSERT INTO files VALUES (3, '{sentence(1)}')")
        assert shell("sync", path, "files")[0] == 0
        assert database.index("files").status().problems == ()

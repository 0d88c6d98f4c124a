"""The README's examples run as written, on both engines."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command as alembic
from alembic.config import Config
from sqlalchemy import inspect, text

import dbsim
from tests.migration.harness import APP, driver

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ARTICLES = [
    (1, "en", "The text", "of a new article"),
    (2, "en", "The text", "of a newer article"),
    (3, "de", "Etwas anderes", "Ein Text, den hier niemand sucht"),
]
PEOPLE = [(1, "John Smith", "1980-05-01"), (2, "Jane Doe", "1975-12-24")]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> list[str]:
    return [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def shop(url: str, tmp_path: Path) -> str:
    """The database the README speaks of."""
    target = str(tmp_path / "shop.db") if url.startswith("sqlite") else url
    database = dbsim.open(target, create=True)
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, lang TEXT, title TEXT, body TEXT)"))
        connection.execute(text("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, born TEXT)"))
        for row in ARTICLES:
            connection.execute(
                text("INSERT INTO articles VALUES (:a, :b, :c, :d)"), dict(zip("abcd", row, strict=True))
            )
        for person in PEOPLE:
            connection.execute(text("INSERT INTO people VALUES (:a, :b, :c)"), dict(zip("abc", person, strict=True)))
    database.close()
    return target


def run(command: str) -> subprocess.CompletedProcess[str]:
    arguments = [str(Path(sys.executable).parent / "dbsim"), *shlex.split(command)[1:]]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_commands_run_as_written(shop: str) -> None:
    outputs = {}
    for command in commands():
        result = run(command.replace("shop.db", shop))
        assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
        assert result.stderr == ""
        _, verb, _, *rest = shlex.split(command)
        outputs[" ".join([verb, *rest[:1]])] = result.stdout
    assert "of a newer article" in outputs["similar articles"]
    assert '"score"' in outputs["search articles"]
    assert "John Smith" in outputs["search people"]


def test_python_runs_as_written(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block.replace("shop.db", shop), "README.md", "exec"), names)
    shown = capsys.readouterr().out
    database = names["db"]
    assert isinstance(database, dbsim.Database)
    database.close()
    assert shown.startswith("2 0.")
    assert "The text" in shown


def test_the_migration_runs_as_written(url: str, tmp_path: Path) -> None:
    shutil.copytree(APP, tmp_path / "app", ignore=shutil.ignore_patterns("release_2*", "release_3*", "__pycache__"))
    (migration,) = blocks("python migration")
    (tmp_path / "app" / "migrations" / "versions" / "near_duplicates.py").write_text(migration)
    config = Config(str(tmp_path / "app" / "alembic.ini"))
    config.attributes["url"] = driver(url)
    alembic.upgrade(config, "head")
    database = dbsim.open(url)
    with database.engine.begin() as connection:
        for row in ARTICLES:
            values = dict(zip("abcd", row, strict=True))
            connection.execute(text("INSERT INTO articles (id, lang, title, body) VALUES (:a, :b, :c, :d)"), values)
    index = database.index("articles")
    index.sync()
    assert index.search("The text\nof a new article")[0].key == 1
    alembic.check(config)
    alembic.downgrade(config, "release_1")
    assert not [name for name in inspect(database.engine).get_table_names() if name.startswith("dbsim")]
    database.close()


def test_two_commands_are_one_line_each() -> None:
    lines = [line.strip() for line in README.splitlines() if line.startswith("    python3 -m venv")]
    assert [line.split()[-1] for line in lines] == ["demo", "pytest"]


def test_every_command_is_in_the_table() -> None:
    listed = run("dbsim --help").stdout.split("Commands:")[1]
    for name in re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE):
        assert re.search(rf"[`\s]{name}[`\s]", README), name


@pytest.mark.parametrize(
    "command", sorted(re.findall(r"^  ([a-z-]+)", run("dbsim --help").stdout.split("Commands:")[1], re.M))
)
def test_every_command_has_help(command: str) -> None:
    result = run(f"dbsim {command} --help")
    assert result.returncode == 0
    assert "Usage: dbsim" in result.stdout


def test_readme_stays_short() -> None:
    assert len(README.splitlines()) <= 130

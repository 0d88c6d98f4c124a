"""dbsim pairs and duplicates from the shell: output, reports, asking before acting, exit codes."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import text

import dbsim
from dbsim.cli import main
from tests.articles import fill
from tests.integration.test_duplicates import FAMILY, OTHER

TEXTS = [*FAMILY, OTHER, "<b>not a tag</b> & more words here to read", "<b>not a tag</b> & more words here to read!"]


@pytest.fixture
def target(url: str, tmp_path: Path) -> str:
    """A database with a filled index, as the command line takes it."""
    database = dbsim.open(url, create=True)
    database.upgrade()
    fill(database, TEXTS, threshold=0.55)
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE articles ADD COLUMN duplicate_of INTEGER"))
    database.close()
    return url


@dataclass(frozen=True)
class Result:
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str) -> Result:
    """As from the shell, in this process."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with ExitStack() as stack:
        opened = dbsim.open

        def closing(*given: Any, **options: Any) -> dbsim.Database:
            database = opened(*given, **options)
            stack.callback(database.close)
            return database

        stack.enter_context(redirect_stdout(stdout))
        stack.enter_context(redirect_stderr(stderr))
        stack.enter_context(patch.object(sys, "argv", ["dbsim", *arguments]))
        stack.enter_context(patch.object(dbsim, "open", closing))
        exit_ = stack.enter_context(pytest.raises(SystemExit))
        main()
    assert isinstance(exit_.value.code, int)
    return Result(exit_.value.code, stdout.getvalue(), stderr.getvalue())


def rows(target: str, column: str = "id") -> list[object]:
    database = dbsim.open(target)
    with database.engine.connect() as connection:
        found = [row[0] for row in connection.execute(text(f"SELECT {column} FROM articles ORDER BY id"))]
    database.close()
    return found


def test_pairs(target: str) -> None:
    lines = run("pairs", target, "articles").stdout.splitlines()
    assert lines[:2] == ["0\t3\t1.000000", "5\t6\t1.000000"]
    assert len(lines) == 7  # both copies of a text with each of the near ones
    assert len(run("pairs", target, "articles", "--copies", "first").stdout.splitlines()) == 5
    found = json.loads(run("pairs", target, "articles", "--json", "--verify", "--threshold", "0.9").stdout)
    assert found == [{"a": a, "b": b, "score": 1.0, "exact": True} for a, b in ((0, 3), (5, 6))]


def test_report(target: str, tmp_path: Path) -> None:
    page, table = tmp_path / "page.html", tmp_path / "table.csv"
    result = run("duplicates", target, "articles", "--keep", "last", "--html", str(page), "--csv", str(table))
    assert result.returncode == 0
    assert "4 rows around 0" in result.stdout
    assert "2 groups of 6 rows; if the last row of each stays, 4 can go" in result.stdout
    lines = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [line["key"] for line in lines if line["keep"] == "yes"] == ["3", "6"]
    shown = page.read_text(encoding="utf-8")
    assert "<del>brown</del> <ins>red</ins>" in shown
    assert "&lt;b&gt;not a tag&lt;/b&gt; &amp; more" in shown
    assert "<b>not" not in shown


def test_json(target: str) -> None:
    result = run("duplicates", target, "articles", "--json")
    groups = json.loads(result.stdout)
    assert [group["representative"] for group in groups] == [0, 5]
    assert groups[1]["members"] == [{"key": 5, "score": 1.0, "keep": True}, {"key": 6, "score": 1.0, "keep": False}]
    assert result.stderr == ""


def test_without_an_answer_nothing_is_done(target: str) -> None:
    result = run("duplicates", target, "articles", "--delete")
    assert result.returncode == 0
    assert "dry run: 4 rows would be deleted from articles; add --yes to do it" in result.stderr
    assert len(rows(target)) == 7


def test_delete(target: str) -> None:
    result = run("duplicates", target, "articles", "--delete", "--yes", "--keep", "longest")
    assert result.returncode == 0
    assert "4 rows deleted from articles; next: dbsim sync " in result.stderr
    assert rows(target) == [0, 4, 6]
    again = run("duplicates", target, "articles", "--delete", "--yes")
    assert "nothing to do" in again.stderr  # the index still has the rows, the table does not
    assert run("sync", target, "articles").returncode == 0
    empty = run("duplicates", target, "articles")
    assert (empty.returncode, empty.stdout) == (1, "no near-duplicates found\n")
    assert run("pairs", target, "articles").returncode == 1


def test_mark_and_refusals(target: str) -> None:
    result = run("duplicates", target, "articles", "--mark", "duplicate_of", "--yes")
    assert "4 rows marked in articles.duplicate_of" in result.stderr
    assert rows(target, "duplicate_of") == [None, 0, 0, 0, None, None, 5]
    other = run(
        "duplicates", target, "articles", "--mark", "duplicate_of", "--keep", "last", "--yes", "--even-if-behind"
    )
    assert other.returncode == 2
    assert "holds other values in 4 rows of these groups" in other.stderr
    assert "--overwrite" in other.stderr
    database = dbsim.open(target)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE articles SET body = body || ' ' WHERE id = 4"))
    database.close()
    behind = run("duplicates", target, "articles", "--delete", "--yes")
    assert behind.returncode == 2
    assert "changes of the table are not in the index yet" in behind.stderr
    assert "--even-if-behind" in behind.stderr
    for arguments, message in (
        (("--mark", "duplicate", "--yes"), "did you mean 'duplicate_of'?"),
        (("--mark", "a", "--delete"), "give --delete or --mark, not both"),
        (("--keep", "nonsense("), "rows are kept by first, last, longest or a SQL expression"),
        (("--by", "magic"), "'magic' is not one of"),
        (("--by", "tight", "--delete"), "--delete needs groups whose rows are all alike"),
        (("--no-verify", "--delete"), "act on exact scores"),
    ):
        refused = run("duplicates", target, "articles", "--even-if-behind", *arguments)
        assert refused.returncode == 2
        assert message in refused.stderr
        assert "Traceback" not in refused.stderr
    done = run("duplicates", target, "articles", "--delete", "--yes", "--even-if-behind")
    assert done.returncode == 0
    assert rows(target) == [0, 4, 5]


def test_what_other_tables_lose_is_said_before_it_happens(target: str) -> None:
    database = dbsim.open(target)
    with database.engine.begin() as connection:
        connection.execute(
            text("CREATE TABLE notes (id INTEGER PRIMARY KEY, article INTEGER REFERENCES articles ON DELETE CASCADE)")
        )
        connection.execute(text("INSERT INTO notes VALUES (1, 1), (2, 0), (3, 6)"))
    database.close()
    asked = run("duplicates", target, "articles", "--delete")
    assert "4 rows would be deleted from articles; 2 rows of notes go with them; add --yes" in asked.stderr
    assert len(rows(target)) == 7
    done = run("duplicates", target, "articles", "--delete", "--yes")
    assert "4 rows deleted from articles; 2 rows of notes go with them; next: dbsim sync " in done.stderr
    assert len(rows(target)) == 3


def test_an_exploration_is_not_published(target: str) -> None:
    run("duplicates", target, "articles")
    explored = run("duplicates", target, "articles", "--threshold", "0.95")
    assert "1 groups" not in explored.stderr
    assert "still shows the published ones (tight, 0.55)" in explored.stderr
    assert "2 of near-duplicates" in run("status", target).stdout
    saved = run("duplicates", target, "articles", "--by", "components", "--save", "chains")
    assert "the result 'chains', kept under this name" in saved.stderr
    assert run("duplicates", target, "articles", "--threshold", "0.95", "--publish").stderr == ""


def test_limit(target: str) -> None:
    assert "1 more groups" in run("duplicates", target, "articles", "--limit", "1").stdout


def test_status_shows_groups(target: str) -> None:
    run("duplicates", target, "articles")
    assert "2 of near-duplicates" in run("status", target).stdout


def test_a_report_never_replaces_another_file(target: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious.db"
    precious.write_bytes(b"SQLite format 3\0 and more")
    for option in ("--csv", "--html"):
        result = run("duplicates", target, "articles", option, str(precious))
        assert (result.returncode, "is no report of this kind" in result.stderr) == (2, True)
        report = tmp_path / f"report{option}"
        for _ in range(2):  # a report replaces its predecessor
            assert run("duplicates", target, "articles", option, str(report)).returncode == 0
    assert precious.read_bytes() == b"SQLite format 3\0 and more"
    other = run("duplicates", target, "articles", "--html", str(tmp_path / "report--csv"))
    assert other.returncode == 2  # a table is no page


def test_group_ids_are_strings_in_json(target: str) -> None:
    groups = json.loads(run("duplicates", target, "articles", "--json").stdout)
    assert all(isinstance(group["group"], str) and group["group"].isdigit() for group in groups)

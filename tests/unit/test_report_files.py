"""Reports replace reports and nothing else, whole or not at all; cells that a spreadsheet would calculate are text."""

from __future__ import annotations

import csv
import io
import os
import threading
from pathlib import Path

import pytest

from dbsim.cli.common import exact
from dbsim.errors import InvalidOption
from dbsim.report.files import MARK, ReportFile
from dbsim.report.table import write_rows


def test_a_new_file_is_written_with_the_usual_rights(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        ReportFile(tmp_path / "page.html").write(f"<!-- {MARK} -->")
    finally:
        os.umask(mask)
    assert (tmp_path / "page.html").read_text() == f"<!-- {MARK} -->"
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("content", [b"SQLite format 3\0", b"my notes", b"\xff\xfe\0", b" " * 500 + MARK.encode()])
def test_a_foreign_file_is_never_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "precious"
    path.write_bytes(content)
    with pytest.raises(InvalidOption, match="no report of this kind"):
        ReportFile(path).write("new")
    assert path.read_bytes() == content
    link = tmp_path / "link.html"
    link.symlink_to(path)
    with pytest.raises(InvalidOption, match="no report of this kind"):
        ReportFile(link).write("new")


def test_a_report_is_replaced_and_keeps_its_rights_and_its_link(tmp_path: Path) -> None:
    path, link = tmp_path / "page.html", tmp_path / "latest.html"
    ReportFile(path).write(f"<!-- {MARK} --> old")
    path.chmod(0o604)
    link.symlink_to(path)
    ReportFile(link).write(f"<!-- {MARK} --> new")
    assert path.read_text().endswith("new")
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o604


def test_an_empty_file_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "page.html").touch()
    ReportFile(tmp_path / "page.html").write("new")
    assert (tmp_path / "page.html").read_text() == "new"


def test_a_run_that_fails_leaves_the_former_report(tmp_path: Path) -> None:
    file = ReportFile(tmp_path / "page.html")
    file.write(f"<!-- {MARK} --> old")

    def fail() -> None:
        with file.open() as text:
            text.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert file.path.read_text().endswith("old")
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    file = ReportFile(tmp_path / "page.html")

    def meanwhile() -> None:
        with file.open() as text:
            text.write("mine")
            file.path.write_text("somebody else's")

    with pytest.raises(InvalidOption, match="no report"):
        meanwhile()
    assert file.path.read_text() == "somebody else's"


def test_a_folder_and_a_pipe(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="is a folder"):
        ReportFile(tmp_path).check()
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    ReportFile(pipe).write("through")
    reader.join()
    assert read == ["through"]


def test_formulas_are_text_and_numbers_stay_numbers() -> None:
    file = io.StringIO()
    row = ["=1+1", "+2", "-3", "@SUM(A1)", "\t=4", "\r=5", "＝6", "plain", "a=b", -7, -0.5, None, {"k": "=x"}]
    write_rows(file, ["a"] * len(row), [row])
    _, found = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert found[:9] == ["'=1+1", "'+2", "'-3", "'@SUM(A1)", "'\t=4", "'\r=5", "'＝6", "plain", "a=b"]
    assert found[9:] == ["-7", "-0.5", "", '{"k": "=x"}']


def test_whole_numbers_that_json_readers_round_are_strings() -> None:
    assert exact({"key": 2**53, "other": [2**53 + 1, -(2**60), True, 0.5]}) == {
        "key": 2**53,
        "other": ["9007199254740993", "-1152921504606846976", True, 0.5],
    }

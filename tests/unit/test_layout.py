"""The layout of the code: layers import only downwards, modules and functions stay small."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dbsim import cli

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "dbsim").rglob("*.py"))

FUNCTION_LINES = 60
MODULES_A_FOLDER = 13  # "about 12"


@cache
def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_text("utf-8"))


def short_name(module: Path) -> str:
    return module.relative_to(ROOT / "dbsim").as_posix()


def test_modules_were_found() -> None:
    found = {short_name(module) for module in MODULES}
    assert {
        "index/index.py",
        "text/features.py",
        "hashing/families/minhash.py",
        "engines/postgresql/backend.py",
        "search/searcher.py",
    } <= found


def test_import_contracts() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


def test_contracts_cover_the_pure_core() -> None:
    """text/ and hashing/ import nothing outside the standard library but numpy and one another."""
    allowed = {*sys.stdlib_module_names, "numpy", "scipy"}
    for module in MODULES:
        if short_name(module).startswith(("text/", "hashing/")):
            for name in imported(module):
                assert name.split(".")[0] in allowed or name.startswith(("dbsim.text", "dbsim.hashing")), module


ENGINES = ("engines/", "tables/types.py", "tables/versions/")  # types and the frozen history of the schema


@pytest.mark.parametrize("module", MODULES, ids=short_name)
def test_engines_are_named_in_their_own_rooms_only(module: Path) -> None:
    if short_name(module).startswith(ENGINES):
        return
    pattern = (
        r"""dialect\.name|["']sqlite["']|["']postgres\w*["']|import (sqlite3|psycopg)|engines\.(sqlite|postgresql)"""
    )
    assert re.findall(pattern, module.read_text("utf-8")) == []


@pytest.mark.parametrize("module", MODULES, ids=short_name)
def test_imports_stand_at_the_top(module: Path) -> None:
    """One inside a function hides a cycle."""
    if not re.search(r"^ +from dbsim", module.read_text("utf-8"), re.M):
        return
    inside = [
        node.lineno
        for function in ast.walk(parsed(module))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dbsim")
    ]
    assert inside == []


def test_rooms_are_small() -> None:
    folders = {module.parent for module in MODULES}
    counts = {short_name(folder): len([*folder.glob("*.py")]) - 1 for folder in folders}
    assert {name: count for name, count in counts.items() if count > MODULES_A_FOLDER} == {}


def imported(module: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(f"{'.' * node.level}{node.module}")
    return found


@pytest.mark.parametrize("module", MODULES, ids=short_name)
def test_functions_are_short(module: Path) -> None:
    long = []
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                long.append(f"{node.name}: {lines} lines")
    assert long == []


@pytest.mark.parametrize("module", MODULES, ids=short_name)
def test_modules_say_what_they_are_for(module: Path) -> None:
    """A room in one line, at the top of its __init__."""
    told = ast.get_docstring(parsed(module))
    assert told, "what is it for?"
    assert told.splitlines()[0].endswith((".", "?", ":")), told


def test_statements_are_ascii() -> None:
    """A database of another encoding takes them whatever it can store."""
    found = sorted((ROOT / "sql").rglob("*.sql"))
    assert len(found) > 20
    assert [path.name for path in found if not path.read_text("utf-8").isascii()] == []


def test_every_command_is_listed() -> None:
    """The table of lazily loaded commands names all of them, and no other."""
    folder = ROOT / "dbsim" / "cli"
    names = {path: ".".join(path.relative_to(folder).with_suffix("").parts) for path in folder.rglob("*.py")}
    having = {name for path, name in names.items() if re.search(r"^COMMANDS = \(", path.read_text("utf-8"), re.M)}
    found = {
        command.name: module for module in having for command in importlib.import_module(f"dbsim.cli.{module}").COMMANDS
    }
    assert found == cli.COMMANDS


@pytest.mark.parametrize("statement", ["import dbsim", "import dbsim.cli", "import dbsim; dbsim.open('sqlite://')"])
def test_heavy_libraries_load_when_they_are_needed(statement: str) -> None:
    heavy = ("scipy.sparse", "scipy.integrate", "alembic", "rich.progress", "psycopg", "sqlalchemy.dialects.postgresql")
    heavy += ("sqlalchemy", "numpy") if "open" not in statement else ()
    code = f"{statement}; import sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"

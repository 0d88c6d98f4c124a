"""What the pages say about the tree is true: every path is there, every room is named, a newcomer finds the way."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Table

from dbsim.engines.postgresql.surface.persons import flagged_name
from dbsim.tables.catalogue import GROUP_TABLES
from dbsim.tables.catalogue import tables as catalogue_tables
from dbsim.tables.decision_tables import decisions_name
from dbsim.tables.index_tables import feed_table, memory_name, parts_name, queue_name, signatures_name
from dbsim.tables.slice_tables import SUFFIXES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "internals.md"]
PLACES = ("", "dbsim", "sql", "sql/postgresql")
TRIGGER = re.compile(r"CREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER [{\"]")
PATH = re.compile(r"`((?:[\w@.<>-]+/)+(?:[\w@<>-]+\.\w+)?)`")


def exists(path: str, room: str) -> bool:
    """As it stands, under dbsim/, or in the room that its line begins with; a name in angle brackets is any."""
    pattern = re.sub(r"<[^>]+>", "*", path.rstrip("/"))
    return any(next((ROOT / place).glob(pattern), None) is not None for place in (*PLACES, f"dbsim/{room}"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_in_the_pages_is_there(page: Path) -> None:
    lines = [PATH.findall(line) for line in page.read_text("utf-8").splitlines()]
    named = [(path, found[0]) for found in lines for path in found]
    assert len(named) > 15
    assert [path for path, room in named if not exists(path, room)] == []


def test_every_room_is_in_the_table_of_layers() -> None:
    text = (ROOT / "docs" / "internals.md").read_text("utf-8")
    layers = text[text.index("| layer |") : text.index("A layer imports only")]
    rooms = {path.name for path in (ROOT / "dbsim").iterdir() if (path / "__init__.py").exists()}
    assert {room for room in rooms if f"`{room}/`" not in layers} == set()


def test_every_stored_table_is_told() -> None:
    text = (ROOT / "docs" / "internals.md").read_text("utf-8")
    told = text[text.index("## What is stored") : text.index("Views: ")]
    own = [value.name for value in vars(catalogue_tables).values() if isinstance(value, Table)]
    made = [queue_name, decisions_name, memory_name, flagged_name, partial(signatures_name, generation=1)]
    of_index = [name("<index>") for name in made] + [parts_name("<index>", 1), feed_table("<index>").name]
    assert len(own) > 5
    assert [name for name in (*own, *of_index) if f"`{name.replace('<index>_linked', '<A>_linked')}`" not in told] == []
    suffixes = [*GROUP_TABLES, *SUFFIXES]
    assert [suffix for suffix in suffixes if f"_{suffix}`" not in told] == []


def test_comments_name_works_and_no_documents_that_a_reader_does_not_have() -> None:
    files = [*ROOT.glob("dbsim/**/*.py"), *ROOT.glob("sql/**/*.sql"), *ROOT.glob("migrations/**/*.py")]
    elsewhere = re.compile(r"\bseed \d|\b(?:methods|peers|design|reliability|style)\.md\b")
    assert [path.name for path in files if elsewhere.search(path.read_text("utf-8"))] == []


def test_the_layers_are_told_in_the_order_in_which_they_are_checked() -> None:
    """docs/internals.md against the contract of import-linter."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    checked = [one.removeprefix("dbsim.") for line in layers for one in line.split(" | ")]
    text = (ROOT / "docs" / "internals.md").read_text("utf-8")
    table = text[text.index("| layer |") : text.index("A layer imports only")].splitlines()[2:]
    rows = [line for line in table if line.startswith("|")]
    told = [name for line in rows for name in re.findall(r"`(\w+)(?:/|\.py)`", line.split("|")[1])]
    assert told == checked


def test_where_is_the_trigger() -> None:
    """In files of that name and in no other: the statement, and on PostgreSQL what is made once for each partition."""
    files = [*ROOT.glob("sql/**/*.sql"), *ROOT.glob("dbsim/**/*.py")]
    having = [path for path in files if TRIGGER.search(path.read_text("utf-8"))]
    assert {path.stem for path in having} == {"triggers"}
    assert (ROOT / "sql" / "postgresql" / "triggers.sql").exists()


def test_where_is_the_search_statement() -> None:
    (found,) = (path for path in (ROOT / "dbsim" / "search").rglob("statement.py"))
    assert re.search(r"\bORDER BY|order_by\(", found.read_text("utf-8"))


def test_what_differs_on_sqlite() -> None:
    """A subject has the same name in the interface and in both engines, as far as both do it in their own way."""
    engines = ROOT / "dbsim" / "engines"
    subjects = {path.stem for path in (engines / "backend").glob("*.py")} - {"__init__", "nodes", "surface"}
    for engine in ("sqlite", "postgresql"):
        assert subjects <= {path.stem for path in (engines / engine).glob("*.py")}
        assert (engines / engine / "surface").is_dir()

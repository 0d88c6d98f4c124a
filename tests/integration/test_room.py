"""Pairs and groups, which most B-trees do not get in order, are written with more pages in memory; on SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, event

import dbsim
from dbsim.engines.sqlite.slices import WRITING
from tests.integration.helpers import QUICK, articles, corpus


def rooms(database: dbsim.Database, by: str) -> set[int]:
    """Sizes of the page cache with which pairs and groups are written."""
    seen: set[int] = set()

    def look(connection, cursor, statement, parameters, context, many):  # type: ignore[no-untyped-def]
        if statement.startswith("INSERT") and ("_edges" in statement or "_contents" in statement):
            seen.add(connection.connection.driver_connection.execute("PRAGMA cache_size").fetchone()[0])

    event.listen(database.engine, "before_cursor_execute", look)
    database.index("articles").duplicates(by=by, verify=True, publish=True)
    event.remove(database.engine, "before_cursor_execute", look)
    return seen


@pytest.mark.parametrize("own", [True, False])
def test_pages_have_room_while_they_are_written(tmp_path: Path, own: bool) -> None:
    """An application's own connections stay as it has set them."""
    path = tmp_path / "a.db"
    with dbsim.open(path, create=True) as made:
        made.upgrade()
        articles(made.engine, corpus(4))
        made.create_index("articles", table="articles", columns=["body"], **QUICK)
    with dbsim.open(path) as first:
        first.index("articles").sync()
    for by in ("tight", "complete"):  # pairs and groups, then groups only
        database = dbsim.open(path) if own else dbsim.open(create_engine(f"sqlite:///{path}"))
        assert rooms(database, by) == {-WRITING if own else -2000}
        database.close()
        database.engine.dispose()

"""Datasette finds dbsim's plugin and shows the views."""

from __future__ import annotations

import asyncio
import sqlite3
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import dbsim
from dbsim.engines.sqlite.surface.functions import register
from dbsim.hashing.bloom import cardinality
from tests.integration.sql_helpers import indexed

pytestmark = pytest.mark.long


def test_the_plugin_is_found_by_its_entry_point() -> None:
    (found,) = entry_points(group="datasette", name="dbsim")
    assert found.load().prepare_connection.__name__ == "prepare_connection"


def test_pages_and_functions(tmp_path: Path) -> None:
    from datasette.app import Datasette

    path = tmp_path / "shop.db"
    database = dbsim.open(path, create=True)
    database.upgrade()
    index = indexed(database, 10)
    (hit,) = index.similar(3, verify=False)
    index.duplicates()
    database.close()

    async def ask() -> None:
        datasette = Datasette([str(path)])
        page = await datasette.client.get("/shop/dbsim_articles_pairs?a=3")
        assert page.status_code == 200
        assert "1 row" in page.text
        rows = (await datasette.client.get("/shop/dbsim_articles_pairs.json?a=3&_shape=objects")).json()["rows"]
        assert [(row["b"], row["score"]) for row in rows] == [(hit.key, hit.score)]
        sql = (
            "SELECT dbsim_jaccard(a.body_bits, a.body_count, b.body_bits, b.body_count, "
            f"{index.options.fields[0].bits}) AS score "
            f"FROM dbsim_articles a, dbsim_articles b WHERE a.id = 3 AND b.id = {hit.key}"
        )
        answer = await datasette.client.get("/shop.json", params={"sql": sql, "_shape": "array"})
        assert answer.json() == [{"score": hit.score}]
        views = (await datasette.client.get("/shop.json")).json()["views"]
        named = [view["name"] for view in views]
        assert {"dbsim_status", "dbsim_articles_buckets", "dbsim_articles_pairs", "dbsim_articles_groups"} <= {*named}
        for name in named:
            page = await datasette.client.get(f"/shop/{name}")
            assert page.status_code == 200, name
            assert "interrupted" not in page.text, name

    asyncio.run(ask())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Datasette logs them
@pytest.mark.parametrize(
    "call",
    [
        "dbsim_jaccard(x'ff', 1, x'ff', 1, 20000000)",
        "dbsim_jaccard(zeroblob(2500000), 1, zeroblob(2500000), 1, 20000000)",
        "dbsim_jaccard(zeroblob(200000000), 1, zeroblob(8), 1, 64)",
        "dbsim_jaccard(zeroblob(8), 1, printf('x%.*c', 200000000, '0'), 1, 64)",
        "dbsim_jaccard(zeroblob(8), -1, zeroblob(8), -60, 64)",
        "dbsim_jaccard(zeroblob(8), 65, zeroblob(8), 1, 64)",
        "dbsim_jaccard(zeroblob(8), 64, zeroblob(8), 1, 64)",
        "dbsim_jaccard(zeroblob(8), 1, zeroblob(8), 1, 64.5)",
        "dbsim_jaccard(zeroblob(8), 1, zeroblob(8), 1, 'many')",
        "dbsim_jaccard(zeroblob(8), 1e18, zeroblob(8), 1, 64)",
        "dbsim_level(x'ff', 1, x'ff', 1, 20000000)",
        "dbsim_level(zeroblob(8), NULL, zeroblob(8), 1, 64)",
        "dbsim_hamming(zeroblob(100000000), zeroblob(100000000))",
        "dbsim_hamming(1.5, 2)",
        "dbsim_probability(printf('%.*c', 100000000, '9'))",
        "dbsim_probability(zeroblob(100000000))",
    ],
)
def test_strangers_cannot_make_it_work_or_remember(call: str) -> None:
    """An error at once, whatever the arguments: no table of 20 million logarithms is made or kept."""
    connection = sqlite3.connect(":memory:")
    register(connection)
    cardinality.cache_clear()
    with pytest.raises(sqlite3.OperationalError, match="user-defined function raised exception"):
        connection.execute(f"SELECT {call}")
    assert cardinality.cache_info().currsize == 0
    connection.close()


def test_every_length_that_options_allow_is_scored() -> None:
    connection = sqlite3.connect(":memory:")
    register(connection)
    for power in range(6, 17):
        size = 1 << power
        filter_ = b"\x80" + bytes(size // 8 - 1)
        for other in (filter_, "x" + filter_.hex()):
            row = connection.execute("SELECT dbsim_jaccard(?, 1, ?, 1, ?)", (filter_, other, size)).fetchone()
            assert row == (1.0,)
    with pytest.raises(dbsim.DbsimError, match="64 to 65536"):
        dbsim.Field(columns=("body",), bits=1 << 17)
    connection.close()

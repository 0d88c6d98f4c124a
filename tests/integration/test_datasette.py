"""Datasette finds dbsim's plugin and shows the views."""

from __future__ import annotations

import asyncio
from importlib.metadata import entry_points
from pathlib import Path

import dbsim
from tests.integration.sql_helpers import indexed


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
        for name in ("dbsim_status", "dbsim_articles_buckets"):
            assert (await datasette.client.get(f"/shop/{name}")).status_code == 200

    asyncio.run(ask())

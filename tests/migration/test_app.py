"""The sample application from empty through three releases and back, on both engines."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from sqlalchemy import text

import dbsim
from tests.migration.harness import apply_script, deploy, dump, offline, proposals

TEXTS = {
    1: "The quick brown fox jumps over the lazy dog and then sleeps in the warm afternoon sun until evening",
    2: "The quick brown fox jumps over the lazy dog and then sleeps in the warm afternoon sun until morning",
    3: "A completely different sentence about databases, indexes and the art of finding things that look alike",
}


def insert_articles(database: dbsim.Database) -> None:
    with database.engine.begin() as connection:
        for key, body in TEXTS.items():
            connection.execute(
                text("INSERT INTO articles (id, lang, title, body) VALUES (:id, 'en', 'Fox', :body)"),
                {"id": key, "body": body},
            )


@pytest.fixture
def shop(url: str) -> Iterator[dbsim.Database]:
    database = dbsim.open(url, create=True)
    yield database
    database.close()


def found(database: dbsim.Database) -> tuple[list[int], float]:
    """What a search finds, and from which threshold."""
    index = database.index("articles")
    assert not index.check()
    return [hit.key for hit in index.similar(1)], index.options.threshold


def test_three_releases_and_back(shop: dbsim.Database, url: str) -> None:
    dumps = {}
    for release in ("release_1", "release_2", "release_3"):
        deploy(url, release)
        assert proposals(url) == []
        dumps[release] = dump(url)
        if release == "release_1":
            insert_articles(shop)
        else:
            shop.index("articles").sync()
            assert proposals(url) == []
        if release == "release_2":
            assert found(shop) == ([2], 0.7)
    assert found(shop) == ([2], 0.5)
    for release in ("release_2", "release_1"):
        deploy(url, "-1")
        assert proposals(url) == []
        if release == "release_2":
            assert shop.index("articles").sync().switched
            assert found(shop) == ([2], 0.7)
    assert dump(url) == dumps["release_1"]
    deploy(url)
    shop.index("articles").sync()
    assert found(shop) == ([2], 0.5)
    deploy(url, "base")
    assert not re.search("articles|dbsim", dump(url))


def test_the_first_deploy_of_all_releases_fills_once(shop: dbsim.Database, url: str) -> None:
    deploy(url)
    insert_articles(shop)
    index = shop.index("articles")
    report = index.sync()
    assert (report.filled, report.generation, report.switched) == (3, 2, True)
    assert index.status().kept == ()
    assert found(shop) == ([2], 0.5)


def test_deploys_without_a_worker_in_between(shop: dbsim.Database, url: str) -> None:
    deploy(url, "release_2")
    for _ in range(2):
        deploy(url, "release_3")
        after = dump(url)
        deploy(url, "-1")  # gives up the change that nobody has built
        assert shop.index("articles").status().change is None
    deploy(url, "release_3")
    assert dump(url) == after
    deploy(url, "-1")
    insert_articles(shop)
    assert not shop.index("articles").sync().switched
    assert "dbsim_articles_queue" in dump(url)
    assert "dbsim_articles_g2" not in dump(url)


@pytest.mark.parametrize("release", ["release_1", "release_2", "release_3"])
def test_offline_sql_gives_the_same(url: str, release: str) -> None:
    deploy(url, "base")
    reset(url)
    empty = dump(url)
    deploy(url, release)
    online = dump(url)
    deploy(url, "base")
    reset(url)
    apply_script(url, offline(url, release))
    assert dump(url) == online
    apply_script(url, offline(url, f"{release}:base", down=True))
    reset(url, "dbsim_document")
    assert dump(url) == empty


def reset(url: str, *others: str) -> None:
    """`alembic downgrade base` leaves its own table, empty; a script that starts from nothing creates it.

    A script for SQLite cannot ask whether somebody has imported documents, so it leaves their table too.
    """
    database = dbsim.open(url)
    with database.engine.begin() as connection:
        for table in ("alembic_version", *others):
            connection.execute(text(f"DROP TABLE IF EXISTS {table}"))
    database.close()

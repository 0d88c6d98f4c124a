"""From a table of one's own to its near-duplicates."""

from __future__ import annotations

from sqlalchemy import text

import dbsim
from tests.conftest import SECRET

TEXTS = {
    1: "The quick brown fox jumps over the lazy dog and then sleeps in the warm afternoon sun until evening",
    2: "The quick brown fox jumps over the lazy dog and then sleeps in the warm afternoon sun until morning",
    3: "A completely different sentence about databases, indexes and the art of finding things that look alike",
    4: "",
    5: None,
}


def test_near_duplicates_are_found(database: dbsim.Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
        connection.execute(
            text("INSERT INTO articles VALUES (:id, :body)"), [{"id": k, "body": v} for k, v in TEXTS.items()]
        )
    index = database.create_index("articles", table="articles", columns=["body"], secret=SECRET)
    assert index.sync().filled == 5
    assert [hit.key for hit in index.similar(1)] == [2]
    assert index.search(TEXTS[3] or "")[0] == dbsim.Hit(key=3, score=1.0)
    assert index.similar(4) == []
    assert index.similar(5) == []
    assert index.search("") == []
    assert not index.check()

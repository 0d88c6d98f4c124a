"""The table on which every way past one core must agree: rows with copies and a bucket over the limit, and digests."""

from __future__ import annotations

import random
from typing import Any

import dbsim
from dbsim.dedupe.kernels.buckets import Limits
from tests.articles import generated
from tests.conftest import SECRET

LIMITS = Limits(bucket=60, representatives=8, depth=2)
COMMON = "the terms of this notice apply to each page and each copy of it in whole or in part till they are replaced "
GroupRow = tuple[int, int, float, float]  # key, representative, score, diameter


def rows(count: int = 5000) -> list[tuple[int, str | None]]:
    """(key, text): unrelated texts, copies, edited copies, nothing at all, and a crowd that shares most words."""
    rng = random.Random(14)
    crowd = [COMMON + " ".join(f"w{rng.randrange(40)}" for _ in range(3)) for _ in range(count // 20)]
    texts: list[str | None] = [*generated(count - len(crowd) - 3, seed=14, length=30), *crowd, None, "", " .,"]
    rng.shuffle(texts)
    return [(3 * number + 1, text) for number, text in enumerate(texts)]


def index_on(database: dbsim.Database, found: list[tuple[int, str | None]], **options: Any) -> dbsim.Index:
    """A filled index on a table with these rows; they are written in another order than that of the key."""
    shuffled = list(found)
    random.Random(2).shuffle(shuffled)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
        mark = "?" if connection.dialect.name == "sqlite" else "%s"
        connection.exec_driver_sql(f"INSERT INTO articles VALUES ({mark}, {mark})", shuffled)
    index = database.create_index("articles", table="articles", columns="body", secret=SECRET, **options)
    index.sync()
    return index


def groups_of(index: dbsim.Index, **how: Any) -> list[GroupRow]:
    return sorted(
        (hit.key, group.representative, hit.score, group.diameter)
        for group in index.duplicates(limits=LIMITS, **how)
        for hit in group.members
    )

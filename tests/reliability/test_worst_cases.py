"""Promises 11 and 12: any text is safe, and the worst case costs a bounded amount of work and memory."""

from __future__ import annotations

import random
import resource
import time
import tracemalloc

import dbsim
from dbsim.options import Field
from tests.reliability.harness import Application, sentence, size
from tests.reliability.oracle import assert_converged, assert_equal_to_scratch

COPIES = size(20_000, 1_000_000)
COLLIDING = size(1_000, 10_000)
FIELD = Field(columns=("body",), unit="words", size=1, bits=256, sample=1)


def load(app: Application, rows: list[tuple[int, str]]) -> None:
    app.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
    app.execute("BEGIN")
    for start in range(0, len(rows), 5000):
        some = rows[start : start + 5000]
        places = ", ".join("(?, ?)" for _ in some)
        app.execute(f"INSERT INTO articles VALUES {places}", *(value for row in some for value in row))
    app.execute("COMMIT")


def test_identical_rows(url: str, database: dbsim.Database) -> None:
    """One bucket holds everything: a search ranks max_candidates of it and says that it was cut."""
    text = sentence(1, 40)
    with Application(url) as app:
        load(app, [(number, text) for number in range(COPIES)])
        index = database.create_index("articles", table="articles", columns=["body"])
        index.sync()
        took = []
        for _ in range(20):
            began = time.monotonic()
            found = index.search(text, limit=10)
            took.append(time.monotonic() - began)
            assert (len(found), found.candidates, found.cut) == (10, 1000, True)
            assert {hit.score for hit in found} == {1.0}
        (many,) = index.search_many([text], limit=10)
        assert (len(many), many.candidates, many.cut) == (10, 1000, True)
        assert len(index.similar(7)) == 10
        app.execute("UPDATE articles SET body = 'no longer the same at all' WHERE id = 7")
        app.execute("DELETE FROM articles WHERE id = 8")
        index.sync()
        assert not index.check(sample=200)
        assert index.similar(7) == []
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{COPIES} identical rows: 1000 ranked, slowest search {max(took) * 1000:.1f} ms, process peak {peak:.0f} MB")


def colliding_texts(secret: bytes, count: int) -> list[str]:
    """Texts that share nothing but the words which are smallest in every part under this secret: all keys collide."""
    chance = random.Random(4)
    words = [f"w{number}" for number in range(200_000)]
    signer = dbsim.options.IndexOptions(
        name="x", table="x", fields=(FIELD,), rows=2, keys=8
    ).with_plan().signer(secret)
    features = signer.features(0, words)
    smallest: dict[int, tuple[int, str]] = {}
    for word, value in zip(words, features.hashes.tolist(), strict=True):
        part = (value >> 31) * 16 >> 31
        smallest[part] = min(smallest.get(part, (value, word)), (value, word))
    planted = [word for _, word in smallest.values()]
    return [" ".join(planted + [f"x{chance.randrange(10**9)}" for _ in range(120)]) for _ in range(count)]

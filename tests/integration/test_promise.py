"""The promise, measured: recall and precision at the threshold through every door, on texts made to break it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dbsim
from tests.conftest import SECRET
from tests.integration.helpers import articles
from tests.integration.promise_texts import KINDS, Pairs, exact_pairs
from tests.integration.sql_helpers import plain

RECALL, PRECISION = 0.95, 0.98
ROWS = 700
CASES = [("templated", 0.7, 1), ("templated", 0.5, 2), ("titles", 0.5, 1), ("code", 0.8, 2)]  # kind, threshold, words


def chance(share: float, count: int) -> float:
    """Three standard deviations of a measured share: a sample of the promise, not the promise, may fall short."""
    return 3 * math.sqrt(share * (1 - share) / max(count, 1))


def check(found: Pairs, truth: Pairs, threshold: float, precision: float = PRECISION) -> None:
    wanted = {pair for pair, value in truth.items() if value >= threshold - 1e-12}
    assert len(wanted) > 150
    recall = len(wanted & found.keys()) / len(wanted)
    assert recall >= RECALL - 0.01 - chance(RECALL, len(wanted))
    assert len(wanted & found.keys()) / len(found) >= precision
    at = {pair for pair in wanted if abs(truth[pair] - threshold) < 1e-9}
    if len(at) >= 20:
        assert len(at & found.keys()) / len(at) >= RECALL - 0.02 - chance(RECALL, len(at))


def ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


@pytest.mark.parametrize(("kind", "threshold", "words"), CASES)
def test_the_promise_holds_through_every_door(
    database: dbsim.Database, kind: str, threshold: float, words: int
) -> None:
    random = np.random.default_rng([1, len(kind)])
    texts = KINDS[kind](random, ROWS)
    articles(database.engine, dict(enumerate(texts)))
    index = database.create_index(
        "articles", table="articles", columns="body", threshold=threshold, recall=RECALL, words=words, secret=SECRET
    )
    index.sync()
    truth = exact_pairs(index._search.signer, texts, threshold - 0.2)
    searched = {
        ordered(number, hit.key): hit
        for number, hits in enumerate(index.search_many(texts, limit=200))
        for hit in hits
        if hit.key != number
    }
    check({pair: hit.score for pair, hit in searched.items()}, truth, threshold)
    errors = [hit.score - truth.get(pair, 0.0) for pair, hit in searched.items() if not hit.exact]
    predicted = 0.52 / math.sqrt(index.options.fields[0].bits)  # at a light load, for any similarity
    assert not errors or np.sqrt(np.mean(np.square(errors))) < 1.5 * predicted
    assert all(hit.score == pytest.approx(truth[pair], abs=1e-9) for pair, hit in searched.items() if hit.exact)
    similar = {ordered(key, hit.key): hit.score for key in range(ROWS) for hit in index.similar(key, limit=200)}
    check(similar, truth, threshold)
    view = plain(database, "SELECT a, b, score FROM dbsim_articles_pairs WHERE a < b")
    check({(a, b): score for a, b, score in view}, truth, threshold, precision=0.5)  # it cannot look at texts
    if database.engine.dialect.name == "postgresql":
        asked = "SELECT q.id, s.id, s.score FROM articles q, LATERAL dbsim_articles_search(q.body, hits => 200) s"
        found = plain(database, f"{asked} WHERE q.id <> s.id")
        assert {ordered(a, b) for a, b, _ in found} == set(searched)

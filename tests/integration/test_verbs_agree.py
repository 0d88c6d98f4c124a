"""Whatever is in the table and however it came there, the verbs give what brute force over its texts gives.

The reference knows nothing of dbsim: words are what is left of a text in lower case without punctuation, a shingle is
three of them in a row, and the similarity is the share of common shingles. With 64 keys of one value each no pair that
reaches the threshold is missed, so that the answers are not a matter of chance.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text

import dbsim
from tests.conftest import ALL, SECRET
from tests.integration.helpers import articles, execute

THRESHOLD = 0.5
VOCABULARY = ("amber", "brook", "cedar", "delta", "ember", "fjord", "grove")
BASES = (
    "amber brook cedar delta ember fjord grove amber delta brook",
    "grove fjord ember amber brook brook cedar delta delta ember grove amber",
)
Texts = dict[int, str | None]


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, {1: "constant"})
    field = dbsim.Field(columns=("body",), unit="words", size=3, bits=8192, false_drops=0.3)
    made = database.create_index(
        "articles", table="articles", fields=[field], threshold=THRESHOLD, rows=1, keys=64, secret=SECRET
    )
    made.sync()
    return made


@st.composite
def bodies(draw: st.DrawFn) -> str | None:
    """Copies of two texts with some words changed, so that many are alike; short, empty and missing ones as well."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([None, "", " - ", "amber", "Amber, brook!"]))
    words = draw(st.sampled_from(BASES)).split()
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(words) - 1))
        words[place : place + draw(st.integers(0, 1))] = [draw(st.sampled_from(VOCABULARY))]
    words = words[: draw(st.integers(1, len(words)))] if draw(st.booleans()) else words
    spell = draw(st.sampled_from([str.lower, str.upper, str.title]))
    return spell(draw(st.sampled_from([" ", ", ", " - "])).join(words))


AT_THRESHOLD: Texts = {101: "amber brook cedar", 102: "amber brook cedar delta"}  # one shingle of two in common
ROWS = st.dictionaries(st.integers(1, 40), bodies(), min_size=2, max_size=14)


# ── the reference ──
def words_of(body: str | None) -> list[str]:
    return re.findall(r"[a-z]+", (body or "").lower())


def shingles(body: str | None) -> set[tuple[str, ...]]:
    """A text of fewer than three words is one shingle, which only an equal text has."""
    words = words_of(body)
    if len(words) < 3:
        return {tuple(words)} if words else set()
    return {tuple(words[start : start + 3]) for start in range(len(words) - 2)}


def similarity(one: str | None, two: str | None) -> float:
    a, b = shingles(one), shingles(two)
    return len(a & b) / len(a | b) if a and b else 0.0


def alike(texts: Texts) -> dict[tuple[int, int], float]:
    found = {(a, b): similarity(texts[a], texts[b]) for a, b in combinations(sorted(texts), 2)}
    return {pair: score for pair, score in found.items() if score >= THRESHOLD}


def components(pairs: dict[tuple[int, int], float]) -> set[frozenset[int]]:
    group = {key: {key} for pair in pairs for key in pair}
    for a, b in pairs:
        if group[a] is not group[b]:
            group[a] |= group[b]
            for key in group[b]:
                group[key] = group[a]
    return {frozenset(keys) for keys in group.values()}


# ── the table ──
def write(index: dbsim.Index, before: Texts, after: Texts) -> None:
    """As an application would: only what differs."""
    with index.context.engine.begin() as connection:
        for key in before.keys() - after.keys():
            connection.execute(text("DELETE FROM articles WHERE id = :id"), {"id": key})
        for key, body in after.items():
            if key not in before:
                connection.execute(text("INSERT INTO articles VALUES (:id, :body)"), {"id": key, "body": body})
            elif before[key] != body:
                connection.execute(text("UPDATE articles SET body = :body WHERE id = :id"), {"id": key, "body": body})
    index.sync()


def scores(found: Any) -> dict[int, float]:
    return {hit.key: pytest.approx(hit.score, abs=1e-9) for hit in found}


def grouped(index: dbsim.Index, by: str) -> set[frozenset[int]]:
    return {frozenset(hit.key for hit in group.members) for group in index.duplicates(by=by, verify=True)}


# ── the verbs ──
def check_pairs_and_groups(index: dbsim.Index, texts: Texts) -> None:
    expected = alike(texts)
    pairs = list(index.pairs(verify=True))
    assert {(pair.a, pair.b): pytest.approx(pair.score, abs=1e-9) for pair in pairs} == expected
    assert len(pairs) == len(expected)
    assert grouped(index, "components") == components(expected)
    complete = grouped(index, "complete")
    for group in complete:
        assert len(group) > 1
        assert all(pair in expected for pair in combinations(sorted(group), 2)), group
    assert sum(map(len, complete)) == len(frozenset().union(*complete))
    assert index.delete_duplicates(dry_run=True).removed == sum(len(group) - 1 for group in complete)


def check_questions(index: dbsim.Index, texts: Texts, key: int) -> None:
    body, limit = texts[key], len(texts) + 1
    near = {other: similarity(body, text) for other, text in texts.items() if other != key}
    near = {other: score for other, score in near.items() if score >= THRESHOLD}
    itself = {key: 1.0} if shingles(body) else {}
    assert scores(index.similar(key, limit=limit, verify=True)) == near
    found = index.search(body or "", limit=limit, verify=True)
    assert scores(found) == near | itself
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert scores(index.search(body or "", decided=key, limit=limit, verify=True)) == near
    several = index.search_many([body or "", "nothing like it", body or ""], limit=limit, verify=True)
    assert [scores(one) for one in several] == [near | itself, {}, near | itself]
    with index.context.engine.connect() as connection:
        ranked = index.match(body or "", limit=limit)
        assert {*near, *itself} <= {row.id for row in connection.execute(select(ranked.c.id))}
    for other in near:
        explained = index.explain(key, other)
        assert explained.exact == pytest.approx(near[other], abs=1e-9)


def check_words(index: dbsim.Index, texts: Texts) -> None:
    for word in VOCABULARY[:3]:
        expected = [key for key in sorted(texts) if word in words_of(texts[key])]
        assert sorted(index.contains(word)) == expected
        assert sorted(index.contains(none_of=word)) == sorted(texts.keys() - set(expected))


@settings(
    max_examples=40 if ALL else 6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(first=ROWS, second=ROWS, data=st.data())
def test_every_verb_gives_what_brute_force_gives(
    index: dbsim.Index, first: Texts, second: Texts, data: st.DataObject
) -> None:
    """Twice: after rows came, and after some of them changed and went while pairs and groups were stored."""
    execute(index.context.engine, "DELETE FROM articles")
    texts: Texts = {}
    kept = {key: body for key, body in first.items() if data.draw(st.booleans())}
    for after in (first | AT_THRESHOLD, kept | second | AT_THRESHOLD):
        write(index, texts, after)
        texts = after
        check_pairs_and_groups(index, texts)
        for key in (101, data.draw(st.sampled_from(sorted(texts)))):
            check_questions(index, texts, key)
        check_words(index, texts)
    assert not index.check().keys

"""Adding a hash family, a normaliser or a grouping is one class or function and one line in its registry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import dbsim
from dbsim.dedupe.kernels.grouping import registry as groupings
from dbsim.dedupe.kernels.grouping.graph import Graph, Labels
from dbsim.hashing.documents import Documents
from dbsim.hashing.families import registry as families
from dbsim.hashing.family import Family, Keys, Model
from dbsim.hashing.keys import Plan
from dbsim.hashing.measures import jaccard
from dbsim.options import IndexOptions
from dbsim.text.normalisers import registry as normalisers
from dbsim.text.normalisers.normaliser import Normaliser
from tests.conftest import SECRET
from tests.integration.helpers import articles, near_copy, sentence
from tests.oracle import assert_in_step

ROWS = {1: sentence(1), 2: near_copy(1), 3: sentence(2), 4: sentence(2), 5: ""}


@dataclass(frozen=True)
class Smallest(Family):
    """One key: the smallest feature."""

    measure: ClassVar[str] = "jaccard"

    def collision(self, similarity: float) -> float:
        return similarity

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        features = documents.fields[0].features
        found = np.zeros((len(features), plan.keys), np.int64)
        filled = features.counts > 0
        smallest = np.minimum.reduceat(features.hashes, features.offsets[:-1][filled])
        found[filled] = smallest.astype(np.int64)[:, None]
        return found

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        return jaccard(left, right)


class Consonants(Normaliser):
    def fold(self, text: str) -> bytes:
        return "".join(letter for letter in text.lower() if letter in " bcdfghjklmnpqrstvwxz").encode()


def ends(graph: Graph, threshold: float) -> Labels:
    """A pair a group, as far as nodes are left."""
    labels = np.arange(graph.nodes)
    for a, b in zip(graph.a.tolist(), graph.b.tolist(), strict=True):
        if labels[a] == a and labels[b] == b and a not in labels[labels != np.arange(graph.nodes)]:
            labels[max(a, b)] = min(a, b)
    return labels


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(families.FAMILIES, "smallest@1", Smallest())
    monkeypatch.setitem(normalisers.NORMALISERS, "consonants@1", Consonants())
    monkeypatch.setitem(groupings.METHODS, "ends", ends)
    yield
    families.family_of.cache_clear()
    IndexOptions.from_json.cache_clear()


@pytest.fixture
def database(database: dbsim.Database, registered: None) -> dbsim.Database:
    articles(database.engine, ROWS)
    return database


def test_a_family(database: dbsim.Database) -> None:
    """It is created by name, stored with its version, synced, searched, grouped and checked like any other."""
    index = database.create_index(
        "articles", table="articles", columns="body", family="smallest", rows=1, keys=1, threshold=0.5, secret=SECRET
    )
    index.sync()
    assert index.options.family == "smallest@1"
    assert {hit.key for hit in index.search(sentence(2))} == {3, 4}
    assert {frozenset(hit.key for hit in group.members) for group in index.duplicates()} >= {frozenset({3, 4})}
    assert_in_step(database, "articles")
    with pytest.raises(dbsim.InvalidOption, match=r"'smallset'.*did you mean 'smallest'"):
        database.create_index("other", table="articles", columns="body", family="smallset")


def test_a_family_that_sql_cannot_sign_is_refused_inline(database: dbsim.Database) -> None:
    with pytest.raises(dbsim.InvalidOption):
        database.create_index(
            "articles", table="articles", columns="body", family="smallest", rows=1, keys=1, inline=True
        )


def test_a_normaliser(database: dbsim.Database) -> None:
    index = database.create_index(
        "articles", table="articles", columns="body", normaliser="consonants", threshold=0.9, secret=SECRET
    )
    index.sync()
    without_vowels = "".join(letter for letter in sentence(2) if letter not in "aeiouy")
    assert {hit.key: hit.score for hit in index.search(without_vowels)} == {3: 1.0, 4: 1.0}
    assert_in_step(database, "articles")
    assert database.index("articles").options.fields[0].normaliser == "consonants"


def test_a_grouping(database: dbsim.Database) -> None:
    index = database.create_index("articles", table="articles", columns="body", threshold=0.5, secret=SECRET)
    index.sync()
    found = index.duplicates(by="ends")
    assert {frozenset(hit.key for hit in group.members) for group in found} == {frozenset({1, 2}), frozenset({3, 4})}
    with pytest.raises(dbsim.InvalidOption, match=r"no grouping 'endz'.*did you mean 'ends'"):
        index.duplicates(by="endz")
